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
  return with_dropout(program, DropoutMode::mask);
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

}  // namespace
}  // namespace tbd
