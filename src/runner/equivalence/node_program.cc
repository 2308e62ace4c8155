#include "runner/equivalence/node_program.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/philox.h"
#include "graph/graph.h"
#include "runner/equivalence/phase_case.h"
#include "runner/equivalence/update_rule.h"

namespace tbd {
namespace {

constexpr const char* kPhase = "nodes";

std::string why_not_alone(const Graph& graph, const BoundNode& node) {
  if (std::holds_alternative<HostCall>(node.op)) return "its results are injected";
  if (std::holds_alternative<InputGradient>(node.op)) return "a gradient of other nodes: the whole step judges it";
  if (!is_float(graph.value(node.outputs[0]).dtype)) return "moves integers";
  return "";
}

// Operands without a gradient: labels, ids, masks.
bool is_given(const Graph& graph, const BoundNode& node, size_t operand) {
  if (!is_float(graph.value(node.inputs[operand]).dtype)) return true;
  return is_constant(node.op, operand, graph.operands(node).in);
}

class NodeProgramBuilder {
 public:
  NodeProgramBuilder(const Graph& graph, const TensorMap& values)
      : graph_(graph), values_(values), needs_(gradient_needs(graph)) {
    out_.program = {.model = "nodes", .config = graph.phase};
    out_.program.phases = {{.name = kPhase}};
    out_.program.step = {{.phase = kPhase}};
  }

  NodeProgram build() {
    for (const BoundNode& node : graph_.nodes) {
      const std::string reason = why_not_alone(graph_, node);
      if (reason.empty())
        add(node);
      else
        out_.left_out.push_back(cat(node.name, ": ", reason));
    }
    phase().update = {.groups = {trained_}, .schedule = {.base = 0}};
    phase().update.groups.front().lr_scale = 0;
    return std::move(out_);
  }

 private:
  Phase& phase() { return out_.program.phases.front(); }

  const HostTensor& value_of(const Value& value) const {
    const std::string name = value.kind == Value::Kind::result ? "tap/" + value.name : value.name;
    const auto found = values_.find(name);
    require(found != values_.end(), "the reference run did not capture '", name, "'");
    return found->second;
  }

  void add(const BoundNode& bound) {
    NodeCase made{.label = cat("n", out_.cases.size()), .node = bound.name, .kind = kind(bound.op), .op = bound.op};
    for (size_t r = 0; r < bound.outputs.size(); ++r) {
      made.judged.push_back("output/" + result_label(made.label, r));
      made.backward = made.backward || needs_[static_cast<size_t>(bound.outputs[r])];
    }
    for (size_t i = 0; i < bound.inputs.size(); ++i) add_operand(made, bound, i);
    phase().nodes.push_back({made.label, made.op, made.names});
    for (size_t r = 0; r < bound.outputs.size(); ++r) add_result(made.label, r, bound.outputs[r]);
    out_.cases.push_back(std::move(made));
  }

  void add_result(const std::string& node, size_t r, ValueId result) {
    const std::string label = result_label(node, r), value = r == 0 ? node : cat(node, ":", r);
    phase().outputs[label] = value;
    if (needs_[static_cast<size_t>(result)]) add_loss(label, value, graph_.value(result));
  }

  void add_operand(NodeCase& made, const BoundNode& bound, size_t i) {
    const Value& value = graph_.value(bound.inputs[i]);
    const size_t data = data_operands(bound.op, bound.inputs.size());
    const std::string name = cat(made.label, ".", i < data ? cat("x", i) : suffix(bound, i - data));
    made.operands.push_back(value.shape);
    made.names.push_back(name);
    made.sources.push_back(value.name);
    HostTensor tensor = value_of(value);
    if (is_float(value.dtype)) tensor = converted(tensor, DType::f32);
    if (!rounding(bound.op, graph_.operands(bound).in).smooth) tensor = without_ties(tensor);
    if (i < data && is_given(graph_, bound, i)) {
      phase().inputs.push_back({.name = name, .shape = dims(value.shape), .dtype = value.dtype, .like = ""});
      out_.inputs[name] = std::move(tensor);
    } else if (value.kind == Value::Kind::buffer) {
      out_.program.buffers.push_back({.name = name, .shape = value.shape});
      out_.weights["buffer/" + name] = std::move(tensor);
      const auto* norm = std::get_if<BatchNorm>(&bound.op);
      if (norm && norm->stats == BatchNorm::Stats::running) made.judged.push_back("buffer/" + name);
    } else {
      out_.program.parameters.push_back({.name = name, .shape = value.shape});
      out_.weights["param/" + name] = std::move(tensor);
      const bool reached = made.backward && traits(bound.op).differentiable;
      if (reached) {
        trained_.parameters.push_back(name);
        made.judged.push_back("grad/" + name);
      }
    }
  }

