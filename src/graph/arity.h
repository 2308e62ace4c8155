// What an op expects of its operands beside their shapes: how many, which kind, which element types.
#pragma once
#include "graph/graph.h"

namespace tbd {

// Throws Error(invalid) unless the node's operands have the count, shapes, kinds and types that its op asks for.
void check_operands(const Graph& graph, const BoundNode& node);
// Throws Error(invalid) where the phase trains a parameter that the node takes for state.
void check_trained(const Graph& graph, const BoundNode& node);

}  // namespace tbd
