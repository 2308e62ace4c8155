#include "backends/mxnet/identity.h"

#include "backends/mxnet/gpu.h"
#include "backends/mxnet/lowering.h"
#include "backends/mxnet/optimizer.h"
#include "graph/expand.h"

namespace tbd::mxnet {
namespace {

// Why the phase's input_gradients have no ordinary nodes; empty where they have.
std::string why_not_expanded(Program program, const Phase& phase) {
  program.phases = {phase};
  try {
    expanded(std::move(program));
    return "";
  } catch (const Error& e) {
    return e.what();
  }
}

}  // namespace

SessionIdentity describe_mxnet() {
  SessionIdentity out = {.framework = "mxnet", .version = library_version(), .modes = {Mode::kGraph}};
  out.devices = usable_gpus();
  out.devices.insert(out.devices.begin(), Device::kCpu);
  out.precisions = {Precision::kFp64, Precision::kFp32};
  out.layouts = {ImageLayout::kNchw};
  out.passes = {Pass::kClean, Pass::kTrace, Pass::kMemory};
  out.exchanges = {"kvstore"};
  out.build["status"] = "retired upstream";
  out.build["features"] = join(library_features(), ", ");
  using Kind = Optimizer::Kind;
  const auto path = [](const Optimizer& optimizer) { return optimizer_path(optimizer, DType::f32); };
  out.build["optimizer.sgd"] = path({.momentum = 0.9});
  out.build["optimizer.sgd_nesterov"] = path({.momentum = 0.9, .nesterov = true});
  out.build["optimizer.adam"] = path({.kind = Kind::adam});
  out.build["optimizer.adamw"] = path({.kind = Kind::adamw});
  out.build["optimizer.lamb"] = path({.kind = Kind::lamb});
  return out;
}

std::vector<NodeSupport> check_nodes(const Program& program) {
  std::map<const Phase*, std::string> faults;
  for (const Phase& phase : program.phases) faults[&phase] = why_not_expanded(program, phase);
  return check_each_node(program, [&](const Phase& phase, const Node& node) {
    const std::string& fault = faults.at(&phase);
    if (!fault.empty() && std::holds_alternative<InputGradient>(node.op)) return unsupported(fault);
    return std::visit([&](const auto& op) { return lowered_as(op, node.inputs.size()); }, node.op);
  });
}

}  // namespace tbd::mxnet
