#include <algorithm>
#include <set>

#include "worker/inputs.h"

namespace tbd {
namespace {

constexpr std::string_view kMask = "mask/";

template <class... Ops>
bool is_any(const Op& op) {
  return (std::holds_alternative<Ops>(op) || ...);
}

// Whether a node reads the value, or what ops that keep its elements make of it, in a way that `wanted` knows.
bool read(const Graph& graph, ValueId value,
          bool (*wanted)(const BoundNode& node, size_t operand, const Graph& graph)) {
  std::vector<bool> same(graph.values.size());
  same[static_cast<size_t>(value)] = true;
  for (const BoundNode& node : graph.nodes)
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!same[static_cast<size_t>(node.inputs[i])]) continue;
      if (wanted(node, i, graph)) return true;
      const bool moved =
          is_any<Reshape, Concat, Slice, Transpose, Cast>(node.op) || (is_any<Gather>(node.op) && i == 0);
      if (moved) same[static_cast<size_t>(node.outputs[0])] = true;
    }
  return false;
}

bool indexes(const BoundNode& node, size_t operand, const Graph&) {
  return operand == 0 ? is_any<Embedding>(node.op) : operand == 1 && is_any<SoftmaxCrossEntropy, Gather, Lstm>(node.op);
}

// 0 or 1: which places hold tokens, which rows of a loss count.
bool tells_places(const BoundNode& node, size_t operand, const Graph&) {
  return (operand == 0 && is_any<Sinusoid>(node.op)) || (operand == 2 && is_any<SoftmaxCrossEntropy>(node.op));
}

bool masks_scores(const BoundNode& node, size_t operand, const Graph& graph) {
  return is_any<Attention>(node.op) && operand == 3 && graph.value(node.inputs[3]).shape.rank() == 2;
}

std::optional<double> padding_of(const Graph& graph, ValueId value) {
  if (!is_float(graph.value(value).dtype)) return std::nullopt;
  if (read(graph, value, masks_scores)) return -1e4;
  return read(graph, value, tells_places) ? std::optional(0.0) : std::nullopt;
}

std::optional<double> keep_of(const Graph& graph, const std::string& input) {
  if (!input.starts_with(kMask)) return std::nullopt;
  for (const BoundNode& node : graph.nodes)
    if (node.name == input.substr(kMask.size()))
      if (const std::optional<double> rate = dropout_rate(node.op)) return 1 - *rate;
  return std::nullopt;
}

}  // namespace

InputNeeds input_needs(const Program& program, const Bindings& bindings, int64_t world) {
  InputNeeds needs;
  needs.batch = bindings.contains("N") ? bindings.at("N") : 1;
  needs.world = world, needs.text = text_preset(program.model, program.config);
  std::map<std::string, Graph> graphs;
  for (const Phase& phase : program.phases) {
    const Graph& graph = graphs.emplace(phase.name, bind(program, phase, bindings)).first->second;
    for (const LossTerm& term : phase.loss) {
      const std::string name = cat(kNormPrefix, term.name);
      const double samples = static_cast<double>(needs.batch * phase.accumulate * world);
      needs.norms[name] = scalar_tensor(term.norm / samples, graph.value(graph.find(name).value()).dtype);
      needs.numerators[name] = term.norm;
    }
  }
  std::set<std::pair<std::string, int64_t>> groups;
  for (const StepInput& input : step_inputs(program)) {
    groups.insert({input.phase, input.run});
    const Graph& graph = graphs.at(input.phase);
    const ValueId id = graph.find(input.spec->name).value();
    const Value& value = graph.value(id);
    if (input.spec->name.starts_with(kNormPrefix)) {
      needs.norms[input.name] = needs.norms[input.spec->name];
      continue;
    }
    const IntegerRange range = integer_range(graph, id);
    needs.inputs.push_back({.name = input.name,
                            .base = input.spec->name,
                            .group = static_cast<int64_t>(groups.size()) - 1,
                            .shape = value.shape,
                            .dtype = value.dtype,
                            .least = range.first,
                            .classes = range.last + 1,
                            .besides = range.besides,
                            .indexes = !is_float(value.dtype) && read(graph, id, indexes),
                            .keep = keep_of(graph, input.spec->name),
                            .padding = padding_of(graph, id)});
  }
  needs.groups = std::max<int64_t>(1, static_cast<int64_t>(groups.size()));
  return needs;
}

}  // namespace tbd
