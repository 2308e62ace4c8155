// A bound phase made ready to run: its nodes in order, with what liveness says about each.
#pragma once
#include <utility>
#include <vector>

#include "backends/pytorch/lowering.h"
#include "graph/graph.h"

namespace tbd::pytorch {

struct PlannedNode {
  const Op* op;  // of the graph, which outlives the plan
  std::vector<ValueId> in, out;
  std::vector<ValueId> release;  // results that no later node, loss or output reads
  std::vector<ValueId> sources;  // results that an input_gradient differentiates by: made to require a gradient
  NodeUse use;
  mutable std::vector<at::Tensor> constants;  // made by the lowering at the first run
};

struct Plan {
  std::vector<PlannedNode> nodes;
  std::vector<ValueId> source_inputs;  // inputs of the phase that an input_gradient differentiates by
  bool differentiates = false;         // an input_gradient runs inside forward
};

// Without `obey_liveness` nothing is overwritten and all results live to the end of the phase.
Plan make_plan(const Graph& graph, bool obey_liveness = true);

// `value` so that autograd tracks it: itself, or a leaf of the same storage.
at::Tensor gradient_source(const at::Tensor& value);

// Lowers each node with torch's kernels.
struct LowerToTorch {
  template <class OneOp>
  auto operator()(const OneOp& op, const Args& in) const {
    return lower(op, in);
  }
};

inline void put(at::Tensor&& result, const PlannedNode& node, std::vector<at::Tensor>& values) {
  values[static_cast<size_t>(node.out[0])] = std::move(result);
}
inline void put(std::vector<at::Tensor>&& results, const PlannedNode& node, std::vector<at::Tensor>& values) {
  for (size_t i = 0; i < results.size(); ++i) values[static_cast<size_t>(node.out[i])] = std::move(results[i]);
}

// Forward: `values` holds inputs, parameters and buffers by ValueId and takes the results. `kernels` is called once a
// node with its op and operands; a benchmark passes one that does nothing to measure this loop alone.
template <class Kernels>
void run_forward(const Plan& plan, std::vector<at::Tensor>& values, const Kernels& kernels) {
  for (const PlannedNode& node : plan.nodes) {
    const Args in(values.data(), node.in, node.use, node.constants);
    std::visit([&](const auto& op) { put(kernels(op, in), node, values); }, *node.op);
    for (const ValueId id : node.sources) {
      at::Tensor& value = values[static_cast<size_t>(id)];
      value = gradient_source(value);
    }
    for (const ValueId id : node.release) values[static_cast<size_t>(id)].reset();
  }
}

}  // namespace tbd::pytorch
