#include <algorithm>

#include "graph/graph.h"
#include "graph/storage.h"

namespace tbd {
namespace {

using storage::at;

struct Uses {
  std::vector<int> last;      // the last node that reads the value; its producer if none does; -1 if neither
  std::vector<bool> kept;     // an output, a loss term, or no result at all
  std::vector<bool> saved;    // backward reads it
  std::vector<bool> aliased;  // shares its storage with a view of it, or is a view
};

Uses uses_of(const Graph& graph) {
  const size_t count = graph.values.size();
  Uses uses = {std::vector<int>(count, -1), std::vector<bool>(count), std::vector<bool>(count),
               std::vector<bool>(count)};
  for (size_t id = 0; id < count; ++id) {
    uses.kept[id] = graph.values[id].kind != Value::Kind::result;
    uses.last[id] = graph.values[id].producer;
  }
  for (const BoundTerm& term : graph.loss) uses.kept[at(term.value)] = true;
  for (const auto& [name, id] : graph.outputs) uses.kept[at(id)] = true;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const BoundNode& node = graph.nodes[n];
    const Traits rules = traits(node.op);
    for (const ValueId id : node.inputs) uses.last[at(id)] = static_cast<int>(n);
    for (const size_t operand : saved_inputs(node.op, node.inputs.size())) uses.saved[at(node.inputs[operand])] = true;
    if (rules.saves_output)
      for (const ValueId id : node.outputs) uses.saved[at(id)] = true;
    if (rules.aliases_input) uses.aliased[at(node.inputs[0])] = uses.aliased[at(node.outputs[0])] = true;
    // A second derivative reads whatever lies between x and y: nothing before it may change.
    if (std::holds_alternative<InputGradient>(node.op))
      for (size_t id = 0; id < count; ++id)
        if (graph.values[id].producer < static_cast<int>(n)) uses.saved[id] = true;
  }
  return uses;
}

bool may_take(const Graph& graph, const Uses& uses, size_t n, ValueId operand) {
  const BoundNode& node = graph.nodes[n];
  const Value &from = graph.value(operand), &to = graph.value(node.outputs[0]);
  const size_t id = at(operand);
  return !uses.kept[id] && !uses.saved[id] && !uses.aliased[id] && uses.last[id] == static_cast<int>(n) &&
         std::ranges::count(node.inputs, operand) == 1 && from.shape == to.shape && from.dtype == to.dtype;
}

}  // namespace

Liveness liveness(const Graph& graph) {
  const Uses uses = uses_of(graph);
  Liveness out = {std::vector<std::vector<ValueId>>(graph.nodes.size()),
                  std::vector<std::optional<int>>(graph.nodes.size())};
  for (size_t id = 0; id < graph.values.size(); ++id)
    if (!uses.kept[id]) out.release_after[static_cast<size_t>(uses.last[id])].push_back(static_cast<ValueId>(id));
  for (size_t n = 0; n < graph.nodes.size(); ++n)
    for (const int operand : traits(graph.nodes[n].op).may_overwrite)
      if (!out.overwrite[n] && may_take(graph, uses, n, graph.nodes[n].inputs[static_cast<size_t>(operand)]))
        out.overwrite[n] = operand;
  return out;
}

}  // namespace tbd
