// Numbers, names and recipe of Deep Speech 2, from its paper and reference implementation.
#include "models/deep_speech_2.h"

#include <cmath>

#include "graph/schedule.h"
#include "models/oracle.h"

namespace tbd {
namespace {

using oracle::program;

struct SpeechNumbers {
  const char* config;
  int64_t frames, parameters, buffers, macs, first_macs, train_flops;
};
// One second and ten of the canonical network; of the others one second, by the same formula with three gates for GRU
// and layers twice as wide where directions stand side by side.
constexpr SpeechNumbers kSpeechNumbers[] = {
    {"canonical", 100, 86'618'400, 10'368, 4'857'118'400, 58'449'600, 29'025'811'200},
    {"canonical", 1001, 86'618'400, 10'368, 48'668'326'368, 585'664'992, 290'838'628'224},
    {"gru800", 100, 56'579'168, 16'128, 3'356'564'800, 58'449'600, 20'022'489'600},
    {"gru2560", 100, 217'193'248, 15'488, 11'385'092'800, 58'449'600, 68'193'657'600},
    {"lstm768", 100, 50'870'816, 7'808, 3'070'891'200, 58'449'600, 18'308'448'000},
    {"small", 200, 159'412, 208, 45'020'400, 14'612'400, 240'897'600},
    {"tiny", 64, 52'396, 112, 10'997'376, 4'675'968, 56'632'320},
    {"gru_tiny", 64, 45'124, 208, 10'767'744, 4'675'968, 55'254'528},
};

TEST(DeepSpeech2, HasTheNumbersOfItsReference) {
  for (const SpeechNumbers& expected : kSpeechNumbers) {
    SCOPED_TRACE(cat(expected.config, " ", expected.frames));
    const Program network = deep_speech_2_of(expected.config, expected.frames);
    EXPECT_EQ(oracle::elements(network.parameters), expected.parameters);
    EXPECT_EQ(oracle::elements(network.buffers), expected.buffers);
    const Graph graph = oracle::one(network, "train");
    const oracle::Work work = oracle::work(graph);
    EXPECT_EQ(work.macs, expected.macs);
    EXPECT_EQ(work.first, expected.first_macs);
    EXPECT_EQ(work.train_flops, expected.train_flops);
    const MemoryPrediction memory = predict_memory(graph, network.phases[0].update);
    EXPECT_EQ(memory.weights, Bytes(4 * (expected.parameters + expected.buffers)));
    const bool adamw = network.phases[0].update.optimizer.kind == Optimizer::Kind::adamw;
    EXPECT_EQ(memory.optimizer_state, Bytes((adamw ? 8 : 4) * expected.parameters)) << "momentum, or two moments";
  }
  EXPECT_EQ(4 * oracle::elements(program("deep_speech_2", "").parameters), 346'473'600) << "weight bytes";
  EXPECT_EQ(program("deep_speech_2", "").parameters.size(), 8 + 5 * 8 + 4 * 2 + 3u);
  EXPECT_EQ(find_model("deep_speech_2").config("").layers, 8);
  EXPECT_EQ(find_model("deep_speech_2").config("gru2560").layers, 6);
}

TEST(DeepSpeech2, DefaultLengthGivesTheConfigurationItself) {
  EXPECT_EQ(deep_speech_2_of("canonical", 200), program("deep_speech_2", ""));
  EXPECT_EQ(deep_speech_2_of("gru_tiny", 64), program("deep_speech_2", "gru_tiny"));
  EXPECT_EQ(deep_speech_2_of("canonical", 1600).parameters, program("deep_speech_2", "").parameters);
  EXPECT_THROW(deep_speech_2_of("canonic", 200), Error);
}

TEST(DeepSpeech2, HasItsKeysAndNoOthers) {
  std::vector<Parameter> weights, buffers;
  const auto add = [&](std::string name, Shape shape) {
    weights.push_back({std::move(name), std::move(shape), DType::f32, {}});
  };
  const auto norm = [&](const std::string& name, int64_t channels) {
    for (const char* key : {".weight", ".bias"}) add(name + key, {channels});
    for (const char* key : {".running_mean", ".running_var"})
      buffers.push_back({name + key, {channels}, DType::f32, {}});
  };
  add("conv.seq_module.0.weight", {32, 1, 41, 11});
  add("conv.seq_module.0.bias", {32});
  norm("conv.seq_module.1", 32);
  add("conv.seq_module.3.weight", {32, 32, 21, 11});
  add("conv.seq_module.3.bias", {32});
  norm("conv.seq_module.4", 32);
  for (int64_t i = 0; i < 5; ++i) {
    if (i > 0) norm(cat("rnns.", i, ".batch_norm.module"), 1024);
    for (const char* way : {"_l0", "_l0_reverse"}) {
      const std::string layer = cat("rnns.", i, ".rnn.");
      add(cat(layer, "weight_ih", way), {4096, i > 0 ? 1024 : 1312});
      add(cat(layer, "weight_hh", way), {4096, 1024});
      add(cat(layer, "bias_ih", way), {4096});
      add(cat(layer, "bias_hh", way), {4096});
    }
  }
  norm("fc.0.module.0", 1024);
  add("fc.0.module.1.weight", {29, 1024});
  const Program network = program("deep_speech_2", "");
  EXPECT_EQ(oracle::keys(network.parameters), oracle::keys(weights));
  EXPECT_EQ(oracle::keys(network.buffers), oracle::keys(buffers));
}

TEST(DeepSpeech2, HalvesTheTimeAndMasksSixLayers) {
  const Program network = deep_speech_2_of("canonical", 201);
  const Graph graph = bind(network, network.phases[0], {{"N", 3}});
  EXPECT_EQ(graph.value(graph.outputs[0].second).shape, (Shape{3, 101, 29}));
  EXPECT_EQ(std::ranges::count_if(graph.nodes, [](const BoundNode& n) { return kind(n.op) == "sequence_mask"; }), 6);
  for (const BoundNode& node : graph.nodes) {
    if (const auto* clamp = std::get_if<Clamp>(&node.op)) {
      EXPECT_EQ(*clamp, (Clamp{.low = 0, .high = 20}));
    } else if (kind(node.op) == "conv2d") {
      EXPECT_EQ(graph.value(node.outputs[0]).shape[3], 101) << node.name;
    } else if (std::holds_alternative<Lstm>(node.op)) {
      EXPECT_EQ(graph.value(node.inputs[1]).name, "strided_length");
    }
  }
  const auto range = [&](std::string_view input) { return integer_range(graph, graph.find(input).value()); };
  EXPECT_EQ(range("frames"), (IntegerRange{1, 201}));
  EXPECT_EQ(range("labels"), (IntegerRange{1, 28}));
  EXPECT_EQ(range("label_len"), (IntegerRange{1, 300}));
}

TEST(DeepSpeech2, LearnsByItsRecipe) {
  const Update update = program("deep_speech_2", "").phases[0].update;
  EXPECT_EQ(update.optimizer, (Optimizer{.kind = Optimizer::Kind::sgd, .momentum = 0.9, .nesterov = true}));
  ASSERT_EQ(update.groups.size(), 1u);
  EXPECT_EQ(update.groups[0].weight_decay, 1e-5);
  EXPECT_EQ(update.groups[0].parameters.size(), 59u) << "all of them";
  EXPECT_EQ(update.clip_norm, 400);
  // 281,241 utterances in batches of 32 are 8,789 steps, the last of nine utterances.
  EXPECT_DOUBLE_EQ(learning_rate(update.schedule, 8'789, 32), 3e-4);
  EXPECT_DOUBLE_EQ(learning_rate(update.schedule, 8'790, 32), 3e-4 / 1.1);
  const Update adamw = program("deep_speech_2", "adamw").phases[0].update;
  EXPECT_EQ(adamw.optimizer,
            (Optimizer{.kind = Optimizer::Kind::adamw, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8}));
  EXPECT_EQ(adamw.groups[0].weight_decay, 1e-5);
  EXPECT_EQ(adamw.clip_norm, 400);
  EXPECT_DOUBLE_EQ(learning_rate(adamw.schedule, 1, 32), 1.5e-4);
  EXPECT_DOUBLE_EQ(learning_rate(adamw.schedule, 8'790, 32), 1.5e-4 * 0.99);
}

TEST(DeepSpeech2, StartsAsItsReference) {
  const Program network = program("deep_speech_2", "");
  for (const char* key : {"weight", "bias"}) {
    oracle::expect_uniform(network, cat("conv.seq_module.0.", key), 1 / std::sqrt(41.0 * 11));
    oracle::expect_uniform(network, cat("conv.seq_module.3.", key), 1 / std::sqrt(32.0 * 21 * 11));
  }
  for (const char* key : {"rnn.weight_ih_l0", "rnn.weight_hh_l0_reverse", "rnn.bias_hh_l0"})
    oracle::expect_uniform(network, cat("rnns.2.", key), 1.0 / 32);
  oracle::expect_uniform(network, "fc.0.module.1.weight", 1.0 / 32);
  EXPECT_EQ(oracle::parameter(network, "conv.seq_module.1.weight").init.kind, Init::Kind::ones);
  EXPECT_EQ(oracle::parameter(network, "rnns.1.batch_norm.module.bias").init, Init{});
}

}  // namespace
}  // namespace tbd
