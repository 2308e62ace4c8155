#include <algorithm>

#include "graph/graph.h"

namespace tbd {
namespace {

using Bound = Integers::Bound;

void meet(Integers& known, const Integers& other) {
  if (other.bound != Bound::loose && known.bound != Bound::loose) {
    known.range = {std::max(known.range.first, other.range.first), std::min(known.range.last, other.range.last),
                   known.range.besides == other.range.besides ? known.range.besides : std::nullopt};
    known.bound = std::max(known.bound, other.bound);
  } else if (other.bound != Bound::loose) {
    known = other;
  } else if (known.bound == Bound::loose) {
    known.range.last = std::max(known.range.last, other.range.last);
  }
}

}  // namespace

Integers allowed_integers(const Graph& graph, ValueId value) {
  std::vector<Integers> known(graph.values.size());
  const auto at = [](ValueId id) { return static_cast<size_t>(id); };
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const std::vector<Shape> in = graph.operands(*node).in;
    for (size_t i = 0; i < node->inputs.size(); ++i)
      if (!is_float(graph.value(node->inputs[i]).dtype))
        meet(known[at(node->inputs[i])], allowed_integers(node->op, i, in, known[at(node->outputs[0])]));
  }
  return known[at(value)];
}

IntegerRange integer_range(const Graph& graph, ValueId value) { return allowed_integers(graph, value).range; }

}  // namespace tbd
