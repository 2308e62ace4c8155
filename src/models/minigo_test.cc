// Numbers, names and recipe of MiniGo, from its reference implementation.
#include <gmock/gmock.h>

#include <cmath>

#include "graph/schedule.h"
#include "models/oracle.h"

namespace tbd {
namespace {

using oracle::program;

struct BoardNumbers {
  const char* config;
  size_t tensors, buffer_tensors;
  int64_t parameters, buffers, macs, first_macs, train_flops, layers;
};
// Tensors: 3 of the stem, 6 a block, 3 and 5 of the heads; two buffers a norm: the stem's, two a block, two of the
// heads. The paper's tower of 20 blocks, the stem among them, has 39 layers, its heads 2 and 3.
constexpr BoardNumbers kBoardNumbers[] = {
    {"canonical", 125, 82, 22'827'871, 19'974, 8'105'976'564, 14'139'648, 48'607'580'088, 44},
    {"9", 65, 42, 190'775, 1'222, 13'859'812, 396'576, 82'365'720, 24},
    {"9_mlperf", 65, 42, 694'647, 2'438, 54'574'948, 793'152, 325'863'384, 24},
    {"tiny", 23, 14, 5'391, 86, 90'516, 30'600, 481'896, 10},
};

TEST(MiniGo, HasTheNumbersOfItsReference) {
  for (const BoardNumbers& expected : kBoardNumbers) {
    SCOPED_TRACE(expected.config);
    const Program network = program("minigo", expected.config);
    EXPECT_EQ(network.parameters.size(), expected.tensors);
    EXPECT_EQ(network.buffers.size(), expected.buffer_tensors);
    EXPECT_EQ(oracle::elements(network.parameters), expected.parameters);
    EXPECT_EQ(oracle::elements(network.buffers), expected.buffers);
    const Graph graph = bind(network, network.phases[0], {{"N", 2}});
    const oracle::Work work = oracle::work(graph);
    EXPECT_EQ(work.macs, 2 * expected.macs);
    EXPECT_EQ(work.first, 2 * expected.first_macs);
    EXPECT_EQ(work.train_flops, 2 * expected.train_flops);
    const MemoryPrediction memory = predict_memory(graph, network.phases[0].update);
    EXPECT_EQ(memory.weights, Bytes(4 * (expected.parameters + expected.buffers)));
    EXPECT_EQ(memory.optimizer_state, Bytes(4 * expected.parameters)) << "momentum";
    EXPECT_EQ(find_model("minigo").config(expected.config).layers, expected.layers);
  }
  EXPECT_EQ(4 * oracle::elements(program("minigo", "").parameters), 91'311'484) << "weight bytes";
  EXPECT_EQ(4 * oracle::elements(program("minigo", "9").parameters), 763'100);
}

TEST(MiniGo, HasItsKeysAndNoOthers) {
  std::vector<Parameter> weights, buffers;
  const auto add = [](std::vector<Parameter>& to, std::string name, Shape shape) {
    to.push_back({std::move(name), std::move(shape), DType::f32, {}});
  };
  const auto norm = [&](const std::string& name, int64_t channels, bool affine) {
    for (const char* key : {".weight", ".bias"})
      if (affine) add(weights, name + key, {channels});
    for (const char* key : {".running_mean", ".running_var"}) add(buffers, name + key, {channels});
  };
  add(weights, "stem.conv.weight", {8, 17, 3, 3});
  norm("stem.bn", 8, true);
  for (const std::string block : {"trunk.0.", "trunk.1."})
    for (const std::string i : {"1", "2"}) {
      add(weights, block + "conv" + i + ".weight", {8, 8, 3, 3});
      norm(block + "bn" + i, 8, true);
    }
  add(weights, "policy.conv.weight", {2, 8, 1, 1});
  norm("policy.bn", 2, false);
  add(weights, "policy.fc.weight", {26, 50});
  add(weights, "policy.fc.bias", {26});
  add(weights, "value.conv.weight", {1, 8, 1, 1});
  norm("value.bn", 1, false);
  add(weights, "value.fc1.weight", {16, 25});
  add(weights, "value.fc1.bias", {16});
  add(weights, "value.fc2.weight", {1, 16});
  add(weights, "value.fc2.bias", {1});
  const Program tiny = program("minigo", "tiny");
  EXPECT_EQ(oracle::keys(tiny.parameters), oracle::keys(weights));
  EXPECT_EQ(oracle::keys(tiny.buffers), oracle::keys(buffers));
}

TEST(MiniGo, GivesBothHeadsInOneRowASample) {
  const Program network = program("minigo", "");
  const Graph graph = bind(network, network.phases[0], {{"N", 4}});
  std::map<std::string, Shape> outputs;
  for (const auto& [name, id] : graph.outputs) outputs[name] = graph.value(id).shape;
  EXPECT_EQ(outputs, (std::map<std::string, Shape>{{"policy_logits", {4, 362}}, {"value", {4}}}));
  std::map<std::string, Shape> inputs;
  for (const InputSpec& input : network.phases[0].inputs)
    inputs[input.name] = graph.value(*graph.find(input.name)).shape;
  EXPECT_EQ(inputs, (std::map<std::string, Shape>{{"x", {4, 17, 19, 19}}, {"pi", {4, 362}}, {"z", {4}}}));
  std::map<std::string, double> norms;
  for (const LossTerm& term : network.phases[0].loss) norms[term.name] = term.norm;
  EXPECT_EQ(norms, (std::map<std::string, double>{{"policy", 1}, {"value", 1}}));
  for (const Node& node : network.phases[0].nodes)
    if (const auto* norm = std::get_if<BatchNorm>(&node.op)) {
      EXPECT_EQ(norm->momentum, 0.05) << node.name;
      EXPECT_EQ(norm->eps, 1e-5) << node.name;
    }
}

TEST(MiniGo, DecaysWeightsAndScales) {
  const Program network = program("minigo", "tiny");
  const std::vector<ParameterGroup>& groups = network.phases[0].update.groups;
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].weight_decay, 1e-4);
  EXPECT_EQ(groups[1].weight_decay, 0);
  EXPECT_THAT(groups[1].parameters,
              testing::UnorderedElementsAre("stem.bn.bias", "trunk.0.bn1.bias", "trunk.0.bn2.bias", "trunk.1.bn1.bias",
                                            "trunk.1.bn2.bias", "policy.fc.bias", "value.fc1.bias", "value.fc2.bias"));
  EXPECT_EQ(groups[0].parameters.size() + groups[1].parameters.size(), network.parameters.size());
}

TEST(MiniGo, LearnsByItsRecipe) {
  const Update update = program("minigo", "").phases[0].update;
  EXPECT_EQ(update.optimizer, (Optimizer{.kind = Optimizer::Kind::sgd, .momentum = 0.9}));
  EXPECT_EQ(update.clip_norm, std::nullopt);
  EXPECT_DOUBLE_EQ(learning_rate(update.schedule, 400'000, 64), 0.01);
  EXPECT_DOUBLE_EQ(learning_rate(update.schedule, 400'001, 64), 0.001);
  EXPECT_DOUBLE_EQ(learning_rate(update.schedule, 600'001, 256), 0.0001);
}

TEST(MiniGo, StartsWithGlorotsUniform) {
  const Program network = program("minigo", "");
  oracle::expect_uniform(network, "stem.conv.weight", std::sqrt(6.0 / (9 * (17 + 256))));
  oracle::expect_uniform(network, "trunk.18.conv2.weight", std::sqrt(6.0 / (9 * 512)));
  oracle::expect_uniform(network, "value.conv.weight", std::sqrt(6.0 / 257));
  oracle::expect_uniform(network, "policy.fc.weight", std::sqrt(6.0 / (722 + 362)));
  oracle::expect_uniform(network, "value.fc2.weight", std::sqrt(6.0 / 257));
  for (const char* zero : {"policy.fc.bias", "value.fc1.bias", "stem.bn.bias"})
    EXPECT_EQ(oracle::parameter(network, zero).init, Init{}) << zero;
  EXPECT_EQ(oracle::parameter(network, "trunk.3.bn1.weight").init.kind, Init::Kind::ones);
}

}  // namespace
}  // namespace tbd
