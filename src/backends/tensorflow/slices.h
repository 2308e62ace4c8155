// Slices that cut the whole of a value into parts.
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

}  // namespace tbd::tensorflow
