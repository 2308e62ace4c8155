#include "runner/equivalence/phase_case.h"

#include <algorithm>
#include <map>

namespace tbd {
namespace {

std::string result_name(const std::string& node, size_t result) { return result == 0 ? node : cat(node, ":", result); }

// What a framework may have trouble with in a name stands out.
std::string host_name(const std::string& node, size_t result) { return cat("host/", node, ".", result); }

class Tapping {
 public:
  Tapping(const Program& program, const Bindings& bindings)
      : before_(program.phases.front()),
        graph_(bind(program, before_, bindings)),
        needs_(gradient_needs(graph_)),
        out_(program) {
    trained_.parameters = before_.wrt();
  }

  Program run() {
    phase().nodes.clear();
    phase().outputs.clear();
    phase().accumulate = 1;
    for (size_t n = 0; n < graph_.nodes.size(); ++n) add(before_.nodes[n], graph_.nodes[n]);
    for (LossTerm& term : phase().loss) follow(term.value);
    for (InputSpec& input : phase().inputs) follow(input.like);
    phase().update = {.groups = {trained_}, .schedule = {.base = 0}};
    return std::move(out_);
  }

 private:
  Phase& phase() { return out_.phases.front(); }
  void follow(std::string& name) const {
    if (const auto found = stands_for_.find(name); found != stands_for_.end()) name = found->second;
  }

  void add(Node node, const BoundNode& bound) {
    for (std::string& input : node.inputs) follow(input);
    const std::string name = node.name;
    const bool any = std::ranges::any_of(bound.outputs, [&](ValueId id) { return needed(id); });
    if (any) node.name = "raw/" + name;
    if (any && !node.inputs.empty())  // a mask may be told by the name of its node
      for (InputSpec& input : phase().inputs)
        if (input.like == name && node.inputs.back() == input.name) input.like = node.name;
    phase().nodes.push_back(node);
    for (size_t r = 0; r < bound.outputs.size(); ++r) tap(bound.outputs[r], result_name(node.name, r));
  }

  // `raw`: what the value is called before its probe.
  void tap(ValueId id, const std::string& raw) {
    const Value& value = graph_.value(id);
    if (needed(id)) {
      const std::string probe = "probe/" + value.name;
      out_.parameters.push_back({.name = probe, .shape = value.shape, .dtype = value.dtype});
      trained_.parameters.push_back(probe);
      std::string probed = value.name;
      std::ranges::replace(probed, ':', '.');
      if (probed != value.name) stands_for_[value.name] = probed = "probed/" + probed;
      phase().nodes.push_back({probed, Binary{Binary::Function::add}, {raw, probe}});
    } else if (raw != value.name) {
      stands_for_[value.name] = raw;
    }
    std::string shown = value.name;
    follow(shown);
    phase().outputs["tap/" + value.name] = shown;
  }

  bool needed(ValueId id) const { return needs_[static_cast<size_t>(id)]; }

  const Phase& before_;
  Graph graph_;
  std::vector<bool> needs_;
  Program out_;
  ParameterGroup trained_;
  std::map<std::string, std::string> stands_for_;  // values that have another name now
};

}  // namespace

std::vector<Dim> dims(const Shape& shape) { return {shape.extents().begin(), shape.extents().end()}; }

Program alone(const Program& program, const std::string& phase) {
  Program out = program;
  out.phases = {program.phase(phase)};
  out.step = {{.phase = phase}};
  return out;
}

Program tapped(const Program& program, const Bindings& bindings) { return Tapping(program, bindings).run(); }

bool has_host_calls(const Program& program) {
  for (const Phase& phase : program.phases)
    for (const Node& node : phase.nodes)
      if (std::holds_alternative<HostCall>(node.op)) return true;
  return false;
}

Injected with_host_results(const Program& program, const Bindings& bindings, const std::vector<TensorMap>& values) {
  Injected out{.program = program};
  const Graph graph = bind(program, program.phases.front(), bindings);
  Phase& phase = out.program.phases.front();
  std::map<std::string, std::string> renamed;
  std::vector<Node> nodes;
  for (size_t n = 0; n < phase.nodes.size(); ++n) {
    Node& node = phase.nodes[n];
    for (std::string& input : node.inputs)
      if (const auto found = renamed.find(input); found != renamed.end()) input = found->second;
    if (!std::holds_alternative<HostCall>(node.op)) {
      nodes.push_back(node);
      continue;
    }
    for (size_t r = 0; r < graph.nodes[n].outputs.size(); ++r) {
      const Value& value = graph.value(graph.nodes[n].outputs[r]);
      const std::string name = host_name(node.name, r);
      renamed[value.name] = name;
      phase.inputs.push_back({.name = name, .shape = dims(value.shape), .dtype = value.dtype, .like = ""});
      for (size_t run = 0; run < values.size(); ++run)
        out.inputs[input_name(program, program.step.front(), static_cast<int64_t>(run), name)] =
            converted(values[run].at("tap/" + value.name), value.dtype);
    }
  }
  phase.nodes = nodes;
  for (auto& [output, value] : phase.outputs)
    if (const auto found = renamed.find(value); found != renamed.end()) value = found->second;
  return out;
}

TensorMap inputs_of_run(const Program& program, const TensorMap& inputs, int64_t run) {
  TensorMap out;
  for (const StepInput& input : step_inputs(program)) {
    if (input.run != run && input.name != input.spec->name) continue;
    if (const auto found = inputs.find(input.name); found != inputs.end()) out[input.spec->name] = found->second;
  }
  return out;
}

}  // namespace tbd
