#include "runner/equivalence/node_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "graph/builder.h"
#include "runner/equivalence/phase_case.h"
#include "runner/equivalence/update_rule.h"

namespace tbd {
namespace {

const Bindings kBatch = {{"N", 2}};

Program small() {
  Program program = {.model = "small", .config = "test"};
  Builder g(program, "train");
  const Tensor x = g.input("image", {Builder::batch(), 2, 4, 4});
  const Tensor label = g.input("label", {Builder::batch()}, DType::i32);
  const Tensor y = g.relu(g.batch_norm("bn", g.conv2d("conv", x, {.out = 3, .kernel = 3, .bias = true})));
  g.loss("ce", g.softmax_cross_entropy(g.linear("fc", g.global_mean(y), {.out = 4}), label));
  g.update({.optimizer = {.momentum = 0.9}, .groups = {{.weight_decay = 0.1}}, .schedule = {.base = 0.1}});
  program.step = {{.phase = "train"}};
  return program;
}

// As the reference would give them; what they hold plays no part here.
TensorMap values_of(const Program& program) {
  const Graph graph = bind(program, program.phases.front(), kBatch);
  TensorMap values;
  for (const Value& value : graph.values) {
    const HostTensor tensor(is_float(value.dtype) ? DType::f64 : value.dtype, value.shape);
    values[value.kind == Value::Kind::result ? "tap/" + value.name : value.name] = tensor;
    values["grad/probe/" + value.name] = tensor;
  }
  return values;
}

TEST(Tapped, ShowsEveryResultAndProbesThoseThatAGradientReaches) {
  const Program program = tapped(small(), kBatch);
  validate(program, kBatch);
  const Phase& phase = program.phases.front();
  EXPECT_EQ(phase.outputs.size(), small().phases.front().nodes.size());
  std::set<std::string> probes;
  for (const Parameter& parameter : program.parameters)
    if (parameter.name.starts_with("probe/")) probes.insert(parameter.name);
  EXPECT_EQ(probes.size(), small().phases.front().nodes.size());
  EXPECT_TRUE(probes.contains("probe/conv"));
}

TEST(NodePrograms, HoldEachNodeOnceWithItsOperandsAsParameters) {
  const NodeProgram nodes = node_program(small(), kBatch, values_of(small()));
  validate(nodes.program, {{"N", 1}});
  ASSERT_EQ(nodes.cases.size(), small().phases.front().nodes.size());
  const NodeCase& conv = nodes.cases.front();
  EXPECT_EQ(conv.node, "conv");
  EXPECT_THAT(conv.judged, testing::UnorderedElementsAre("output/n0", "grad/n0.x0", "grad/n0.weight", "grad/n0.bias"));
  const NodeCase& norm = nodes.cases[1];
  EXPECT_THAT(norm.judged, testing::IsSupersetOf({"buffer/n1.running_mean", "buffer/n1.running_var"}));
  EXPECT_EQ(nodes.program.phases.size(), 2u);  // nodes and rule
  for (const auto& [name, tensor] : nodes.weights) EXPECT_EQ(tensor.dtype(), DType::f32) << name;
}

TEST(NodePrograms, OfOneCaseHoldThatCaseAlone) {
  const NodeProgram nodes = node_program(small(), kBatch, values_of(small()));
  const NodeProgram one = only(nodes, nodes.cases[1]);
  validate(one.program, {{"N", 1}});
  for (const auto& [name, tensor] : one.weights) EXPECT_THAT(name, testing::HasSubstr("/n1."));
  EXPECT_EQ(one.program.phases.size(), 1u);
}

TEST(Ties, AreBrokenWithoutChangingOtherElements) {
  const std::vector<float> values = {0, 0, 0, 1, 1, 2, -3};
  const HostTensor out = without_ties(HostTensor(DType::f32, {7}, std::span<const float>(values)));
  const auto x = out.as<float>();
  EXPECT_EQ(std::set<float>(x.begin(), x.end()).size(), 7u);
  for (size_t i = 0; i < 3; ++i) EXPECT_LT(std::abs(x[i]), 2e-3);
  EXPECT_EQ(x[5], 2);
  EXPECT_EQ(x[6], -3);
  EXPECT_FLOAT_EQ(x[4], 1);
}

TEST(RuleNumbers, AreHeldToAThousandth) {
  EXPECT_TRUE((RuleNumber{"lr", 0.10009, 0.1}).ok());
  EXPECT_FALSE((RuleNumber{"lr", 0.1002, 0.1}).ok());
  EXPECT_TRUE((RuleNumber{"decay", 1e-10, 0}).ok());
  EXPECT_FALSE((RuleNumber{"decay", 1e-8, 0}).ok());
}

}  // namespace
}  // namespace tbd
