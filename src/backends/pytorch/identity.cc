#include "backends/pytorch/identity.h"

#include <ATen/Context.h>
#include <ATen/Version.h>
#include <ATen/cpu/Utils.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>

#include "backends/pytorch/lowering.h"
#include "backends/pytorch/optimizer.h"
#include "backends/pytorch/version.h"
#include "host/registry.h"

namespace tbd::pytorch {
namespace {

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

NodeSupport support(const Phase& phase, const Node& node) {
  NodeSupport out = {.phase = phase.name, .node = node.name, .kind = kind(node.op)};
  const LoweredAs lowered = std::visit([&](const auto& op) { return lowered_as(op, node.inputs.size()); }, node.op);
  out.level = lowered.native ? NodeSupport::Level::native : NodeSupport::Level::composed;
  out.detail = lowered.detail;
  if (const auto* call = std::get_if<HostCall>(&node.op)) {
    const std::vector<std::string> known = host_function_names();
    if (std::ranges::find(known, call->function) != known.end()) return out;
    out.level = NodeSupport::Level::unsupported;
    out.detail = unknown_name("host function", call->function, known);
  }
  return out;
}

}  // namespace

SessionIdentity describe_torch() {
  SessionIdentity out = {.framework = "pytorch", .version = torch_version(), .modes = {"eager", "eager-onednn"}};
  out.devices = {"cpu"};
  out.precisions = {"fp64", "fp32", "bf16", "fp16"};
  out.passes = {"clean", "memory", "trace"};
  out.layouts = {"nchw", "nhwc"};
  if (at::hasCUDA()) {
    const int64_t count = c10::impl::VirtualGuardImpl(at::kCUDA).deviceCount();
    for (int64_t i = 0; i < count; ++i) out.devices.push_back(cat("cuda:", i));
    if (count > 0) out.precisions.push_back("tf32");
  }
  out.build["cpu_capability"] = at::get_cpu_capability();
  out.build["mkl"] = first_line(at::get_mkl_version());
  out.build["onednn"] = first_line(at::get_mkldnn_version());
  out.build["openmp"] = first_line(at::get_openmp_version());
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

}  // namespace tbd::pytorch
