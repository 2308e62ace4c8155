#include "runner/equivalence/node_local.h"

#include <algorithm>
#include <cmath>

#include "runner/equivalence/tolerance.h"
#include "runner/equivalence/update_rule.h"

namespace tbd {
namespace {

// Roundings of one update: decay, slots, root and step, for three steps.
constexpr double kUpdateRoundings = 16;

// "output/n3" is the result, "output/n3.r1" result 1, "grad/n3.x0" the gradient of x0.
std::string what(const std::string& tensor, const std::string& label) {
  if (tensor == "output/" + label) return "result";
  if (tensor.starts_with("output/")) return "result " + tensor.substr(tensor.rfind(".r") + 2);
  const std::string operand = tensor.substr(tensor.find(label + ".") + label.size() + 1);
  return tensor.starts_with("grad/") ? "gradient of " + operand : operand + " after the step";
}

Finding judge(const NodeCase& node, const std::string& tensor, const NodeReference& reference, const TensorMap& got,
              DType dtype) {
  Finding finding{.where = cat(node.kind, " '", node.node, "'"), .what = what(tensor, node.label)};
  const double allowed = tolerance(node.op, node.operands, dtype);
  finding.source = cat("c eps sqrt(n), n = ", reduction_length(node.op, node.operands));
  const auto found = got.find(tensor);
  if (found == got.end()) {
    finding.missing = "the framework gave none";
    return finding;
  }
  const HostTensor& exact = reference.exact.at(tensor);
  if (found->second.shape() != exact.shape()) {
    finding.missing = cat("shape ", found->second.shape(), " in place of ", exact.shape());
    return finding;
  }
  double scale = largest(exact);
  if (rounding(node.op, node.operands).smooth)
    scale = std::max(scale, largest_difference(reference.moved.at(tensor), exact) / epsilon(DType::f32));
  finding.error = largest_difference(found->second, exact);
  finding.bound = allowed * scale;
  finding.worst = worst_element(found->second, exact);
  return finding;
}

}  // namespace

GateResult judge_nodes(const NodeProgram& nodes, const NodeReference& reference, const TensorMap& got, DType dtype) {
  GateResult result{.gate = Gate::node, .worst = {}, .failed = {}};
  for (const NodeCase& node : nodes.cases)
    for (const std::string& tensor : node.judged) result.add(judge(node, tensor, reference, got, dtype));
  return result;
}

GateResult judge_rule(const Update& update, const NodeProgram& nodes, const std::vector<TensorMap>& exact,
                      const std::vector<TensorMap>& got, DType dtype, bool rounds_betas) {
  GateResult result{.gate = Gate::rule, .worst = {}, .failed = {}};
  if (nodes.program.phases.size() < 2) return result;
  const auto is_rule = [](const std::string& name) {
    return name.starts_with("param/rule.") || name.starts_with("state/rule.");
  };
  std::vector<Finding> missing;
  for (const auto& [name, tensor] : exact.back())
    for (const TensorMap& step : got)
      if (is_rule(name) && !step.contains(name) && missing.empty())
        missing.push_back({.where = name, .what = "value", .missing = "the framework gave none"});
  for (const Finding& finding : missing) {
    result.add(finding);
    return result;
  }
  for (const RuleNumber& number : recovered_rule(update, nodes, got.at(0), got.at(1)))
    result.add({.where = "update rule",
                .what = number.name,
                .error = std::abs(number.recovered - number.declared),
                .bound = kRuleTolerance * std::max(std::abs(number.declared), 1e-6),
                .source = "recovered from the update, to 1e-3",
                .worst = WorstElement{{}, number.recovered, number.declared}});
  for (const auto& [name, tensor] : exact.back()) {
    if (!is_rule(name)) continue;
    const double decay = rounds_betas ? rounded_decay(update.optimizer, name, dtype) : 0;
    result.add({.where = name,
                .what = cat("value after ", exact.size(), " updates"),
                .error = largest_difference(got.back().at(name), tensor),
                .bound = (kUpdateRoundings * epsilon(dtype) + decay) * largest(tensor),
                .source = decay > 0 ? "16 eps and a rounded beta" : "16 eps",
                .worst = worst_element(got.back().at(name), tensor)});
  }
  return result;
}

}  // namespace tbd
