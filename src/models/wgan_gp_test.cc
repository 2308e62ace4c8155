// Numbers, names and recipe of WGAN-GP, from its paper and reference implementation.
#include <gmock/gmock.h>

#include <cmath>
#include <tuple>

#include "graph/expand.h"
#include "graph/schedule.h"
#include "models/oracle.h"

namespace tbd {
namespace {

using oracle::program;
using testing::ElementsAre;

struct CriticNumbers {
  const char* config;
  int64_t critic_steps, generator, critic;    // parameters
  int64_t g, g1, d, d1;                       // forward MACs an image, and those of the first layer
  int64_t tensors_generator, tensors_critic;  // 2 before, 9 a block, 4 and 2 after
  int64_t layers;
};
constexpr CriticNumbers kCriticNumbers[] = {
    {"canonical", 5, 8'540'483, 7'491'841, 1'786'511'360, 1'048'576, 1'697'390'592, 7'077'888, 42, 40, 20},
    {"tiny", 2, 18'411, 10'209, 1'013'760, 8'192, 956'928, 55'296, 24, 22, 12},
};

// Of the named network alone, judged or generated for one sample.
oracle::Work forward_of(const Graph& graph, std::string_view prefix) {
  oracle::Work sum;
  for (const LayerRow& row : layer_table(graph)) {
    if (!row.name.starts_with(prefix)) continue;
    if (sum.macs == 0) sum.first = row.forward_macs;
    sum.macs += row.forward_macs;
  }
  return sum;
}

TEST(WganGp, HasTheNumbersOfItsReference) {
  for (const CriticNumbers& n : kCriticNumbers) {
    SCOPED_TRACE(n.config);
    const Program network = program("wgan_gp", n.config);
    EXPECT_EQ(oracle::elements(network.parameters, "Generator."), n.generator);
    EXPECT_EQ(oracle::elements(network.parameters, "Discriminator."), n.critic);
    EXPECT_EQ(oracle::elements(network.parameters), n.generator + n.critic) << "no third network";
    EXPECT_EQ(network.buffers.size(), 0u) << "batch statistics always";
    const auto of = [](std::string_view prefix) {
      return [prefix](const Parameter& p) { return p.name.starts_with(prefix); };
    };
    EXPECT_EQ(std::ranges::count_if(network.parameters, of("Generator.")), n.tensors_generator);
    EXPECT_EQ(std::ranges::count_if(network.parameters, of("Discriminator.")), n.tensors_critic);
    const Graph graph = oracle::one(network, "generator");
    EXPECT_EQ(forward_of(graph, "Generator.").macs, n.g);
    EXPECT_EQ(forward_of(graph, "Generator.").first, n.g1);
    EXPECT_EQ(forward_of(graph, "Discriminator.").macs, n.d);
    EXPECT_EQ(forward_of(graph, "Discriminator.").first, n.d1);
    EXPECT_EQ(find_model("wgan_gp").config(n.config).layers, n.layers);
  }
  const Program canonical = program("wgan_gp", "");
  EXPECT_EQ(4 * oracle::elements(canonical.parameters, "Generator."), 34'161'932) << "weight bytes";
  EXPECT_EQ(4 * oracle::elements(canonical.parameters, "Discriminator."), 29'967'364);
}

// The critic on real 3 D - D1, on fake 3 D - D1, between them D + D for the gradient + 2 D + 2 D - D1; the generator's
// step 3 G - G1 + 2 D: the critic's weights stay.
TEST(WganGp, CountsItsSecondDerivative) {
  for (const CriticNumbers& n : kCriticNumbers) {
    SCOPED_TRACE(n.config);
    const Program network = program("wgan_gp", n.config);
    for (const Program& form : {network, expanded(network)}) {
      EXPECT_EQ(oracle::work(oracle::one(form, "critic")).train_flops, 2 * (n.g + 12 * n.d - 3 * n.d1));
      EXPECT_EQ(oracle::work(oracle::one(form, "critic")).macs, n.g + 4 * n.d);
      EXPECT_EQ(oracle::work(oracle::one(form, "generator")).train_flops, 2 * (3 * n.g - n.g1 + 2 * n.d));
    }
    const NodeCost step = step_cost(network, {{"N", 1}}), written = step_cost(expanded(network), {{"N", 1}});
    EXPECT_EQ(step.forward.valid, written.forward.valid);
    EXPECT_EQ(step.backward.valid, written.backward.valid);
  }
  const NodeCost step = step_cost(program("wgan_gp", ""), {{"N", 1}});
  EXPECT_EQ(step.forward.model + step.backward.model, 238'846'181'376) << "an iteration";
}

TEST(WganGp, HasItsKeysAndNoOthers) {
  std::vector<Parameter> expected;
  const auto add = [&](const std::string& name, Shape weight, bool bias = true) {
    if (bias) expected.push_back({name + ".bias", {weight[0]}, DType::f32, {}});
    expected.push_back({name + ".weight", std::move(weight), DType::f32, {}});
  };
  const auto block = [&](const std::string& name, int64_t in, int64_t middle, int64_t out) {
    add(name + "BN1", {in});
    add(name + "BN2", {middle});
    add(name + "Conv1", {middle, in, 3, 3}, false);
    add(name + "Conv2", {out, middle, 3, 3});
    add(name + "Shortcut", {out, in, 1, 1});
  };
  const int64_t up[] = {512, 512, 256, 128, 64}, down[] = {64, 128, 256, 512, 512};
  add("Generator.Input", {8192, 128});
  add("Discriminator.Input", {64, 3, 3, 3});
  for (size_t i = 1; i < 5; ++i) {
    block(cat("Generator.Res", i, "."), up[i - 1], up[i], up[i]);
    block(cat("Discriminator.Res", i, "."), down[i - 1], down[i - 1], down[i]);
  }
  add("Generator.OutputN", {64});
  add("Generator.Output", {3, 64, 3, 3});
  add("Discriminator.Output", {1, 8192});
  EXPECT_EQ(oracle::keys(program("wgan_gp", "").parameters), oracle::keys(expected));
}

TEST(WganGp, TakesFiveCriticStepsAndAGeneratorStepFromTheSecondOn) {
  const Program network = program("wgan_gp", ""), tiny = program("wgan_gp", "tiny");
  EXPECT_THAT(network.step,
              ElementsAre(StepEntry{.phase = "generator", .from_step = 2}, StepEntry{.phase = "critic", .repeat = 5}));
  EXPECT_EQ(tiny.step[1].repeat, 2);
  std::vector<std::string> names;
  for (const StepInput& input : step_inputs(tiny)) names.push_back(input.name);
  EXPECT_THAT(names, testing::UnorderedElementsAre("z", "critic.0/real", "critic.0/z", "critic.0/alpha",
                                                   "critic.1/real", "critic.1/z", "critic.1/alpha"));
}

TEST(WganGp, EachPhaseTrainsOneNetwork) {
  const Program network = program("wgan_gp", "");
  for (const auto& [phase, prefix, tensors] :
       {std::tuple{"generator", "Generator.", 42u}, std::tuple{"critic", "Discriminator.", 40u}}) {
    const Update& update = network.phase(phase).update;
    ASSERT_EQ(update.groups.size(), 1u);
    EXPECT_EQ(update.groups[0].parameters.size(), tensors);
    for (const std::string& name : update.groups[0].parameters) EXPECT_TRUE(name.starts_with(prefix)) << name;
    EXPECT_EQ(update.groups[0].weight_decay, 0);
    EXPECT_EQ(update.optimizer, (Optimizer{.kind = Optimizer::Kind::adam, .beta1 = 0, .beta2 = 0.9, .epsilon = 1e-8}));
    for (const int64_t step : {1, 200'000}) EXPECT_EQ(learning_rate(update.schedule, step, 64), 1e-4);
  }
  EXPECT_EQ(predict_memory(network, {{"N", 2}}).optimizer_state, Bytes(2 * (34'161'932 + 29'967'364)));
}

// Peaks that PyTorch 2.15's allocator reached (docs/performance.md): two derivatives keep what they keep.
TEST(WganGp, PredictsTheMemoryThatWasMeasured) {
  for (const auto& [batch, measured] : {std::pair{2, 338'462'416.0}, std::pair{8, 647'973'576.0}}) {
    const Bytes peak = predict_memory(program("wgan_gp", ""), {{"N", batch}}).peak();
    EXPECT_NEAR(static_cast<double>(peak.value) / measured, 1, 0.1) << batch;
  }
}

TEST(WganGp, HasTheExpectedLossTermsAndOutputs) {
  const Program network = program("wgan_gp", "");
  std::map<std::string, double> norms;
  for (const Phase& phase : network.phases)
    for (const LossTerm& term : phase.loss) norms[cat(phase.name, "/", term.name)] = term.norm;
  EXPECT_EQ(norms, (std::map<std::string, double>{
                       {"generator/generator", 1}, {"critic/wasserstein", 1}, {"critic/penalty", 10}}));
  std::map<std::string, Shape> outputs;
  for (const Phase& phase : network.phases) {
    const Graph graph = bind(network, phase, {{"N", 4}});
    for (const auto& [name, id] : graph.outputs) outputs[name] = graph.value(id).shape;
  }
  EXPECT_EQ(outputs, (std::map<std::string, Shape>{
                         {"fake", {4, 3, 64, 64}}, {"d_real", {4, 1}}, {"d_fake", {4, 1}}, {"gradient_norm", {4}}}));
}

// No gradient of the critic's loss reaches the generator.
TEST(WganGp, CriticPhaseDetachesGeneratedImages) {
  const Program network = program("wgan_gp", "tiny");
  const Graph graph = bind(network, network.phase("critic"), {{"N", 2}});
  const std::vector<bool> needs = gradient_needs(graph);
  for (size_t id = 0; id < graph.values.size(); ++id)
    if (graph.values[id].name.starts_with("Generator.")) {
      EXPECT_FALSE(needs[id]) << graph.values[id].name;
    }
}

// U(+-sqrt(3) sigma): sigma^2 = 4 / (fans) of 3 x 3 convolutions in blocks and the last, 2 / (fans) elsewhere.
TEST(WganGp, StartsAsItsReference) {
  const Program network = program("wgan_gp", "");
  oracle::expect_uniform(network, "Generator.Input.weight", std::sqrt(3 * 2.0 / (128 + 8192)));
  oracle::expect_uniform(network, "Generator.Res2.Conv1.weight", std::sqrt(3 * 4.0 / (9 * (512 + 256))));
  oracle::expect_uniform(network, "Generator.Res2.Shortcut.weight", std::sqrt(3 * 2.0 / (512 + 256)));
  oracle::expect_uniform(network, "Generator.Output.weight", std::sqrt(3 * 4.0 / (9 * (64 + 3))));
  oracle::expect_uniform(network, "Discriminator.Input.weight", std::sqrt(3 * 2.0 / (9 * (3 + 64))));
  oracle::expect_uniform(network, "Discriminator.Res1.Conv2.weight", std::sqrt(3 * 4.0 / (9 * (64 + 128))));
  oracle::expect_uniform(network, "Discriminator.Output.weight", std::sqrt(3 * 2.0 / 8193));
  for (const Parameter& each : network.parameters) {
    if (each.shape.rank() > 1) continue;
    const bool scale = each.name.ends_with(".weight");
    EXPECT_EQ(each.init.kind, scale ? Init::Kind::ones : Init::Kind::zeros) << each.name;
  }
}

}  // namespace
}  // namespace tbd
