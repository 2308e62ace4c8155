#include "runner/equivalence/node_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "graph/builder.h"
#include "graph/passes.h"
#include "runner/equivalence/padding.h"
#include "runner/equivalence/phase_case.h"
#include "runner/equivalence/testing_values.h"
#include "runner/equivalence/update_rule.h"

namespace tbd {
namespace {

using testing_values::kBatch, testing_values::values_of;

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

// Tokens through an lstm whose h and y are used, a dropped attention on a mask, the table again as a projection.
Program sequences() {
  Program program = {.model = "sequences", .config = "test"};
  Builder g(program, "train");
  const Tensor ids = g.input("ids", {Builder::batch(), 5}, DType::i32);
  const Tensor table = g.parameter("table", {7, 4}, Init::normal(1));
  const Recurrent states = g.lstm("lstm", g.embedding(ids, table, 1), {.hidden = 4});
  const Tensor mask = g.affine(g.equals(ids, 1), -1e4);
  const Tensor y = g.attention(states.y, states.y, states.y, {.heads = 2, .dropout = 0.5}, mask);
  const Tensor h = g.reshape(g.dropout(states.last.h, 0.5), {0, 1, 4});
  const Tensor logits = g.linear(g.add(y, h), table);
  g.output("logits", logits);
  g.loss("ce", g.softmax_cross_entropy(logits, g.reshape(ids, {0, 5}), SoftmaxCrossEntropy{.ignore = 1}));
  g.update({.schedule = {.base = 0.1}});
  program.step = {{.phase = "train"}};
  return program;
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

// The last c is used by nothing: it is shown, but no gradient reaches it.
TEST(Tapped, ProbesEachResultThatAGradientReaches) {
  const Program program = tapped(with_dropout(sequences(), DropoutMode::kMask), kBatch);
  validate(program, kBatch);
  const Graph graph = bind(program, program.phases.front(), kBatch);
  std::set<std::string> probes;
  for (const Parameter& parameter : program.parameters)
    if (parameter.name.starts_with("probe/lstm")) probes.insert(parameter.name);
  EXPECT_THAT(probes, testing::ElementsAre("probe/lstm_l0", "probe/lstm_l0:1"));
  std::map<std::string, Shape> shown;
  for (const auto& [name, value] : graph.outputs) shown[name] = graph.value(value).shape;
  EXPECT_EQ(shown.at("tap/lstm_l0"), (Shape{2, 5, 4}));
  EXPECT_EQ(shown.at("tap/lstm_l0:1"), (Shape{2, 4}));
  EXPECT_EQ(shown.at("tap/lstm_l0:2"), (Shape{2, 4}));
  EXPECT_EQ(graph.value(graph.find("mask/attention").value()).shape, (Shape{2, 2, 5, 5}));
  EXPECT_EQ(graph.value(graph.find("mask/dropout").value()).shape, (Shape{2, 4}));
}

const NodeCase& case_of(const NodeProgram& nodes, const std::string& node) {
  const auto found = std::ranges::find(nodes.cases, node, &NodeCase::node);
  require(found != nodes.cases.end(), "no case of '", node, "'");
  return *found;
}

TEST(NodePrograms, JudgeEveryResultAndGiveMasksLabelsAndIds) {
  const Program program = with_dropout(sequences(), DropoutMode::kMask);
  const NodeProgram nodes = node_program(program, kBatch, values_of(program));
  validate(nodes.program, {{"N", 1}});
  const NodeCase& lstm = case_of(nodes, "lstm_l0");
  EXPECT_THAT(lstm.judged, testing::IsSupersetOf({"output/n1", "output/n1.r1", "output/n1.r2", "grad/n1.weight_hh"}));
  EXPECT_TRUE(nodes.inputs.contains("n1.up") && nodes.inputs.contains("n1.r1.up"));
  EXPECT_FALSE(nodes.inputs.contains("n1.r2.up"));
  const NodeCase& embedding = case_of(nodes, "embedding");
  EXPECT_THAT(embedding.judged, testing::ElementsAre("output/n0", "grad/n0.weight"));
  EXPECT_EQ(nodes.inputs.at("n0.x0").dtype(), DType::i32);
  const NodeCase& attention = case_of(nodes, "attention");
  const std::string label = attention.label;
  EXPECT_THAT(attention.judged, testing::UnorderedElementsAre("output/" + label, "grad/" + label + ".x0",
                                                              "grad/" + label + ".x1", "grad/" + label + ".x2"));
  EXPECT_TRUE(nodes.inputs.contains(label + ".x3") && nodes.inputs.contains(label + ".x4"));
  EXPECT_THAT(case_of(nodes, "linear").sources, testing::ElementsAre("add", "table"));
  EXPECT_THAT(case_of(nodes, "equals").judged, testing::SizeIs(1));
  EXPECT_THAT(nodes.left_out, testing::ElementsAre("reshape_2: moves integers"));
}

TEST(NodePrograms, SelectingOneCaseKeepsAllItsResults) {
  const Program program = with_dropout(sequences(), DropoutMode::kMask);
  const NodeProgram nodes = node_program(program, kBatch, values_of(program));
  const NodeProgram one = only(nodes, case_of(nodes, "lstm_l0"));
  validate(one.program, {{"N", 1}});
  EXPECT_EQ(one.program.phases.front().outputs.size(), 3u);
  EXPECT_EQ(one.program.phases.front().loss.size(), 2u);
}

// Token 1 is padding: its logits are not compared, in whatever type they come.
TEST(Paddings, AreTheRowsThatNoLossCounts) {
  Program program = {.model = "padded", .config = "test"};
  Builder g(program, "train");
  const Tensor x = g.input("x", {Builder::batch(), 2, 3});
  const Tensor label = g.input("label", {Builder::batch(), 2}, DType::i32);
  const Tensor weights = g.input("weights", {Builder::batch(), 2});
  g.output("x", x);
  g.output("plain", g.linear("plain", x, {.out = 2}));
  g.loss("ce", g.softmax_cross_entropy(x, label, SoftmaxCrossEntropy{.ignore = 1}, weights));
  program.step = {{.phase = "train"}};
  const std::vector<int32_t> labels = {0, 1, 2, 2};
  const std::vector<float> weighs = {1, 1, 0.5, 0};
  const TensorMap inputs = {{"label", HostTensor(DType::i32, {2, 2}, std::span<const int32_t>(labels))},
                            {"weights", HostTensor(DType::f32, {2, 2}, std::span<const float>(weighs))}};
  const Padding padding(program, kBatch, inputs);
  const std::vector<float> ones(12, 1);
  const HostTensor full(DType::f32, {2, 2, 3}, std::span<const float>(ones));
  TensorMap tensors = {{"output/x", full}, {"output/plain", full}};
  padding.clear(tensors);
  EXPECT_THAT(as_doubles(tensors.at("output/x")), testing::ElementsAre(1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0));
  EXPECT_THAT(as_doubles(tensors.at("output/plain")), testing::Each(1));
  tensors = {{"output/x", converted(full, DType::f64)}};
  padding.clear(tensors);
  EXPECT_EQ(as_doubles(tensors.at("output/x"))[3], 0);
}

TEST(Paddings, AreEmptyWhenEveryRowCounts) {
  Program program = small();
  program.phases.front().outputs["logits"] = "fc";
  const std::vector<int32_t> labels = {0, 1};
  const TensorMap inputs = {{"label", HostTensor(DType::i32, {2}, std::span<const int32_t>(labels))}};
  EXPECT_TRUE(Padding(program, kBatch, inputs).empty());
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

TEST(NodePrograms, SelectingOneCaseKeepsOnlyThatCase) {
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

TEST(RuleNumbers, MustAgreeWithinATenthOfAPercent) {
  EXPECT_TRUE((RuleNumber{"lr", 0.10009, 0.1}).ok());
  EXPECT_FALSE((RuleNumber{"lr", 0.1002, 0.1}).ok());
  EXPECT_TRUE((RuleNumber{"decay", 1e-10, 0}).ok());
  EXPECT_FALSE((RuleNumber{"decay", 1e-8, 0}).ok());
}

}  // namespace
}  // namespace tbd
