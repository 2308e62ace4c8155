// The gradient of an input, written out: names, shapes, types and counts. Values are compared by the back-ends' tests.
#include "graph/expand.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "base/json.h"
#include "graph/builder.h"
#include "graph/graph.h"
#include "graph/memory.h"
#include "graph/passes.h"
#include "graph/sequence_programs.h"
#include "toy_programs.h"

namespace tbd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Middle = std::function<Tensor(Builder&, const Tensor&)>;

// A residual block of the critic's kind with a strided convolution before it, (N, 2, 8, 8) -> (N, 1).
Tensor judged(Builder& g, const Tensor& x) {
  Tensor y = g.conv2d("in", x, {.out = 4, .kernel = 3, .stride = 2, .pads = {0, 1, 1, 0}, .bias = true});
  const Tensor shortcut = g.conv2d("shortcut", g.avg_pool(y, {.kernel = 2, .stride = 2}), {.out = 6, .bias = true});
  y = g.conv2d("conv1", g.relu(g.group_norm("norm", y)), {.out = 6, .kernel = 3, .pads = {1, 1, 1, 1}});
  y = g.sub(shortcut, g.avg_pool(g.affine(y, 0.5, 1), {.kernel = 2, .stride = 2}));
  return g.linear("out", g.flatten(y), {.out = 1});
}

Tensor penalty(Builder& g, const Tensor& gradient) {
  return g.sum(g.square(g.sqrt(g.affine(g.sum(g.square(gradient), {1, 2, 3}), 1, 1e-12))));
}

Program critic_program() {
  Program program = {.model = "toy", .config = "critic"};
  Builder g(program, "critic");
  const Tensor x = g.input("x", {Builder::batch(), 2, 8, 8});
  const Tensor gradient = g.input_gradient(judged(g, x), x);
  g.output("gradient", gradient);
  g.loss("penalty", penalty(g, gradient));
  g.update({.optimizer = {.kind = Optimizer::Kind::adam}});
  program.step = {{.phase = "critic"}};
  return program;
}

const std::vector<Node>& nodes(const Program& program) { return program.phases[0].nodes; }
std::vector<std::string> kinds_of(const Program& program, std::string_view prefix) {
  std::vector<std::string> out;
  for (const Node& node : nodes(program))
    if (node.name.starts_with(prefix)) out.push_back(kind(node.op));
  return out;
}
Graph bound_first_phase(const Program& program, int64_t batch = 4) {
  return bind(program, program.phases[0], {{"N", batch}});
}
const Value& value_named(const Graph& graph, std::string_view name) { return graph.value(graph.find(name).value()); }

TEST(Expanded, LeavesOtherProgramsAsTheyAre) {
  for (const auto& [name, program] : with_sequences(toy_programs())) {
    if (has_input_gradient(program)) continue;
    EXPECT_EQ(expanded(program), program) << name;
  }
  EXPECT_TRUE(has_input_gradient(critic_program()));
}

TEST(Expanded, HoldsNoInputGradientAndTheRestUnchanged) {
  const Program program = critic_program(), again = expanded(program);
  EXPECT_FALSE(has_input_gradient(again));
  EXPECT_EQ(expanded(again), again);
  EXPECT_EQ(again.parameters, program.parameters);
  EXPECT_EQ(again.phases[0].update, program.phases[0].update);
  std::vector<std::string> before, after;
  for (const Node& node : nodes(program))
    if (node.name != "input_gradient") before.push_back(node.name);
  for (const Node& node : nodes(again))
    if (!node.name.starts_with("input_gradient.")) after.push_back(node.name);
  EXPECT_EQ(after, before);
}

TEST(Expanded, NamesItsNodesInOrderAndItsReadersReadTheLast) {
  const Program program = expanded(critic_program());
  std::string last;
  int count = 0;
  for (const Node& node : nodes(program)) {
    if (!node.name.starts_with("input_gradient.")) continue;
    last = node.name;
    EXPECT_EQ(last, cat("input_gradient.", ++count));
  }
  EXPECT_EQ(program.phases[0].outputs.at("gradient"), last);
  EXPECT_EQ(std::ranges::find(nodes(program), "square", &Node::name)->inputs, std::vector{last});
}

// From y backward: linear, reshape, sub (and its other branch), pools, convolutions.
TEST(Expanded, UsesTheExpectedGradientOps) {
  const auto all = kinds_of(expanded(critic_program()), "input_gradient.");
  const auto often = [&](std::string_view kind) { return std::ranges::count(all, kind); };
  EXPECT_EQ(all[0], "affine") << "ones";
  EXPECT_EQ(all[1], "matmul");
  EXPECT_EQ(all[2], "reshape");
  EXPECT_EQ(often("conv_transpose2d"), 3);
  EXPECT_EQ(often("upsample_nearest"), 2);
  EXPECT_EQ(often("greater"), 1);
  EXPECT_EQ(often("mean"), 4) << "of x, its variance, u, u n";
  EXPECT_EQ(often("sqrt"), 1);
  EXPECT_EQ(often("affine"), 1 + 1 + 2 + 1 + 1) << "ones, -1, two shares, the factor, eps";
  EXPECT_EQ(often("add"), 1) << "both branches";
  EXPECT_EQ(all.back(), "conv_transpose2d");
}

