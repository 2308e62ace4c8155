// Which values share memory, and what backward reads, makes and lets go of: what the memory prediction is made of.
#pragma once
#include "graph/graph.h"

namespace tbd::storage {

constexpr size_t at(ValueId id) { return static_cast<size_t>(id); }

// Per value: the value whose storage it occupies. Views and overwriting results occupy their operand's.
std::vector<ValueId> homes(const Graph& graph);

bool carries_gradient(const BoundNode& node, const std::vector<bool>& needs);
std::vector<ValueId> read_by_backward(const BoundNode& node);  // operands and results

// The most that backward holds at a time over what forward left behind: gradients of results, from the making of their
// first part to the backward of their producer, and of parameters, from their first part on (all along where
// micro-batches `accumulate`), less the storages that no earlier node's backward reads. A further part is whole before
// it is added.
Bytes backward_excess(const Graph& graph, bool accumulate = false);

}  // namespace tbd::storage
