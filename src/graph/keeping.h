// What backward keeps, by framework. Ops say what PyTorch keeps on a CPU (Traits and kept_bytes, graph/ops/common.h);
// where the kernels or the gradients of another framework keep something else, it is said here.
#pragma once
#include "graph/graph.h"

namespace tbd {

enum class Keeper { pytorch, tensorflow, mxnet };
// Of "tensorflow" or "tensorflow@2.11"; PyTorch where nothing is known of the framework.
Keeper keeper_of(std::string_view framework);
// The same. Throws Error(usage) where nothing is known, with the names of what is.
Keeper known_keeper(std::string_view framework);

Traits traits(const Graph& graph, const BoundNode& node, Keeper keeper);
std::vector<size_t> saved_inputs(const Traits& rules, size_t operands);  // of a node with so many
// Bytes that backward keeps beside operands and results.
int64_t kept_bytes(const Op& op, const Operands& o, Keeper keeper);
// Bytes that forward takes for as long as the op runs, where it is made of several.
int64_t passing_bytes(const Op& op, const Operands& o, Keeper keeper);
// Whether the operands' gradients take the place of what backward keeps beside.
bool makes_gradient_in_place(const Op& op, Keeper keeper);
// Whether outputs stay until the step ends, or are made where they are asked for alone.
bool keeps_outputs(Keeper keeper);
// Whether the update takes each gradient of a parameter as soon as it is made, beside the rest of backward.
bool updates_in_backward(const Update& update, Keeper keeper);

// As liveness(graph), where this framework's backward reads what it reads.
Liveness liveness(const Graph& graph, Keeper keeper);

}  // namespace tbd
