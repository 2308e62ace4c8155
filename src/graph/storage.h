// Which values share memory, and what backward reads, makes and lets go of: what the memory prediction is made of.
#pragma once
#include "graph/keeping.h"

namespace tbd::storage {

constexpr size_t at(ValueId id) { return static_cast<size_t>(id); }

// Per value: the value whose storage it occupies. Views and overwriting results occupy their operand's.
std::vector<ValueId> homes(const Graph& graph, Keeper keeper);

bool carries_gradient(const BoundNode& node, const std::vector<bool>& needs);
std::vector<ValueId> read_by_backward(const Graph& graph, const BoundNode& node,
                                      Keeper keeper);  // operands and results

// How long gradients of parameters last.
enum class Lasting { to_its_last_part, to_the_update, all_along };
// The most that backward holds at a time over what forward left behind: gradients of results, from the making of their
// first part to the backward of their producer, and of parameters, from their first part on for as long as they last,
// less the storages that no earlier node's backward reads. A further part is whole before it is added.
Bytes backward_excess(const Graph& graph, Lasting gradients, Keeper keeper);

}  // namespace tbd::storage