  std::string suffix(const BoundNode& bound, size_t parameter) const {
    return parameters(bound.op, graph_.value(bound.inputs.front()).shape).at(parameter).suffix;
  }

  // A scalar is a loss term whose norm is its upstream gradient.
  void add_loss(const std::string& label, const std::string& value, const Value& result) {
    const HostTensor upstream = converted(values_.at("grad/probe/" + result.name), DType::f32);
    if (result.shape.rank() == 0) {
      phase().loss.push_back({label, value, as_doubles(upstream).front()});
      return;
    }
    const std::string up = label + ".up", weighted = label + ".weighted", sum = label + ".sum";
    phase().inputs.push_back({.name = up, .shape = dims(result.shape), .dtype = result.dtype, .like = ""});
    phase().nodes.push_back({weighted, Binary{Binary::Function::mul}, {value, up}});
    phase().nodes.push_back({sum, Reduce{}, {weighted}});
    phase().loss.push_back({label, sum, 1});
    out_.inputs[up] = upstream;
  }

  const Graph& graph_;
  const TensorMap& values_;
  std::vector<bool> needs_;
  ParameterGroup trained_;
  NodeProgram out_;
};

bool belongs(const std::string& name, const std::string& label) {
  return name == label || name.starts_with(label + ".");
}

template <class T, class Name>
void keep_of(std::vector<T>& all, const std::string& label, const Name& name) {
  std::erase_if(all, [&](const T& each) { return !belongs(name(each), label); });
}

std::string after_slash(const std::string& name) { return name.substr(name.find('/') + 1); }

}  // namespace

std::string result_label(const std::string& label, size_t result) {
  return result == 0 ? label : cat(label, ".r", result);
}

HostTensor without_ties(const HostTensor& tensor) {
  HostTensor out = tensor;
  const std::span<float> x = out.as<float>();
  double squares = 0;
  for (const float v : x) squares += static_cast<double>(v) * v;
  const double step = 1e-3 * std::sqrt(squares / std::max<double>(1, static_cast<double>(x.size())));
  const Philox random(0, "ties");
  for (size_t i = 0; i < x.size(); ++i)
    if (x[i] == 0) x[i] = static_cast<float>(-step * (0.001 + random.uniform(i)));
  std::vector<size_t> order(x.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return x[a] < x[b]; });
  for (size_t i = 1; i < order.size(); ++i)
    if (x[order[i]] <= x[order[i - 1]]) x[order[i]] = std::nextafter(x[order[i - 1]], INFINITY);
  return out;
}

NodeProgram node_program(const Program& program, const Bindings& bindings, const TensorMap& values) {
  const Graph graph = bind(program, program.phases.front(), bindings);
  NodeProgram out = NodeProgramBuilder(graph, values).build();
  add_rule(program.phases.front().update, out);
  return out;
}

NodeProgram only(const NodeProgram& all, const NodeCase& wanted) {
  NodeProgram out{.program = all.program, .weights = {}, .inputs = {}, .cases = {wanted}, .left_out = {}};
  const std::string& label = wanted.label;
  const auto named = [](const auto& each) { return each.name; };
  keep_of(out.program.parameters, label, named);
  keep_of(out.program.buffers, label, named);
  std::erase_if(out.program.phases, [](const Phase& phase) { return phase.name != kPhase; });
  out.program.step = {{.phase = kPhase}};
  Phase& phase = out.program.phases.front();
  keep_of(phase.inputs, label, named);
  keep_of(phase.nodes, label, named);
  keep_of(phase.loss, label, named);
  keep_of(phase.update.groups.front().parameters, label, [](const std::string& name) { return name; });
  std::erase_if(phase.outputs, [&](const auto& output) { return !belongs(output.first, label); });
  for (const auto& [name, tensor] : all.weights)
    if (belongs(after_slash(name), label)) out.weights[name] = tensor;
  for (const auto& [name, tensor] : all.inputs)
    if (belongs(name, label)) out.inputs[name] = tensor;
  return out;
}

}  // namespace tbd
