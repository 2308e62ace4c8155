#include <algorithm>

#include "graph/graph.h"

namespace tbd {
namespace {

// What a value may be as far as is known: `indexed` ranges bind, others only say what makes sense.
struct Known {
  IntegerRange range;
  bool indexed = false;
};

void meet(Known& known, const Known& other) {
  if (other.indexed && known.indexed)
    known.range = {std::max(known.range.first, other.range.first), std::min(known.range.last, other.range.last),
                   known.range.besides == other.range.besides ? known.range.besides : std::nullopt};
  else if (other.indexed)
    known = other;
  else if (!known.indexed)
    known.range.last = std::max(known.range.last, other.range.last);
}

// An ignored label that follows the classes is one more; one farther off stands alone.
IntegerRange labels(const SoftmaxCrossEntropy& loss, int64_t classes) {
  if (loss.ignore > classes) return {0, classes - 1, loss.ignore};
  return {0, loss.ignore == classes ? classes : classes - 1};
}

// Labels are what the blank is not: those after it, or where it is the last, those before it.
template <class Extent>
Known of_ctc(const CtcLoss& ctc, size_t i, const Extent& extent) {
  const int64_t classes = extent(0, 2);
  if (i == 2)
    return {ctc.blank + 1 < classes ? IntegerRange{ctc.blank + 1, classes - 1} : IntegerRange{0, ctc.blank - 1}, true};
  return {{1, i == 1 ? extent(0, 1) : extent(2, 1)}, true};
}

// What the node wants of its operand i; for ops that move integers, what their readers want of the result.
Known wanted(const Graph& graph, const BoundNode& node, size_t i, const Known& result) {
  const auto extent = [&](size_t operand, int64_t axis) { return graph.value(node.inputs[operand]).shape[axis]; };
  if (const auto* loss = std::get_if<SoftmaxCrossEntropy>(&node.op); loss && i == 1)
    return {labels(*loss, graph.value(node.inputs[0]).shape.back()), true};
  if (const auto* embedding = std::get_if<Embedding>(&node.op); embedding && i == 0)
    return {{0, embedding->rows - 1}, true};
  if (std::holds_alternative<Gather>(node.op) && i == 1) return {{0, extent(0, 1) - 1}, true};
  if (std::holds_alternative<Lstm>(node.op) || std::holds_alternative<Gru>(node.op)) return {{1, extent(0, 1)}, true};
  if (const auto* mask = std::get_if<SequenceMask>(&node.op)) return {{1, extent(0, mask->axis)}, true};
  if (const auto* length = std::get_if<StridedLength>(&node.op))
    return {{1, (result.range.last - 1) * length->stride + 1}, result.indexed};
  if (const auto* ctc = std::get_if<CtcLoss>(&node.op)) return of_ctc(*ctc, i, extent);
  if (const auto* equals = std::get_if<Equals>(&node.op)) return {{0, std::max<int64_t>(1, equals->value)}};
  return std::holds_alternative<HostCall>(node.op) ? Known{} : result;
}

}  // namespace

IntegerRange integer_range(const Graph& graph, ValueId value) {
  std::vector<Known> known(graph.values.size());
  const auto at = [](ValueId id) { return static_cast<size_t>(id); };
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node)
    for (size_t i = 0; i < node->inputs.size(); ++i)
      if (!is_float(graph.value(node->inputs[i]).dtype))
        meet(known[at(node->inputs[i])], wanted(graph, *node, i, known[at(node->outputs[0])]));
  return known[at(value)].range;
}

}  // namespace tbd
