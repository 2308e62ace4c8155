// What a phase does several times to one value, where TensorFlow's gradients would add up as many large tensors.
#pragma once
#include <map>
#include <vector>

#include "graph/graph.h"

namespace tbd::tensorflow {

// A slice's place among the parts of its operand.
struct SlicePart {
  int index = 0;
  std::vector<int64_t> sizes;  // of all parts, in order
};

// By the node's index: slices of one value along one axis which between them hold each position once, and of which all
// or none need a gradient. As outputs of one SplitV their gradients are put together once; the gradient of a Slice is
// a padded tensor as large as the operand, and as many are added up. Empty where a gradient is differentiated again,
// which takes only some parts.
std::map<size_t, SlicePart> slices_of_wholes(const Graph& graph);

// Is one product of stacked operands, `rows` each, smaller than as many products (out, in) to be added up?
constexpr bool worth_stacking(int64_t rows, int64_t in, int64_t out) { return rows * (in + out) < in * out; }

// By value: how many linear and lstm_cell nodes multiply by it, where stacking is worth it. Empty where a gradient is
// differentiated again.
std::map<ValueId, int64_t> weight_uses(const Graph& graph);

}  // namespace tbd::tensorflow
