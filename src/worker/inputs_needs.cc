#include <algorithm>
#include <set>

#include "worker/inputs.h"

namespace tbd {
namespace {

constexpr std::string_view kMask = "mask/";

// Whether a node reads the value, or what ops that keep its elements make of it, as an operand of that role.
bool read_as(const Graph& graph, ValueId value, Role wanted) {
  std::vector<bool> same(graph.values.size());
  same[static_cast<size_t>(value)] = true;
  for (const BoundNode& node : graph.nodes) {
    const std::vector<Shape> in = graph.operands(node).in;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!same[static_cast<size_t>(node.inputs[i])]) continue;
      const Role found = role(node.op, i, in);
      if (found == wanted) return true;
      if (found == Role::moved) same[static_cast<size_t>(node.outputs[0])] = true;
    }
  }
  return false;
}

std::optional<double> padding_of(const Graph& graph, ValueId value) {
  if (!is_float(graph.value(value).dtype)) return std::nullopt;
  if (read_as(graph, value, Role::scores)) return -1e4;
  return read_as(graph, value, Role::places) ? std::optional(0.0) : std::nullopt;
}

std::optional<double> keep_of(const Graph& graph, const std::string& input) {
  if (!input.starts_with(kMask)) return std::nullopt;
  for (const BoundNode& node : graph.nodes)
    if (node.name == input.substr(kMask.size()))
      if (const std::optional<double> rate = dropout_rate(node.op)) return 1 - *rate;
  return std::nullopt;
}

// The name of the same input in the batch of one worker that accumulates as often as all ranks together.
std::string stream_of(const Program& program, const StepInput& input, RankPlace place) {
  if (place.world == 1) return input.name;
  Program whole;
  whole.phases.push_back({.name = input.phase, .accumulate = program.phase(input.phase).accumulate * place.world});
  const StepEntry& entry = *std::ranges::find(program.step, input.phase, &StepEntry::phase);
  return input_name(whole, entry, input.run * place.world + place.rank, input.spec->name);
}

}  // namespace

InputNeeds input_needs(const Program& program, const Bindings& bindings, RankPlace place) {
  InputNeeds needs;
  needs.batch = bindings.contains("N") ? bindings.at("N") : 1;
  needs.place = place;
  std::map<std::string, Graph> graphs;
  for (const StepEntry& entry : program.step) {
    const Phase& phase = program.phase(entry.phase);
    const Graph& graph = graphs.emplace(phase.name, bind(program, phase, bindings)).first->second;
    for (const LossTerm& term : phase.loss) {
      const std::string name = cat(kNormPrefix, term.name);
      const double samples = static_cast<double>(needs.batch * phase.accumulate * place.world);
      const DType dtype = graph.value(graph.find(name).value()).dtype;
      const auto [norm, fresh] = needs.norms.emplace(name, scalar_tensor(term.norm / samples, dtype));
      require(fresh || as_doubles(norm->second) == as_doubles(scalar_tensor(term.norm / samples, dtype)), "loss term '",
              term.name, "' of two phases needs two norms, but '", name, "' is one number");
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
      needs.numerators[input.name] = needs.numerators[input.spec->name];
      continue;
    }
    const auto [range, bound] = allowed_integers(graph, id);
    needs.inputs.push_back({.name = input.name,
                            .base = input.spec->name,
                            .stream = stream_of(program, input, place),
                            .group = static_cast<int64_t>(groups.size()) - 1,
                            .shape = value.shape,
                            .dtype = value.dtype,
                            .least = range.first,
                            .classes = range.last + 1,
                            .besides = range.besides,
                            .indexes = bound == Integers::Bound::strict,
                            .keep = keep_of(graph, input.spec->name),
                            .padding = padding_of(graph, id)});
  }
  needs.groups = std::max<int64_t>(1, static_cast<int64_t>(groups.size()));
  return needs;
}

}  // namespace tbd
