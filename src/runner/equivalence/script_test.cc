// The Python texts of reproductions: there is one for each op on sequences and framework, and Python takes it.
#include "runner/equivalence/script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "base/files.h"
#include "graph/builder.h"
#include "graph/passes.h"
#include "runner/equivalence/equivalence.h"
#include "runner/equivalence/testing_values.h"

namespace tbd {
namespace {

using ::testing::HasSubstr;
using testing_values::kBatch, testing_values::values_of;

Program every_op_on_sequences() {
  Program program = {.model = "sequences", .config = "test"};
  Builder g(program, "train");
  const Tensor ids = g.input("ids", {Builder::batch(), 4}, DType::i32);
  const Tensor lengths = g.input("lengths", {Builder::batch()}, DType::i32);
  const Tensor picked = g.input("picked", {Builder::batch(), 4}, DType::i32);
  const Tensor weights = g.input("weights", {Builder::batch(), 4});
  const Tensor padding = g.equals(ids, 1);
  Tensor x = g.add(g.embedding("embed", ids, {.rows = 7, .width = 4, .pad = 1}), g.sinusoid(padding, {.width = 4}));
  const Tensor q = g.reshape(g.rotary(g.reshape(x, {0, 0, 2, 2})), {0, 0, 4}), k = g.slice(x, {.axis = 2, .end = 2});
  x = g.attention(q, k, k, {.heads = 2, .kv_heads = 1, .causal = true, .dropout = 0.5}, g.affine(padding, -1e4));
  const Recurrent states = g.lstm("lstm", x, {.hidden = 4, .reverse = true}, "_l0", lengths);
  const State last = g.lstm_cell("cell", states.last.h, states.last, {.hidden = 4});
  const Tensor h = g.reshape(g.concat({last.h, last.c}), {0, 2, 4});
  const Tensor read = g.softmax(g.gather(h, picked));
  x = g.gelu(g.add(g.rms_norm("norm", states.y), read));
  const Tensor logits = g.linear("head", g.transpose(g.silu(x), {0, 2, 1}), {.out = 7});
  const SoftmaxCrossEntropy loss{.smoothing = 0.1, .spread = SoftmaxCrossEntropy::Spread::others, .ignore = 1};
  g.loss("ce", g.softmax_cross_entropy(logits, ids, loss, weights));
  g.update({.schedule = {.base = 0.1}});
  program.step = {{.phase = "train"}};
  return with_dropout(program, DropoutMode::kMask);
}

std::string script(const std::string& framework, const NodeProgram& nodes, const NodeCase& node,
                   const std::string& what) {
  return reproduction_script({framework, "1.0", {}}, only(nodes, node), {.where = node.node, .what = what, .bound = 1});
}

TEST(Scripts, CallEachOpInEachFrameworkAndArePython) {
  const Program program = every_op_on_sequences();
  const NodeProgram nodes = node_program(program, kBatch, values_of(program));
  const TemporaryFolder folder("tbd-scripts");
  std::string files;
  for (const char* framework : {"pytorch", "tensorflow", "mxnet"})
    for (const NodeCase& node : nodes.cases) {
      EXPECT_TRUE(python_call(framework, node)) << framework << " " << node.kind;
      const std::filesystem::path file = folder.path() / cat(framework, "-", node.label, ".py");
      write_file_atomic(file, script(framework, nodes, node, "result"));
      files += cat(" '", file.string(), "'");
    }
  EXPECT_EQ(std::system(cat("python3 -m py_compile", files).c_str()), 0);
}

TEST(Scripts, HaveALossAndAVerdictOfEachResult) {
  const Program program = every_op_on_sequences();
  const NodeProgram nodes = node_program(program, kBatch, values_of(program));
  const auto lstm = std::ranges::find(nodes.cases, "lstm", &NodeCase::kind);
  ASSERT_NE(lstm, nodes.cases.end());
  const std::string text = script("pytorch", nodes, *lstm, "result 2");
  EXPECT_THAT(text, HasSubstr("y, y1, y2 = lstm("));
  EXPECT_THAT(text, HasSubstr("((y * up).sum() + (y1 * up1).sum() + (y2 * up2).sum()).backward()"));
  EXPECT_THAT(text, HasSubstr(cat("JUDGED = \"output/", lstm->label, ".r2\"")));
}

// Six digits of an attribute would compute another op, which a right framework differs from.
TEST(Scripts, PrintAttributesInFullPrecision) {
  constexpr double kThird = 1.0 / 3;
  const SoftmaxCrossEntropy smoothed = {.smoothing = kThird};
  const NodeCase cases[] = {
      {.op = Unary{Unary::Function::leaky_relu, kThird}, .operands = {{2, 3}}},
      {.op = Affine{kThird, 1}, .operands = {{2, 3}}},
      {.op = Affine{2, kThird}, .operands = {{2, 3}}},
      {.op = Dropout{kThird}, .operands = {{2, 3}, {2, 3}}},
      {.op = BatchNorm{.eps = kThird}, .operands = {{2, 3, 2, 2}}},
      {.op = LayerNorm{kThird}, .operands = {{2, 3}}},
      {.op = RmsNorm{kThird}, .operands = {{2, 3}}},
      {.op = Rotary{kThird}, .operands = {{2, 3, 2, 2}}},
      {.op = Attention{.dropout = kThird}, .operands = {{2, 3, 2}, {2, 3, 2}, {2, 3, 2}, {2, 1, 3, 3}}},
      {.op = smoothed, .operands = {{2, 3}, {2}}, .names = {"n.x0", "n.x1"}}};
  for (const char* framework : {"pytorch", "tensorflow", "mxnet"})
    for (const NodeCase& node : cases) {
      const std::optional<PythonCall> call = python_call(framework, node);
      ASSERT_TRUE(call) << framework << " " << kind(node.op);
      EXPECT_THAT(call->before + call->y, HasSubstr("0.3333333333333333")) << framework;
    }
  const NodeCase norm = {.op = BatchNorm{.momentum = kThird}, .operands = {{2, 3, 2, 2}}};
  EXPECT_THAT(python_call("pytorch", norm)->y, HasSubstr("momentum=0.3333333333333333"));
  EXPECT_THAT(python_call("mxnet", norm)->y, HasSubstr("momentum=0.6666666666666667"));
}

// Losses and sums of detection, in parts of places and of levels.
Program ops_of_detection() {
  Program program = {.model = "detection", .config = "test"};
  Builder g(program, "train");
  const Tensor x = g.input("x", {Builder::batch(), 3}), target = g.input("target", {Builder::batch(), 2, 2});
  const Tensor weights = g.input("weights", {Builder::batch()});
  const Tensor a = g.linear("a", x, {.out = 3}), b = g.linear("b", x, {.out = 3});
  const Tensor fused = g.node(Fusion{.epsilon = 1.0 / 3}, {a, b, g.parameter("edge_weights", {2})});
  const Tensor boxes = g.reshape(g.linear("box", g.node(Fusion{.plain = true}, {fused, a}), {.out = 4}), {0, 2, 2});
  g.loss("box", g.node(Huber{.delta = 1.0 / 9}, {boxes, target, weights}), 9);
  const Tensor places = g.input("places", {Builder::batch(), 2, 2}),
               kind = g.input("class", {Builder::batch(), 2}, DType::i32);
  g.loss("bce", g.node(BceWithLogits{}, {boxes, places, weights}));
  g.loss("focal", g.node(SigmoidFocal{.gamma = 1.0 / 3}, {boxes, kind}));
  const Conv2d shrink = {.out = 2, .kernel = 1};
  const Tensor image = g.conv2d("conv", g.reshape(boxes, {0, 2, 2, 1}), shrink);
  const ConvTranspose2d grow = {.out = 1, .kernel = 3, .stride = 2, .pads = {1, 0, 0, 0}, .bias = true};
  g.loss("mask", g.sum(g.conv_transpose2d("grow", g.dropout_of_samples("drop", image, 1.0 / 3), grow)));
  g.update({.schedule = {.base = 0.1}});
  program.step = {{.phase = "train"}};
  return program;
}

TEST(Scripts, ReproduceFusion) {
  const Program program = ops_of_detection();
  const NodeProgram nodes = node_program(program, kBatch, values_of(program));
  const auto fusion = std::ranges::find(nodes.cases, "fusion", &NodeCase::kind);
  ASSERT_NE(fusion, nodes.cases.end());
  EXPECT_THAT(fusion->judged, testing::Contains(cat("grad/", fusion->label, ".x2")));
  const TemporaryFolder folder("tbd-scripts");
  for (const char* framework : {"pytorch", "tensorflow", "mxnet"}) {
    const std::string text = script(framework, nodes, *fusion, "result");
    EXPECT_THAT(text, HasSubstr("y = x0 * share(x2, 0) + x1 * share(x2, 1)")) << framework;
    EXPECT_THAT(text, HasSubstr(") + 0.3333333333333333)")) << framework;
    const std::filesystem::path file = folder.path() / cat(framework, ".py");
    write_file_atomic(file, text);
    EXPECT_EQ(std::system(cat("python3 -m py_compile '", file.string(), "'").c_str()), 0) << text;
  }
}

TEST(Scripts, ReproduceHuber) {
  const Program program = ops_of_detection();
  const NodeProgram nodes = node_program(program, kBatch, values_of(program));
  const auto huber = std::ranges::find(nodes.cases, "huber", &NodeCase::kind);
  ASSERT_NE(huber, nodes.cases.end());
  EXPECT_THAT(huber->judged, testing::Contains(cat("grad/", huber->label, ".x0")));
  const TemporaryFolder folder("tbd-scripts");
  for (const char* framework : {"pytorch", "tensorflow", "mxnet"}) {
    const std::string text = script(framework, nodes, *huber, "result");
    EXPECT_THAT(text, HasSubstr("DELTA = 0.1111111111111111\n")) << framework;
    EXPECT_THAT(text, HasSubstr("huber(x0, x1, reshape(x2, (2, 1, 1)))")) << framework;
    const std::filesystem::path file = folder.path() / cat(framework, ".py");
    write_file_atomic(file, text);
    EXPECT_EQ(std::system(cat("python3 -m py_compile '", file.string(), "'").c_str()), 0) << text;
  }
}

struct Spelled {
  const char *kind, *text;
};
class DetectionScripts : public testing::TestWithParam<Spelled> {};

TEST_P(DetectionScripts, AreReproduced) {
  const Program program = with_dropout(ops_of_detection(), DropoutMode::kMask);
  const NodeProgram nodes = node_program(program, kBatch, values_of(program));
  const auto found = std::ranges::find(nodes.cases, GetParam().kind, &NodeCase::kind);
  ASSERT_NE(found, nodes.cases.end());
  const TemporaryFolder folder("tbd-scripts");
  for (const char* framework : {"pytorch", "tensorflow", "mxnet"}) {
    const std::string text = script(framework, nodes, *found, "result");
    EXPECT_THAT(text, HasSubstr(GetParam().text)) << framework;
    const std::filesystem::path file = folder.path() / cat(framework, ".py");
    write_file_atomic(file, text);
    EXPECT_EQ(std::system(cat("python3 -m py_compile '", file.string(), "'").c_str()), 0) << text;
  }
}
INSTANTIATE_TEST_SUITE_P(All, DetectionScripts,
                         testing::Values(Spelled{"bce_with_logits", "bce(x0, x1, reshape(x2, (2, 1, 1)))"},
                                         Spelled{"sigmoid_focal", "ALPHA, GAMMA = 0.25, 0.3333333333333333\n"},
                                         Spelled{"conv_transpose2d", "[:, :, 1:5, 0:3]"},
                                         Spelled{"dropout", "x1 / (1 - 0.3333333333333333)"}),
                         [](const auto& info) { return std::string(info.param.kind); });

}  // namespace
}  // namespace tbd
