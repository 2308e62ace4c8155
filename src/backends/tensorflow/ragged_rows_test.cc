// What reads ragged results is built for as many rows as there are when it runs, but where all rows are asked for.
#include "backends/tensorflow/gradient_registry.h"
#include "backends/tensorflow/phase.h"
#include "backends/tensorflow/test_support.h"
#include "models/model.h"

namespace tbd::tensorflow {
namespace {

struct Form {
  bool capture = false, cuts_rows = true;
};

// Axis 0 of what each op of that type gives in the mask head of a step; -1: known when it runs.
std::set<int64_t> rows_in_mask_head(const char* type, const Form& form) {
  tbd_register_gradients();
  const Program program = find_model("mask_rcnn").config("tiny").program();
  TfGraph graph;
  Weights weights(program, graph);
  const BoundPhase bound(program, program.phases[0], {.bindings = {{"N", 2}}, .capture = form.capture});
  SessionContext session = {.graph = graph, .weights = weights, .cuts_rows = form.cuts_rows};
  const PhaseRunner runner(bound, session);
  std::set<int64_t> rows;
  size_t position = 0;
  while (TF_Operation* op = TF_GraphNextOperation(graph, &position)) {
    const std::string_view name = TF_OperationName(op);
    if (name.find("roi_heads.mask") == name.npos || std::string_view(TF_OperationOpType(op)) != type) continue;
    const Status status;
    int64_t extents[4] = {};
    TF_GraphGetTensorShape(graph, {op, 0}, extents, 4, status);
    status.check();
    rows.insert(extents[0]);
  }
  return rows;
}

TEST(RaggedRows, AreCountedWhenTheStepRuns) {
  for (const char* type : {"Conv2D", "BiasAdd", "Conv2DBackpropInput"})
    EXPECT_EQ(rows_in_mask_head(type, {}), std::set<int64_t>{-1}) << type;
}

TEST(RaggedRows, AreAllThereForWhoCapturesOrCompiles) {
  for (const Form& form : {Form{.capture = true}, Form{.cuts_rows = false}})
    for (const char* type : {"Conv2D", "BiasAdd", "Conv2DBackpropInput"})
      EXPECT_EQ(rows_in_mask_head(type, form), std::set<int64_t>{16}) << type;
}

}  // namespace
}  // namespace tbd::tensorflow
