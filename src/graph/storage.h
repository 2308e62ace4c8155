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
// What comes and goes with a step at its worst moments.
struct StepPeak {
  Bytes kept;   // the most that is held at a time of what backward reads, and of outputs
  Bytes above;  // what all is at its greatest, over that
};
// Of the nodes in the order that the framework takes them in, with `saved` by node (graph/memory.h): gradients of
// results from the making of their first part to the backward of their producer, and of parameters from their first
// part on for as long as they last; a further part is whole before it is added. A storage goes with the backward that
// is the last to read it.
StepPeak step_peak(const Graph& graph, const std::vector<Bytes>& saved, Lasting gradients, Keeper keeper);

}  // namespace tbd::storage
