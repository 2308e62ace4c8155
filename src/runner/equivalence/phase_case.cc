#include "runner/equivalence/phase_case.h"

namespace tbd {
namespace {

std::vector<Dim> dims(const Shape& shape) { return {shape.extents().begin(), shape.extents().end()}; }

std::string result_name(const std::string& node, size_t result) { return result == 0 ? node : cat(node, ":", result); }

// What a framework may have trouble with in a name stands out.
std::string host_name(const std::string& node, size_t result) { return cat("host/", node, ".", result); }

}  // namespace

Program alone(const Program& program, const std::string& phase) {
  Program out = program;
  out.phases = {program.phase(phase)};
  out.step = {{.phase = phase}};
  return out;
}

Program tapped(const Program& program, const Bindings& bindings) {
  Program out = program;
  Phase& phase = out.phases.front();
  const Graph graph = bind(program, program.phases.front(), bindings);
  const std::vector<bool> needs = gradient_needs(graph);
  ParameterGroup trained = {.parameters = phase.wrt()};
  phase.nodes.clear(), phase.outputs.clear(), phase.accumulate = 1;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const BoundNode& bound = graph.nodes[n];
    Node node = program.phases.front().nodes[n];
    for (size_t r = 0; r < bound.outputs.size(); ++r) {
      const std::string name = result_name(node.name, r);
      phase.outputs["tap/" + name] = name;
    }
    const ValueId result = bound.outputs.front();
    const bool probed = bound.outputs.size() == 1 && needs[static_cast<size_t>(result)];
    if (!probed) {
      phase.nodes.push_back(std::move(node));
      continue;
    }
    const std::string name = node.name, probe = "probe/" + name;
    out.parameters.push_back({.name = probe, .shape = graph.value(result).shape, .dtype = graph.value(result).dtype});
    trained.parameters.push_back(probe);
    node.name = "raw/" + name;
    phase.nodes.push_back(node);
    phase.nodes.push_back({name, Binary{Binary::Function::add}, {node.name, probe}});
  }
  phase.update = {.groups = {trained}, .schedule = {.base = 0}};
  return out;
}

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