TEST(Expanded, IsOfTheShapeAndTypeOfItsInputInEveryPrecisionAndBatch) {
  for (const Precision& precision :
       {Precision::kFp64, Precision::kFp32, Precision::kTf32, Precision::kBf16, Precision::kFp16})
    for (const bool first : {true, false}) {
      const Program program = first ? with_precision(expanded(critic_program()), precision)
                                    : expanded(with_precision(critic_program(), precision));
      for (const int64_t batch : {1, 2, 4, 7}) {
        EXPECT_NO_THROW(validate(program, {{"N", batch}})) << precision.text();
        const Graph graph = bound_first_phase(program, batch);
        const Value& gradient =
            graph.value(std::ranges::find(graph.outputs, "gradient", [](const auto& o) { return o.first; })->second);
        EXPECT_EQ(gradient.shape, (Shape{batch, 2, 8, 8}));
        if (!first) {
          EXPECT_EQ(gradient.dtype, value_named(graph, "x").dtype) << precision.text();
        }
      }
      EXPECT_EQ(read_program(to_json(program).dump(), "json"), program);
    }
}

TEST(Expanded, ComputesNormsWideInLowPrecision) {
  const Program program = expanded(with_precision(critic_program(), Precision::kBf16));
  const Graph graph = bound_first_phase(program);
  for (const BoundNode& node : graph.nodes)
    if (node.name.starts_with("input_gradient.")) {
      if (kind(node.op) == "mean" || kind(node.op) == "sqrt") {
        EXPECT_EQ(graph.value(node.outputs[0]).dtype, DType::f32) << node.name;
      }
      if (kind(node.op) == "conv_transpose2d") {
        EXPECT_EQ(graph.value(node.outputs[0]).dtype, DType::bf16) << node.name;
      }
    }
}

Cost matrix_like(const Program& program, bool backward) {
  Cost sum;
  for (const NodeCost& cost : node_costs(bound_first_phase(program))) {
    const Cost& each = backward ? cost.backward : cost.forward;
    sum += {.model = each.model, .valid = each.valid};
  }
  return sum;
}

TEST(Expanded, CostsWhatTheOpCounts) {
  const Program program = critic_program();
  for (const bool backward : {false, true})
    EXPECT_EQ(matrix_like(expanded(program), backward), matrix_like(program, backward)) << backward;
}

TEST(Expanded, HasTheSameFlopsButMoreFeatureMapsThanTheOriginal) {
  const Program program = critic_program(), written = expanded(program);
  const Bindings batch = {{"N", 4}};
  const NodeCost cost = step_cost(program, batch), of_written = step_cost(written, batch);
  EXPECT_EQ(cost.forward, of_written.forward);
  EXPECT_EQ(cost.backward, of_written.backward);
  EXPECT_GT(cost.forward.simd, 0);
  const MemoryPrediction memory = predict_memory(program, batch);
  EXPECT_LT(memory.feature_maps, predict_memory(written, batch).feature_maps) << "masks, and parts of norms";
  EXPECT_GT(memory.feature_maps, predict_memory(bound_first_phase(program), program.phases[0].update).feature_maps);
}

// TensorFlow's own is nodes, too, each of which keeps what it reads.
TEST(Expanded, KeepsWhatItsNodesKeepInTensorFlow) {
  const Program program = critic_program();
  const auto kept = [](const Program& one) {
    return predict_memory(one, {{"N", 4}}, {}, Keeper::tensorflow).feature_maps;
  };
  EXPECT_EQ(kept(program), kept(expanded(program)));
}

// With an op that has no rule: the matrix-like work alone.
TEST(Expanded, CostsCountWithoutExpansion) {
  Program program = {.model = "toy", .config = "smooth"};
  Builder g(program, "train");
  const Tensor x = g.input("x", {Builder::batch(), 3});
  const Tensor gradient = g.input_gradient(g.sigmoid(g.linear("fc", x, {.out = 2})), x);
  g.loss("penalty", g.sum(g.square(gradient)));
  g.update({});
  program.step = {{.phase = "train"}};
  EXPECT_THROW(expanded(program), Error);
  EXPECT_EQ(step_cost(program, {{"N", 1}}).forward.model, 2 * 2 * 6) << "fc, and the gradient of its operand";
  EXPECT_GT(predict_memory(program, {{"N", 1}}).peak(), Bytes(0));
}

