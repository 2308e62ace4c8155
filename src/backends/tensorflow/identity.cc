#include "backends/tensorflow/identity.h"

#include <algorithm>

#include "backends/tensorflow/lowering.h"
#include "backends/tensorflow/optimizer.h"
#include "host/registry.h"

namespace tbd::tensorflow {
namespace {

NodeSupport support(const Phase& phase, const Node& node) {
  NodeSupport out = {.phase = phase.name, .node = node.name, .kind = kind(node.op)};
  const LoweredAs lowered = std::visit([&](const auto& op) { return lowered_as(op, node.inputs.size()); }, node.op);
  out.level = lowered.native ? NodeSupport::Level::native : NodeSupport::Level::composed;
  out.detail = lowered.detail;
  const auto refuse = [&](const std::string& why) { out.level = NodeSupport::Level::unsupported, out.detail = why; };
  if (const auto* call = std::get_if<HostCall>(&node.op)) {
    const std::vector<std::string> known = host_function_names();
    if (std::ranges::find(known, call->function) == known.end())
      refuse(unknown_name("host function", call->function, known));
  }
  if (const auto* cast = std::get_if<Cast>(&node.op); cast && cast->to == DType::f16)
    refuse("fp16: no dynamic loss scale");
  return out;
}

}  // namespace

SessionIdentity describe_tensorflow() {
  SessionIdentity out = {.framework = "tensorflow", .version = TF_Version(), .modes = {"graph", "xla"}};
  out.devices = {"cpu"};
  out.precisions = {"fp64", "fp32", "bf16"};
  out.layouts = {"nhwc"};
  out.passes = {"clean", "trace", "memory"};
  out.build["math"] = "oneDNN and Eigen, as TensorFlow links them";
  out.build["inter_op_threads"] = "1";
  using Kind = Optimizer::Kind;
  out.build["optimizer.sgd"] = optimizer_path(Kind::sgd);
  out.build["optimizer.adam"] = optimizer_path(Kind::adam);
  out.build["optimizer.adamw"] = optimizer_path(Kind::adamw);
  out.build["optimizer.lamb"] = optimizer_path(Kind::lamb);
  return out;
}

std::vector<NodeSupport> check_nodes(const Program& program) {
  std::vector<NodeSupport> out;
  for (const Phase& phase : program.phases)
    for (const Node& node : phase.nodes) out.push_back(support(phase, node));
  return out;
}

}  // namespace tbd::tensorflow
