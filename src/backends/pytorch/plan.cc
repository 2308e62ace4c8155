#include "backends/pytorch/plan.h"

#include <algorithm>

namespace tbd::pytorch {
namespace {

// torch differentiates an in-place op on a view by copying: that is no saving. And its in-place leaky_relu needs a
// slope that is not negative.
bool worth_overwriting(const Graph& graph, const BoundNode& node, int operand) {
  const int32_t producer = graph.value(node.inputs[static_cast<size_t>(operand)]).producer;
  const bool view = producer >= 0 && traits(graph.nodes[static_cast<size_t>(producer)].op).aliases_input;
  const auto* unary = std::get_if<Unary>(&node.op);
  return !view && (!unary || unary->slope >= 0);
}

bool shares_weight(const Graph& graph, const BoundNode& node) {
  if (!std::holds_alternative<Embedding>(node.op)) return false;
  return std::ranges::any_of(graph.nodes, [&](const BoundNode& other) {
    return std::holds_alternative<Linear>(other.op) && other.inputs[1] == node.inputs[1];
  });
}

}  // namespace

Plan make_plan(const Graph& graph, bool obey_liveness) {
  Plan plan;
  const Liveness live = liveness(graph);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const BoundNode& node = graph.nodes[n];
    PlannedNode planned = {.op = &node.op, .in = node.inputs, .out = node.outputs};
    planned.use.shares_weight = shares_weight(graph, node);
    if (obey_liveness) {
      planned.release = live.release_after[n];
      for (size_t r = 0; r < node.outputs.size(); ++r)
        if (std::ranges::find(planned.release, node.outputs[r]) != planned.release.end()) planned.use.unread |= 1U << r;
      const std::optional<int> operand = live.overwrite[n];
      if (operand && worth_overwriting(graph, node, *operand)) planned.use.overwrite = *operand;
    }
    plan.nodes.push_back(std::move(planned));
  }
  for (const BoundNode& node : graph.nodes) {
    if (!std::holds_alternative<InputGradient>(node.op)) continue;
    plan.differentiates = true;
    const ValueId x = node.inputs[1];
    const int32_t producer = graph.value(x).producer;
    auto& sources = producer < 0 ? plan.source_inputs : plan.nodes[static_cast<size_t>(producer)].sources;
    if (std::ranges::find(sources, x) == sources.end()) sources.push_back(x);
  }
  return plan;
}

at::Tensor gradient_source(const at::Tensor& value) {
  return value.requires_grad() ? value : value.detach().requires_grad_();
}

}  // namespace tbd::pytorch