// Twice by one point and once by another, an output and a loss term that are one of them.
TEST(Expanded, NumbersSeveralInputGradients) {
  Program program = {.model = "toy", .config = "several"};
  Builder g(program, "critic");
  const Tensor x = g.input("x", {Builder::batch(), 3}), z = g.input("z", {Builder::batch(), 3});
  const Tensor a = g.input_gradient(g.linear("d", g.relu(g.linear("c", x, {.out = 4})), {.out = 1}), x);
  const Tensor b = g.input_gradient(g.linear("d", g.relu(g.linear("c", z, {.out = 4})), {.out = 1}), z);
  const Tensor s = g.linear("c", x, {.out = 4}), whole = g.sum(s);
  const Tensor c = g.input_gradient(whole, whole);
  g.output("a", a);
  g.output("sum", g.add(a, b));
  g.loss("c", c);
  g.loss("ab", g.sum(g.mul(a, b)));
  g.update({});
  program.step = {{.phase = "critic"}};
  const Program again = expanded(program);
  EXPECT_FALSE(has_input_gradient(again));
  EXPECT_NO_THROW(validate(again, {{"N", 3}}));
  const std::string last_a = again.phases[0].outputs.at("a"), c_name = again.phases[0].loss[0].value;
  EXPECT_TRUE(last_a.starts_with("input_gradient.")) << last_a;
  EXPECT_TRUE(c_name.starts_with("input_gradient_3.")) << c_name;
  const auto inputs = std::ranges::find(nodes(again), "mul", &Node::name)->inputs;
  EXPECT_EQ(inputs[0], last_a);
  EXPECT_TRUE(inputs[1].starts_with("input_gradient_2.")) << inputs[1];
}

// A second gradient reads the first one where that is no part of its path.
TEST(Expanded, MayReadAnEarlierGradientOffItsPath) {
  Program program;
  Builder g(program, "critic");
  const Tensor x = g.input("x", {Builder::batch(), 3}), w = g.input("w", {5, 3}), v = g.input("v", {5, 3});
  const Tensor slope = g.input_gradient(g.affine(w, 2), w);
  const Tensor y = g.linear(x, g.add(slope, v));
  const Tensor gradient = g.input_gradient(g.sub(y, y), x);
  g.output("gradient", gradient);
  const Program again = expanded(program);
  EXPECT_EQ(value_named(bound_first_phase(again), again.phases[0].outputs.at("gradient")).shape, (Shape{4, 3}));
}

// The sentence that refuses the gradient of middle(x).
std::string refusal(const Middle& middle, std::vector<Dim> x_shape = {Builder::batch(), 4, 8, 8}) {
  Program program;
  Builder g(program, "train");
  const Tensor x = g.input("x", std::move(x_shape));
  g.output("gradient", g.input_gradient(middle(g, x), x));
  try {
    expanded(program);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::unsupported);
    return e.what();
  }
  return "no error";
}

TEST(Expanded, NamesTheOpThatHasNoRule) {
  EXPECT_EQ(refusal([](Builder& g, const Tensor& x) { return g.sum(g.sigmoid(x)); }),
            "sum 'sum' lies between both ends of an input_gradient and has no rule there");
  EXPECT_EQ(refusal([](Builder& g, const Tensor& x) { return g.sigmoid(g.relu(x)); }),
            "sigmoid 'sigmoid' lies between both ends of an input_gradient and has no rule there");
  const auto names = [](const Middle& middle, std::string_view what) {
    EXPECT_THAT(refusal(middle), HasSubstr(cat(what, "' lies between"))) << what;
  };
  names([](Builder& g, const Tensor& x) { return g.conv2d("wide", x, {.out = 1, .kernel = 3, .dilation = 2}); },
        "wide");
  names([](Builder& g, const Tensor& x) { return g.conv2d("two", x, {.out = 2, .groups = 2}); }, "two");
  names([](Builder& g, const Tensor& x) { return g.conv2d("rest", x, {.out = 2, .kernel = 3, .stride = 2}); }, "rest");
  names([](Builder& g, const Tensor& x) { return g.avg_pool(x, {.kernel = 3, .stride = 2}); }, "avg_pool");
  names([](Builder& g, const Tensor& x) { return g.avg_pool(x, {.kernel = 3, .stride = 3}); }, "avg_pool");
  names([](Builder& g, const Tensor& x) { return g.linear("deep", x, {.out = 2}); }, "deep");
  names([](Builder& g, const Tensor& x) { return g.mul(x, x); }, "mul");
  names([](Builder& g, const Tensor& x) { return g.add(x, g.input("one", {1, 1, 1, 1})); }, "add");
  names([](Builder& g, const Tensor& x) { return g.dropout(x, 0.5); }, "dropout");
  names([](Builder& g, const Tensor& x) { return g.reshape(x, {-1, 8}); }, "reshape");
}

TEST(Expanded, NamesAnInputThatDoesNotReachTheOutput) {
  const auto other = [](Builder& g, const Tensor& x) {
    const Tensor y = g.input("y", {Builder::batch(), 3});
    g.output("x", g.relu(x));
    return g.relu(y);
  };
  Program program;
  Builder g(program, "train");
  const Tensor x = g.input("x", {Builder::batch(), 3});
  g.output("gradient", g.input_gradient(other(g, x), x));
  EXPECT_THROW(expanded(program), Error);
}

}  // namespace
}  // namespace tbd
