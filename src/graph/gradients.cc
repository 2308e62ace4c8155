#include <algorithm>
#include <set>

#include "graph/graph.h"
#include "graph/storage.h"

namespace tbd {
namespace {

using storage::at;

// Operands of the node that gradients pass: float ones that are no constants.
std::vector<ValueId> differentiable_operands(const Graph& graph, const BoundNode& node) {
  std::vector<ValueId> out;
  if (!traits(node.op).differentiable) return out;
  const std::vector<Shape> in = graph.operands(node).in;
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (is_float(graph.value(node.inputs[i]).dtype) && !is_constant(role(node.op, i, in)))
      out.push_back(node.inputs[i]);
  return out;
}

// Values that the trained parameters reach through differentiable ops.
std::vector<bool> reached_from(const Graph& graph, const std::vector<ValueId>& sources) {
  std::vector<bool> reached(graph.values.size());
  for (const ValueId id : sources) reached[at(id)] = true;
  for (const BoundNode& node : graph.nodes) {
    bool any = false;
    for (const ValueId id : differentiable_operands(graph, node)) any = any || reached[at(id)];
    for (const ValueId id : node.outputs)
      if (is_float(graph.value(id).dtype)) reached[at(id)] = reached[at(id)] || any;
  }
  return reached;
}

// Values that reach one of the targets through differentiable ops.
std::vector<bool> reaching(const Graph& graph, const std::vector<ValueId>& targets) {
  std::vector<bool> reaching(graph.values.size());
  for (const ValueId id : targets) reaching[at(id)] = true;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    bool any = false;
    for (const ValueId id : node->outputs) any = any || reaching[at(id)];
    if (!any) continue;
    for (const ValueId id : differentiable_operands(graph, *node)) reaching[at(id)] = true;
  }
  return reaching;
}

std::vector<bool> both(std::vector<bool> a, const std::vector<bool>& b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] = a[i] && b[i];
  return a;
}

// The gradient of sum(y) by x, written out, is one data-gradient node per node between x and y; its own backward has,
// for each, the gradient of that node's incoming gradient and, where the weight is trained, of the weight: as much
// work again, each. Only matrix-like work is counted (docs/conventions.md: D forward, 2 D backward).
NodeCost input_gradient_cost(const Graph& graph, const BoundNode& node, const std::vector<bool>& needs) {
  const std::vector<bool> path = both(reached_from(graph, {node.inputs[1]}), reaching(graph, {node.inputs[0]}));
  NodeCost cost;
  const bool trained = needs[at(node.outputs[0])];
  for (const BoundNode& each : graph.nodes) {
    if (&each == &node) break;
    if (!path[at(each.outputs[0])]) continue;
    const Cost data = backward_cost(each.op, operands_with_needs(graph, each, path));
    cost.forward += {.model = data.model, .valid = data.valid, .bytes = data.bytes};
    if (!trained) continue;
    cost.backward += {.model = data.model, .valid = data.valid, .bytes = data.bytes};
    Operands weights = operands_with_needs(graph, each, needs);
    for (size_t i = 0; i < each.inputs.size(); ++i)
      if (path[at(each.inputs[i])]) weights.needs_gradient[i] = false;
    const Cost weight = backward_cost(each.op, weights);
    cost.backward += {.model = weight.model, .valid = weight.valid, .bytes = weight.bytes};
  }
  return cost;
}

// Every use of a value beyond its last adds its gradient to the sum of the later ones.
void add_gradient_sums(const Graph& graph, const std::vector<bool>& needs, std::vector<NodeCost>& costs) {
  std::set<ValueId> seen;
  for (size_t n = graph.nodes.size(); n-- > 0;) {
    const BoundNode& node = graph.nodes[n];
    if (std::ranges::none_of(node.outputs, [&](ValueId id) { return needs[at(id)]; })) continue;
    for (const ValueId id : differentiable_operands(graph, node))
      if (needs[at(id)] && !seen.insert(id).second)
        costs[n].backward += {.simd = graph.value(id).shape.elements(), .bytes = 3 * graph.value(id).bytes().value};
  }
}

}  // namespace

std::vector<bool> gradient_needs(const Graph& graph) {
  std::vector<ValueId> losses;
  for (const BoundTerm& term : graph.loss) losses.push_back(term.value);
  return both(reached_from(graph, graph.trained), reaching(graph, losses));
}

Operands operands_with_needs(const Graph& graph, const BoundNode& node, const std::vector<bool>& needs) {
  Operands o = graph.operands(node);
  const std::vector<ValueId> passing = differentiable_operands(graph, node);
  for (const ValueId id : node.inputs)
    o.needs_gradient.push_back(needs[at(id)] && std::ranges::find(passing, id) != passing.end());
  return o;
}

std::vector<NodeCost> node_costs(const Graph& graph) {
  const std::vector<bool> needs = gradient_needs(graph);
  std::vector<NodeCost> costs;
  for (const BoundNode& node : graph.nodes) {
    if (std::holds_alternative<InputGradient>(node.op)) {
      costs.push_back(input_gradient_cost(graph, node, needs));
      continue;
    }
    const Operands o = operands_with_needs(graph, node, needs);
    bool carries = false;
    for (const ValueId id : node.outputs) carries = carries || needs[at(id)];
    costs.push_back({forward_cost(node.op, o), carries ? backward_cost(node.op, o) : Cost{}});
  }
  add_gradient_sums(graph, needs, costs);
  return costs;
}

}  // namespace tbd
