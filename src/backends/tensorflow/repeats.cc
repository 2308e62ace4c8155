#include "backends/tensorflow/repeats.h"

#include <algorithm>

namespace tbd::tensorflow {
namespace {

struct Range {
  int64_t begin, end;
  size_t node;
};

// The sizes of the distinct ranges, in order, if they cover [0, extent) and do not overlap; else empty.
std::vector<int64_t> sizes_of(const std::vector<Range>& sorted, int64_t extent) {
  std::vector<int64_t> sizes;
  int64_t begin = 0, end = 0;  // of the part before
  for (const Range& range : sorted) {
    if (!sizes.empty() && range.begin == begin && range.end == end) continue;
    if (range.begin != end) return {};
    begin = range.begin;
    end = range.end;
    sizes.push_back(end - begin);
  }
  return end == extent ? sizes : std::vector<int64_t>{};
}

bool differentiates_twice(const Graph& graph) {
  return std::ranges::any_of(graph.nodes,
                             [](const BoundNode& node) { return std::holds_alternative<InputGradient>(node.op); });
}

}  // namespace

std::map<size_t, SlicePart> slices_of_wholes(const Graph& graph) {
  if (differentiates_twice(graph)) return {};
  std::map<std::pair<ValueId, int64_t>, std::vector<Range>> by_operand;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto* slice = std::get_if<Slice>(&graph.nodes[i].op);
    if (!slice) continue;
    const ValueId x = graph.nodes[i].inputs[0];
    const int64_t end = slice->end == 0 ? graph.value(x).shape[slice->axis] : slice->end;
    by_operand[{x, slice->axis}].push_back({slice->begin, end, i});
  }
  const std::vector<bool> needs = gradient_needs(graph);
  const auto needed = [&](const Range& range) {
    return needs[static_cast<size_t>(graph.nodes[range.node].outputs[0])];
  };
  std::map<size_t, SlicePart> out;
  for (auto& [operand, ranges] : by_operand) {
    std::ranges::sort(ranges, {}, [](const Range& range) { return std::pair(range.begin, range.end); });
    const std::vector<int64_t> sizes = sizes_of(ranges, graph.value(operand.first).shape[operand.second]);
    const auto with_gradient = std::ranges::count_if(ranges, needed);
    if (sizes.size() < 2 || (with_gradient != 0 && with_gradient != std::ssize(ranges))) continue;
    int index = 0;
    for (size_t i = 0; i < ranges.size(); ++i) {
      if (i > 0 && ranges[i].begin != ranges[i - 1].begin) ++index;
      out[ranges[i].node] = {index, sizes};
    }
  }
  return out;
}

std::map<ValueId, int64_t> weight_uses(const Graph& graph) {
  std::map<ValueId, int64_t> out;
  if (differentiates_twice(graph)) return out;
  const auto count = [&](ValueId weight, const Shape& x) {
    const Shape& shape = graph.value(weight).shape;
    if (worth_stacking(x.elements() / x.back(), shape[1], shape[0])) ++out[weight];
  };
  for (const BoundNode& node : graph.nodes) {
    const auto shape = [&](size_t operand) { return graph.value(node.inputs[operand]).shape; };
    if (std::holds_alternative<Linear>(node.op)) count(node.inputs[1], shape(0));
    if (std::holds_alternative<LstmCell>(node.op)) {
      count(node.inputs[3], shape(0));
      count(node.inputs[4], shape(1));
    }
  }
  return out;
}

}  // namespace tbd::tensorflow
