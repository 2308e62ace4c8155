// Rows of outputs that no loss counts: nobody trains on them, and what stands there is not compared
// (docs/conventions.md).
#pragma once
#include "base/tensor.h"
#include "graph/graph.h"

namespace tbd {

// Of outputs that are the logits of a softmax_cross_entropy whose labels are an input: the rows whose label is ignored,
// and those whose weight, an input too, is 0.
class Padding {
 public:
  // `program` stands alone; `inputs` are those of one step.
  Padding(const Program& program, const Bindings& bindings, const TensorMap& inputs);
  void clear(TensorMap& tensors) const;  // sets these rows of output/... to 0
  bool empty() const { return rows_.empty(); }

 private:
  std::map<std::string, std::vector<bool>> rows_;  // by output: whether a row is padding
};

}  // namespace tbd
