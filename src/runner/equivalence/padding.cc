#include "runner/equivalence/padding.h"

#include <algorithm>

#include "runner/equivalence/phase_case.h"

namespace tbd {
namespace {

// The elements of a value that is an input; empty for others.
std::vector<double> given(const Graph& graph, ValueId id, const TensorMap& inputs) {
  const auto found = inputs.find(graph.value(id).name);
  return found == inputs.end() || graph.value(id).kind != Value::Kind::input ? std::vector<double>{}
                                                                             : as_doubles(found->second);
}

std::vector<bool> uncounted_rows(const Graph& graph, const BoundNode& node, const TensorMap& inputs) {
  const auto& loss = std::get<SoftmaxCrossEntropy>(node.op);
  const std::vector<double> labels = given(graph, node.inputs[1], inputs);
  std::vector<double> weights;
  if (node.inputs.size() > 2) weights = given(graph, node.inputs[2], inputs);
  std::vector<bool> rows(static_cast<size_t>(graph.value(node.inputs[1]).shape.elements()));
  for (size_t i = 0; i < labels.size(); ++i)
    rows[i] = loss.ignore >= 0 && labels[i] == static_cast<double>(loss.ignore);
  for (size_t i = 0; i < weights.size(); ++i) rows[i] = rows[i] || weights[i] == 0;
  return rows;
}

template <class T>
void clear_rows(std::span<T> values, const std::vector<bool>& rows) {
  const size_t width = values.size() / rows.size();
  for (size_t row = 0; row < rows.size(); ++row)
    if (rows[row]) std::ranges::fill(values.subspan(row * width, width), T{});
}

}  // namespace

// Outputs hold what the last micro-batch gave.
Padding::Padding(const Program& program, const Bindings& bindings, const TensorMap& inputs) {
  const Phase& phase = program.phases.front();
  const Graph graph = bind(program, phase, bindings);
  const TensorMap last = inputs_of_run(program, inputs, phase.accumulate - 1);
  for (const BoundNode& node : graph.nodes) {
    if (!std::holds_alternative<SoftmaxCrossEntropy>(node.op)) continue;
    const std::vector<bool> rows = uncounted_rows(graph, node, last);
    if (std::ranges::find(rows, true) == rows.end()) continue;
    for (const auto& [name, value] : graph.outputs)
      if (value == node.inputs[0]) rows_["output/" + name] = rows;
  }
}

void Padding::clear(TensorMap& tensors) const {
  for (const auto& [name, rows] : rows_) {
    const auto found = tensors.find(name);
    if (found == tensors.end() || found->second.shape().elements() % static_cast<int64_t>(rows.size()) != 0) continue;
    if (found->second.dtype() == DType::f64)
      clear_rows(found->second.as<double>(), rows);
    else if (found->second.dtype() == DType::f32)
      clear_rows(found->second.as<float>(), rows);
  }
}

}  // namespace tbd
