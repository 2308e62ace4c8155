// What an op expects of its operands beside their shapes: how many, which kind, which element types.
#pragma once
#include "graph/graph.h"

namespace tbd {

// Operands that are data; parameters and buffers follow them. `given` decides where both counts are allowed.
size_t data_operands(const Op& op, size_t given);

// Throws Error(invalid) unless the node's operands have the count, shapes, kinds and types that its op asks for.
void check_operands(const Graph& graph, const BoundNode& node);

}  // namespace tbd
