#include "graph/graph.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "graph/builder.h"
#include "graph/expand.h"
#include "graph/memory.h"
#include "graph/sequence_programs.h"
#include "toy_programs.h"

namespace tbd {
namespace {

Graph bound_last_phase(const Program& program, int64_t batch = 4) {
  return bind(program, program.phases.back(), {{"N", batch}});
}
Graph toy(std::string_view name, size_t phase = 0) {
  const NamedPrograms all = with_sequences(toy_programs());
  const auto found = std::ranges::find(all, name, &NamedPrograms::value_type::first);
  require(found != all.end(), "no program '", name, "'");
  return bind(found->second, found->second.phases.at(phase), {{"N", 4}});
}

TEST(Bind, OrdersValuesByKind) {
  const Graph graph = toy("tied");
  std::vector<Value::Kind> kinds;
  for (const Value& value : graph.values) kinds.push_back(value.kind);
  EXPECT_TRUE(std::ranges::is_sorted(kinds));
  EXPECT_EQ(graph.values[0].name, "x");
  EXPECT_EQ(graph.values[2].name, "norm/error");
  EXPECT_EQ(graph.values[2].shape, Shape{});
}

TEST(Bind, GivesResultsTheirProducer) {
  const Graph graph = toy("mlp20");
  for (size_t n = 0; n < graph.nodes.size(); ++n)
    for (const ValueId id : graph.nodes[n].outputs) EXPECT_EQ(graph.value(id).producer, static_cast<int32_t>(n));
}

TEST(Bind, FollowsTheBatch) {
  const Program program = toy_program("conv_forms");
  for (const int64_t batch : {1, 3}) {
    const Graph graph = bound_last_phase(program, batch);
    EXPECT_EQ(graph.value(*graph.find("grouped")).shape, (Shape{batch, 8, 9, 10}));
    EXPECT_EQ(graph.value(*graph.find("same")).shape, (Shape{batch, 8, 4, 5}));
    EXPECT_EQ(graph.value(*graph.find("depthwise")).shape, (Shape{batch, 8, 4, 5}));
    EXPECT_EQ(graph.value(*graph.find("wide")).shape, (Shape{batch, 6, 4, 3}));
  }
}

TEST(Infer, ComputesConvShapesAndNamesTheBadNode) {
  const Shape in[] = {{8, 3, 224, 224}};
  const Node conv{"conv1", Conv2d{.out = 64, .kernel = 7, .stride = 2, .pads = {3, 3, 3, 3}}, {}};
  EXPECT_EQ(infer(conv, in), (Shape{8, 64, 112, 112}));
  const Shape wrong[] = {{8, 64, 56, 56}};
  try {
    infer({"layer3.0.conv2", Conv2d{.out = 3, .groups = 3}, {}}, wrong);
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "conv2d 'layer3.0.conv2': groups=3 does not divide C=64 of (8, 64, 56, 56)");
  }
}

bool needs(const Graph& graph, std::string_view name) {
  return gradient_needs(graph)[static_cast<size_t>(*graph.find(name))];
}

TEST(GradientNeeds, StopAtStopGradientAndUntrainedParameters) {
  const Graph graph = toy("frozen");
  EXPECT_FALSE(needs(graph, "x"));
  EXPECT_FALSE(needs(graph, "trunk.weight"));
  EXPECT_FALSE(needs(graph, "trunk"));
  EXPECT_FALSE(needs(graph, "stop_gradient"));
  EXPECT_TRUE(needs(graph, "adapter.weight"));
  EXPECT_TRUE(needs(graph, "adapter"));
  EXPECT_FALSE(needs(graph, "fixed.weight"));  // left out of the groups, but gradients pass through
  EXPECT_TRUE(needs(graph, "fixed"));
  EXPECT_FALSE(needs(graph, "label"));
}

TEST(GradientNeeds, StopAtHostCalls) {
  const Graph graph = toy("host_labels");
  EXPECT_FALSE(needs(graph, "teacher"));
  EXPECT_FALSE(needs(graph, "top"));
  EXPECT_TRUE(needs(graph, "hidden.weight"));
}

TEST(GradientNeeds, LeaveOutWhatNoLossReads) {
  Program program;
  Builder g(program, "train");
  const Tensor x = g.input("x", {Builder::batch(), 3});
  const Tensor y = g.linear("used", x, {.out = 2});
  g.output("other", g.relu(y));
  g.loss("sum", g.sum(y));
  g.update({});
  const Graph graph = bound_last_phase(program);
  EXPECT_TRUE(needs(graph, "used"));
  EXPECT_FALSE(needs(graph, "relu"));
}

int64_t model_flops(const std::vector<NodeCost>& costs) {
  int64_t sum = 0;
  for (const NodeCost& cost : costs) sum += cost.forward.model + cost.backward.model;
  return sum;
}

TEST(NodeCosts, FrozenLayersCountForwardOnly) {
  const Graph graph = toy("frozen");
  // Batch 4, MACs: trunk, adapter, fixed 4*8*8, head 4*8*3. Backward: adapter's weight, fixed's data, head's both.
  EXPECT_EQ(model_flops(node_costs(graph)), 2 * (3 * 256 + 96 + 256 + 256 + 2 * 96));
}

TEST(NodeCosts, CountGradientSumsOfValuesUsedSeveralTimes) {
  Program program;
  Builder g(program, "train");
  const Tensor y = g.linear("fc", g.input("x", {Builder::batch(), 3}), {.out = 5});
  const Tensor twice = g.add(y, y);
  g.loss("sum", g.sum(g.add(twice, g.relu(y))));
  g.update({});
  const Graph graph = bound_last_phase(program, 2);
  const std::vector<NodeCost> costs = node_costs(graph);
  // y has three uses: two sums of 10 elements, both at the first add.
  const auto index = [&](std::string_view name) {
    return static_cast<size_t>(graph.value(*graph.find(name)).producer);
  };
  EXPECT_EQ(costs[index("add")].backward.simd, 20);
  EXPECT_EQ(costs[index("add")].backward.bytes, 2 * 3 * 40);
  EXPECT_EQ(costs[index("add_2")].backward.simd, 0);
}

// docs/conventions.md: an iteration of the critic takes 12 D - 3 D1 beside the generator's forward pass; a generator
// step 3 G - G1 + 2 D. Group norms and pools hold no matrix-like work.
TEST(NodeCosts, CountTheGradientPenaltyAsItsExpandedForm) {
  constexpr int64_t n = 4, positions = 64;
  constexpr int64_t g1 = n * 4 * 64, g = g1 + n * positions * 3 * 4 * 9;
  constexpr int64_t d1 = n * positions * 4 * 3 * 9, d = d1 + n * positions * 4 * 4 * 9 + n * 64;
  EXPECT_EQ(model_flops(node_costs(toy("penalty", 0))), 2 * (3 * g - g1 + 2 * d));
  EXPECT_EQ(model_flops(node_costs(toy("penalty", 1))), 2 * (g + 12 * d - 3 * d1));
  const NodeCost step = step_cost(toy_program("penalty"), {{"N", n}});
  EXPECT_EQ(step.forward.model + step.backward.model, 2 * (3 * g - g1 + 2 * d) + 3 * 2 * (g + 12 * d - 3 * d1));
}

class EveryToyPhase : public testing::TestWithParam<std::pair<std::string, size_t>> {
 protected:
  EveryToyPhase() : graph_(toy(GetParam().first, GetParam().second)), lives_(liveness(graph_)) {}
  Graph graph_;
  Liveness lives_;
};
std::vector<std::pair<std::string, size_t>> toy_phases() {
  std::vector<std::pair<std::string, size_t>> out;
  for (const auto& [name, program] : with_sequences(toy_programs()))
    for (size_t phase = 0; phase < program.phases.size(); ++phase) out.emplace_back(name, phase);
  return out;
}
INSTANTIATE_TEST_SUITE_P(Toys, EveryToyPhase, testing::ValuesIn(toy_phases()),
                         [](const auto& info) { return info.param.first + "_" + std::to_string(info.param.second); });

TEST_P(EveryToyPhase, ReleasesEachResultOnceAfterItsLastUse) {
  std::vector<int> released(graph_.values.size(), -1);
  for (size_t n = 0; n < graph_.nodes.size(); ++n)
    for (const ValueId id : lives_.release_after[n]) {
      EXPECT_EQ(released[static_cast<size_t>(id)], -1);
      EXPECT_EQ(graph_.value(id).kind, Value::Kind::result);
      released[static_cast<size_t>(id)] = static_cast<int>(n);
    }
  std::vector<bool> kept(graph_.values.size());
  for (const auto& [name, id] : graph_.outputs) kept[static_cast<size_t>(id)] = true;
  for (const BoundTerm& term : graph_.loss) kept[static_cast<size_t>(term.value)] = true;
  for (size_t n = 0; n < graph_.nodes.size(); ++n)
    for (const ValueId id : graph_.nodes[n].inputs) {
      const int at = released[static_cast<size_t>(id)];
      EXPECT_TRUE(at == -1 || at >= static_cast<int>(n)) << graph_.value(id).name;
    }
  for (size_t id = 0; id < graph_.values.size(); ++id)
    EXPECT_EQ(released[id] == -1, kept[id] || graph_.values[id].kind != Value::Kind::result) << graph_.values[id].name;
}

// Runs the nodes on storages that remember their last writer, and checks that each read, now and by backward later,
// finds what was written for it.
TEST_P(EveryToyPhase, OverwritesNothingThatIsReadAgain) {
  std::vector<ValueId> storage(graph_.values.size()), holds(graph_.values.size());
  for (size_t id = 0; id < storage.size(); ++id) storage[id] = holds[id] = static_cast<ValueId>(id);
  // Views hold what their operand holds: they are read as the operand.
  std::vector<ValueId> content(storage);
  std::vector<std::pair<size_t, ValueId>> backward;
  const auto read = [&](ValueId id) {
    const auto i = static_cast<size_t>(id);
    EXPECT_EQ(holds[static_cast<size_t>(storage[i])], content[i]) << graph_.value(id).name << " is gone";
  };
  for (size_t n = 0; n < graph_.nodes.size(); ++n) {
    const BoundNode& node = graph_.nodes[n];
    const Traits rules = traits(node.op);
    for (const ValueId id : node.inputs) read(id);
    for (const size_t operand : saved_inputs(node.op, node.inputs.size()))
      backward.emplace_back(n, node.inputs[operand]);
    for (const ValueId id : node.outputs) {
      const auto i = static_cast<size_t>(id);
      if (rules.saves_output) backward.emplace_back(n, id);
      if (rules.aliases_input) {
        const auto operand = static_cast<size_t>(node.inputs[0]);
        storage[i] = storage[operand];
        content[i] = content[operand];
        continue;
      }
      if (lives_.overwrite[n])
        storage[i] = storage[static_cast<size_t>(node.inputs[static_cast<size_t>(*lives_.overwrite[n])])];
      holds[static_cast<size_t>(storage[i])] = id;
    }
  }
  for (const auto& [node, id] : backward) read(id);
  for (const auto& [name, id] : graph_.outputs) read(id);
  for (const BoundTerm& term : graph_.loss) read(term.value);
  for (const Value& value : graph_.values)
    if (value.kind != Value::Kind::result) read(*graph_.find(value.name));
}

std::optional<int> overwrite_of(const Graph& graph, std::string_view name) {
  return liveness(graph).overwrite[static_cast<size_t>(graph.value(*graph.find(name)).producer)];
}

// image -> conv -> what `body` makes of it -> loss
template <class Body>
Graph with_body(Body body) {
  Program program;
  Builder g(program, "train");
  const Tensor x = g.conv2d("conv", g.input("image", {Builder::batch(), 2, 4, 4}), {.out = 2});
  g.loss("sum", g.sum(body(g, x)));
  g.update({});
  return bound_last_phase(program);
}

TEST(Liveness, ReluOverwritesAnOperandReadByNothingElse) {
  EXPECT_EQ(overwrite_of(with_body([](Builder& g, const Tensor& x) { return g.relu(x); }), "relu"), 0);
}
TEST(Liveness, NoOpOverwritesAnInput) {
  Program program;
  Builder g(program, "train");
  g.loss("sum", g.sum(g.relu(g.input("x", {Builder::batch()}))));
  EXPECT_EQ(overwrite_of(bound_last_phase(program), "relu"), std::nullopt);
}
TEST(Liveness, NoOpOverwritesAnOutput) {
  EXPECT_EQ(overwrite_of(with_body([](Builder& g, const Tensor& x) {
                           g.output("y", x);
                           return g.relu(x);
                         }),
                         "relu"),
            std::nullopt);
}
TEST(Liveness, NoOpOverwritesAValueReadLater) {
  EXPECT_EQ(overwrite_of(with_body([](Builder& g, const Tensor& x) { return g.add(g.relu(x), x); }), "relu"),
            std::nullopt);
}
TEST(Liveness, NoOpOverwritesAValueReadByBackward) {
  // sigmoid reads its own result, square its operand.
  EXPECT_EQ(overwrite_of(with_body([](Builder& g, const Tensor& x) { return g.relu(g.sigmoid(x)); }), "relu"),
            std::nullopt);
  EXPECT_EQ(overwrite_of(with_body([](Builder& g, const Tensor& x) {
                           const Tensor y = g.square(x);
                           return g.add(g.relu(x), y);
                         }),
                         "relu"),
            std::nullopt);
}
TEST(Liveness, NoOpOverwritesAView) {
  EXPECT_EQ(overwrite_of(with_body([](Builder& g, const Tensor& x) { return g.relu(g.flatten(x)); }), "relu"),
            std::nullopt);
  EXPECT_EQ(overwrite_of(with_body([](Builder& g, const Tensor& x) {
                           const Tensor flat = g.flatten(x);
                           return g.add(g.flatten(g.relu(x)), flat);
                         }),
                         "relu"),
            std::nullopt);
}
TEST(Liveness, AddOverwritesTheOperandThatIsNoLongerNeeded) {
  const auto body = [](Builder& g, const Tensor& x) {
    const Tensor kept = g.tanh(x);
    return g.add(kept, g.conv2d("other", kept, {.out = 2}));
  };
  EXPECT_EQ(overwrite_of(with_body(body), "add"), 1);
}
TEST(Liveness, AddDoesNotOverwriteABroadcastOrRepeatedOperand) {
  EXPECT_EQ(overwrite_of(with_body([](Builder& g, const Tensor& x) { return g.add(g.mean(x, {0}, true), g.tanh(x)); }),
                         "add"),
            std::nullopt);
  EXPECT_EQ(overwrite_of(with_body([](Builder& g, const Tensor& x) { return g.add(x, x); }), "add"), std::nullopt);
}

TEST(Memory, PredictsATwoLayerNetwork) {
  Program program;
  Builder g(program, "train");
  const Tensor x = g.input("x", {Builder::batch(), 10});
  const Tensor h = g.relu(g.linear("fc1", x, {.out = 20}));
  g.output("y", g.linear("fc2", h, {.out = 5}));
  g.loss("ce",
         g.softmax_cross_entropy(g.linear("fc3", h, {.out = 5}), g.input("label", {Builder::batch()}, DType::i32)));
  g.update({.optimizer = {.kind = Optimizer::Kind::adam}, .ema = 0.9});
  const Graph graph = bound_last_phase(program, 4);
  const MemoryPrediction memory = predict_memory(graph, program.phases[0].update);
  const int64_t parameters = 10 * 20 + 20 + 2 * (20 * 5 + 5);
  EXPECT_EQ(memory.weights, Bytes(4 * parameters));
  EXPECT_EQ(memory.gradients, Bytes(4 * parameters));
  EXPECT_EQ(memory.optimizer_state, Bytes(3 * 4 * parameters));
  EXPECT_EQ(memory.inputs, Bytes(4 * (40 + 4 + 1)));          // x, label, norm/ce
  EXPECT_EQ(memory.feature_maps, Bytes(4 * (80 + 20 + 20)));  // relu in fc1's storage, the output, the logits
  // While fc1's backward runs: the gradients of its result and of the parameters, but fc2's, which no loss reads,
  // without relu's result and the log-probabilities.
  const int64_t begun = parameters - (20 * 5 + 5), fc1 = 10 * 20 + 20;
  EXPECT_EQ(memory.backward, Bytes(4 * (80 + begun - 80 - 20)));
  EXPECT_EQ(memory.peak(), Bytes(4 * (4 * parameters + 45 + 120 + begun - 20)));
  EXPECT_EQ(predict_memory(graph, program.phases[0].update, 2).backward, Bytes(4 * (80 + parameters + fc1 - 80 - 20)))
      << "beside all gradients of the micro-batch before";
}

// Feature maps behind a convolution's result (4, 3, 4, 4), 768 B, which a square reads at the end.
int64_t kept_by(Keeper keeper, const std::function<Tensor(Builder&, const Tensor&)>& rest) {
  Program program;
  Builder g(program, "train");
  const Tensor x = g.conv2d("first", g.input("x", {Builder::batch(), 2, 4, 4}), {.out = 3, .kernel = 1});
  g.loss("sum", g.sum(g.square(rest(g, x))));
  g.update({});
  return predict_memory(bound_last_phase(program, 4), program.phases[0].update, 1, keeper).feature_maps.value;
}

// Of the back-end's ops; what PyTorch keeps comes first.
TEST(Memory, CountsWhatTensorFlowKeepsInPlaceOfWhatPyTorchKeeps) {
  constexpr int64_t map = 768, padded = map / 16 * 25;
  const auto expect = [](auto rest, int64_t pytorch, int64_t tensorflow) {
    EXPECT_EQ(kept_by(Keeper::pytorch, rest), pytorch);
    EXPECT_EQ(kept_by(Keeper::tensorflow, rest), tensorflow);
  };
  expect([](Builder& g, const Tensor& x) { return g.relu(x); }, map, 2 * map);
  expect([](Builder& g, const Tensor& x) { return g.silu(x); }, 2 * map, 3 * map);
  expect([](Builder& g, const Tensor& x) { return g.gelu(x); }, 2 * map, 4 * map);
  expect([](Builder& g, const Tensor& x) { return g.dropout(x, .5); }, 2 * map, map + map / 4);
  expect([](Builder& g, const Tensor& x) { return g.layer_norm("ln", x); }, 2 * map, 3 * map);
  expect([](Builder& g, const Tensor& x) { return g.group_norm("gn", x, {.groups = 3}); }, 2 * map, 3 * map);
  expect([](Builder& g, const Tensor& x) { return g.rms_norm("rms", x); }, 2 * map, 3 * map);
  expect([](Builder& g, const Tensor& x) { return g.batch_norm("bn", x, {.stats = BatchNorm::Stats::frozen}); }, map,
         2 * map);
  expect(
      [](Builder& g, const Tensor& x) {
        return g.max_pool(x, {.kernel = 2, .stride = 2, .pads = {0, 1, 0, 1}});
      },
      map + map / 4, padded + map / 4);
  const auto conv = [](Pads pads, int64_t stride) {
    return [=](Builder& g, const Tensor& x) {
      return g.conv2d("second", x, {.out = 3, .kernel = 2, .stride = stride, .pads = pads});
    };
  };
  expect(conv({0, 1, 0, 1}, 1), 2 * map, 2 * map);  // SAME
  expect(conv({1, 0, 1, 0}, 1), 2 * map, padded + map);
}

// Copies by head and the probabilities, perhaps their mask and what it leaves of them, beside what the square reads.
TEST(Memory, CountsWhatTensorFlowKeepsOfAnAttention) {
  constexpr int64_t map = 4 * 6 * 8 * 4, scores = 4 * 6 * 6;
  const auto kept = [](Attention attention) {
    Program program;
    Builder g(program, "train");
    const Tensor x = g.input("x", {Builder::batch(), 6, 8});
    const auto projected = [&](const char* name) { return g.linear(name, x, {.out = 8}); };
    const Tensor y = g.attention(projected("q"), projected("k"), projected("v"), attention);
    g.loss("sum", g.sum(g.square(y)));
    g.update({});
    return predict_memory(bound_last_phase(program, 4), program.phases[0].update, 1, Keeper::tensorflow)
        .feature_maps.value;
  };
  EXPECT_EQ(kept({.heads = 2}), 4 * map + 2 * scores * 4);
  EXPECT_EQ(kept({.heads = 2, .dropout = .5}), 4 * map + 2 * scores * (4 + 4 + 1));
  EXPECT_EQ(kept({.heads = 1}), 4 * map + scores * 4);
}

// Two towers of one map, which a square reads; the losses come at the end.
TEST(Memory, TensorFlowLetsGoOfALossBeforeTheNext) {
  constexpr int64_t map = 4 * 100 * 4;
  const auto kept = [](Keeper keeper) {
    Program program;
    Builder g(program, "train");
    const Tensor x = g.input("x", {Builder::batch(), 100});
    const Tensor a = g.square(g.linear("a", x, {.out = 100})), b = g.square(g.linear("b", x, {.out = 100}));
    g.loss("first", g.sum(a));
    g.loss("second", g.sum(b));
    g.update({});
    return predict_memory(bound_last_phase(program, 4), program.phases[0].update, 1, keeper).feature_maps.value;
  };
  EXPECT_EQ(kept(Keeper::pytorch), 2 * map);
  EXPECT_EQ(kept(Keeper::tensorflow), map);
}

// A gradient lasts for as long as a norm over all of them needs it, or until the update has it.
TEST(Memory, CountsGradientsThatTensorFlowUsesAtOnceOnce) {
  const auto backward = [](std::optional<double> clip) {
    Program program;
    Builder g(program, "train");
    Tensor x = g.input("x", {Builder::batch(), 100});
    for (const char* name : {"fc1", "fc2", "fc3"}) x = g.linear(name, x, {.out = 100, .bias = false});
    g.loss("sum", g.sum(x));
    g.update({.clip_norm = clip});
    return predict_memory(bound_last_phase(program, 1), program.phases[0].update, 1, Keeper::tensorflow).backward;
  };
  EXPECT_NEAR(static_cast<double>(backward(1.0).value), 3 * 40'000, 1'000);
  EXPECT_NEAR(static_cast<double>(backward({}).value), 40'000, 1'000);
}

// Where the classes outweigh all else, their gradient comes on top of scores and log-probabilities; TensorFlow makes it
// in their place, and no output that is not asked for.
TEST(Memory, SoftmaxCrossEntropyKeepsLogitsProbabilitiesAndGradient) {
  Program program;
  Builder g(program, "train");
  const Tensor logits = g.linear("fc", g.input("x", {Builder::batch(), 2}), {.out = 1000});
  g.output("logits", logits);
  g.loss("ce", g.softmax_cross_entropy(logits, g.input("label", {Builder::batch()}, DType::i32)));
  g.update({});
  const MemoryPrediction memory = predict_memory(bound_last_phase(program, 4), program.phases[0].update);
  EXPECT_EQ(memory.feature_maps, Bytes(2 * 16000));
  EXPECT_EQ(memory.backward, Bytes(16000));
  const MemoryPrediction in_place =
      predict_memory(bound_last_phase(program, 4), program.phases[0].update, 1, Keeper::tensorflow);
  EXPECT_EQ(in_place.feature_maps, Bytes(16000));
  EXPECT_LT(in_place.backward, Bytes(16000));
}

// The square's result and its gradient have one block, in which that of its operand is made, too; 4 B are the loss.
TEST(Memory, MxnetPlansBlocksThatAStepShares) {
  constexpr int64_t map = 4 * 100 * 4, weights = 4 * (100 * 100 + 100);
  Program program;
  Builder g(program, "train");
  g.loss("sum", g.sum(g.square(g.linear("fc", g.input("x", {Builder::batch(), 100}), {.out = 100}))));
  g.update({});
  program.step = {{.phase = "train"}};
  const Graph graph = bound_last_phase(program, 4);
  const MemoryPrediction memory = predict_memory(graph, program.phases[0].update, 1, Keeper::mxnet);
  EXPECT_EQ(memory.feature_maps, Bytes(2 * map + 4));
  EXPECT_EQ(memory.backward, Bytes(weights)) << "arrays of its gradients, whatever the moment";
  EXPECT_EQ(predict_memory(program, {{"N", 4}}, {}, Keeper::mxnet).peak(), memory.peak());
}

// A free block of 4000 B is given to what takes 400 B, but not to what takes 40 B: one of 4 B grows for that.
TEST(Memory, MxnetSharesBlocksOfNearSizes) {
  const auto planned = [](int64_t width) {
    Program program;
    Builder g(program, "train");
    const Tensor wide = g.affine(g.input("x", {Builder::batch(), 1000}), 2);
    g.output("mean", g.mean(wide, {1}));
    g.output("other", g.affine(g.input("z", {Builder::batch(), width}), 2));
    return predict_memory(bound_last_phase(program, 1), {}, 1, Keeper::mxnet).feature_maps;
  };
  EXPECT_EQ(planned(100), Bytes(4000 + 4));
  EXPECT_EQ(planned(10), Bytes(4000 + 40));
}

// A convolution leaves its map in blocks. The sigmoid's product copies it and the sigmoid, and again with its gradient
// for backward, whose result takes the gradient's place; the sum copies the last map.
TEST(Memory, MxnetCopiesMapsThatOneDnnLaidOut) {
  constexpr int64_t map = 4 * 2 * 8 * 8 * 8, weight = 4 * 8 * 8;
  const auto kernels = [](auto between) {
    Program program;
    Builder g(program, "train");
    const Conv2d conv = {.out = 8};
    const Tensor x = between(g, g.conv2d("first", g.input("x", {Builder::batch(), 8, 8, 8}), conv));
    g.loss("sum", g.sum(g.conv2d("last", x, conv)));
    g.update({});
    return predict_memory(bound_last_phase(program, 2), program.phases[0].update, 1, Keeper::mxnet).kernels;
  };
  const Bytes reordered(2 * 2 * weight);
  EXPECT_EQ(kernels([](Builder& g, const Tensor& x) { return g.relu(x); }), Bytes(map) + reordered);
  EXPECT_EQ(kernels([](Builder& g, const Tensor& x) { return g.silu(x); }), Bytes((2 + 4 + 1) * map) + reordered);
  const auto norm = [](double momentum) {
    return [=](Builder& g, const Tensor& x) { return g.silu(g.batch_norm("bn", x, {.momentum = momentum})); };
  };
  EXPECT_EQ(kernels(norm(0.125)), Bytes((7 + 2 * 2) * map)) << "the norm lays its map and a plain gradient out anew";
  EXPECT_EQ(kernels(norm(0.01)), Bytes((7 + 2 + 1 + 4 * 2 * 2) * map))
      << "moments copy the map and have a workspace; their sums go through all four spaces";
}

// Uneven pads are an op before the convolution, which makes a map of 9 x 9 and copies what it reads and its gradient;
// boxes are read from each of two maps, and one sum is made of both.
TEST(Memory, MxnetPlansWhatAnOpOfSeveralPartsMakes) {
  const auto predicted = [](auto body) {
    Program program;
    Builder g(program, "train");
    g.loss("sum", g.sum(body(g, g.conv2d("first", g.input("x", {Builder::batch(), 8, 8, 8}), {.out = 8}))));
    g.update({});
    return predict_memory(bound_last_phase(program, 1), program.phases[0].update, 1, Keeper::mxnet);
  };
  const auto conv = [&](const Pads& pads) {
    return predicted([=](Builder& g, const Tensor& x) { return g.conv2d("last", x, {.out = 8, .pads = pads}); });
  };
  constexpr int64_t even = 4 * 8 * 8 * 8, padded = 4 * 8 * 9 * 9;
  EXPECT_EQ(conv({0, 1, 0, 1}).kernels - conv({}).kernels, Bytes(even + padded + padded - even));
  EXPECT_EQ(conv({0, 1, 0, 1}).feature_maps - conv({}).feature_maps, Bytes(2 * padded - even));
  const auto boxes = [&](size_t maps) {
    return predicted([=](Builder& g, const Tensor& x) {
      const Tensor rois = g.input("rois", {10, 5}), level = g.input("level", {10}, DType::i32);
      std::vector<Tensor> operands(maps, x);
      operands.insert(operands.end(), {rois, level});
      return g.node(RoiAlign{.out = 4, .scales = std::vector<double>(maps, 1)}, operands);
    });
  };
  EXPECT_EQ(boxes(2).feature_maps - boxes(1).feature_maps, Bytes(4 * 10 * 8 * 4 * 4));
}

// A table that is both embedding and output weight has its second gradient whole before it is added to the first.
TEST(Memory, CountsBothGradientContributionsOfATiedWeight) {
  const auto backward = [](bool tied, Keeper keeper) {
    Program program;
    Builder g(program, "train");
    const Tensor table = g.parameter("table", {1000, 8}, Init::normal(1));
    const Tensor other = tied ? table : g.parameter("other", {1000, 8}, Init::normal(1));
    const Tensor ids = g.input("ids", {Builder::batch()}, DType::i32);
    g.loss("sum", g.sum(g.linear(g.embedding(ids, table), other)));
    g.update({});
    return predict_memory(bound_last_phase(program, 1), program.phases[0].update, 1, keeper).backward.value;
  };
  EXPECT_NEAR(static_cast<double>(backward(true, Keeper::pytorch)), 2 * 32'000, 5'000);
  EXPECT_NEAR(static_cast<double>(backward(false, Keeper::pytorch)), 2 * 32'000, 5'000);
  EXPECT_NEAR(static_cast<double>(backward(true, Keeper::mxnet)), 3 * 32'000, 6'000) << "parts, beside the sum";
  EXPECT_NEAR(static_cast<double>(backward(false, Keeper::mxnet)), 2 * 32'000, 6'000);
}

TEST(Memory, CountsAForwardedGradientOnce) {
  const int64_t weights = 4 * (2 * 8 + 8);  // their gradients
  const auto maps = [](auto body) {
    Program program;
    Builder g(program, "train");
    const Tensor x = g.linear("fc", g.input("x", {Builder::batch(), 2}), {.out = 8});
    g.loss("sum", g.sum(body(g, x)));
    g.update({});
    return predict_memory(bound_last_phase(program, 4), program.phases[0].update).backward;
  };
  EXPECT_EQ(maps([](Builder&, const Tensor& x) { return x; }), Bytes(128 + weights));
  EXPECT_EQ(maps([](Builder& g, const Tensor& x) { return g.reshape(x, {0, 2, 4}); }), Bytes(128 + weights));
  EXPECT_EQ(maps([](Builder& g, const Tensor& x) { return g.add(x, x); }), Bytes(128 + weights));
  EXPECT_EQ(maps([](Builder& g, const Tensor& x) { return g.affine(x, 2); }), Bytes(2 * 128));
}

TEST(Memory, KeepsNothingForAFrozenTrunk) {
  const Graph graph = toy("frozen");
  for (const LayerRow& row : layer_table(graph)) {
    if (row.name == "trunk") {
      EXPECT_EQ(row.saved, Bytes(0));
    }
    if (row.name == "relu") {  // the adapter's weight gradient reads it
      EXPECT_EQ(row.saved, Bytes(4 * 4 * 8));
    }
  }
}

TEST(Memory, SumsGradientsAndOptimizerStateOverPhases) {
  const Program program = expanded(toy_program("penalty"));  // as programs are counted
  const Bindings batch = {{"N", 4}};
  const MemoryPrediction all = predict_memory(program, batch);
  const MemoryPrediction generator = predict_memory(bind(program, program.phases[0], batch), program.phases[0].update);
  const MemoryPrediction critic = predict_memory(bind(program, program.phases[1], batch), program.phases[1].update);
  EXPECT_EQ(all.gradients, generator.gradients + critic.gradients);
  EXPECT_EQ(all.optimizer_state, generator.optimizer_state + critic.optimizer_state);
  EXPECT_EQ(all.feature_maps, critic.feature_maps);
  EXPECT_EQ(all.gradients, all.weights);
}

}  // namespace
}  // namespace tbd
