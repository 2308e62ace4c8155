#include "backends/pytorch/identity.h"

#include <ATen/Version.h>
#include <ATen/cpu/Utils.h>

#include <algorithm>

#include "backends/pytorch/cuda_library.h"
#include "backends/pytorch/lowering.h"
#include "backends/pytorch/nccl_library.h"
#include "backends/pytorch/optimizer.h"
#include "backends/pytorch/version.h"

namespace tbd::pytorch {
namespace {

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

SessionIdentity describe_torch() {
  SessionIdentity out = {
      .framework = "pytorch", .version = torch_version(), .modes = {Mode::kEager, Mode::kEagerOnednn}};
  out.devices = {Device::kCpu};
  out.precisions = {Precision::kFp64, Precision::kFp32, Precision::kBf16, Precision::kFp16};
  out.passes = {Pass::kClean, Pass::kMemory, Pass::kTrace};
  out.exchanges = {"gloo"};
  out.layouts = {ImageLayout::kNchw, ImageLayout::kNhwc};
  const int64_t gpus = usable_gpus();
  for (int64_t i = 0; i < gpus; ++i) out.devices.push_back(Device::gpu(i));
  if (gpus > 0) out.precisions.push_back(Precision::kTf32);
  if (gpus > 0) out.modes.push_back(Mode::kCudaGraph);
  out.build["cpu_capability"] = at::get_cpu_capability();
  out.build["mkl"] = first_line(at::get_mkl_version());
  out.build["onednn"] = first_line(at::get_mkldnn_version());
  out.build["openmp"] = first_line(at::get_openmp_version());
  const std::string no_nccl = why_no_nccl();
  if (no_nccl.empty()) out.exchanges.push_back(kGpuExchange);
  if (gpus > 0 && !no_nccl.empty()) out.build[cat("exchange ", kGpuExchange)] = no_nccl;
  if (gpus > 0) out.build["cudnn_benchmark"] = kCudnnBenchmark ? "on" : "off";
  using Kind = Optimizer::Kind;
  out.build["optimizer.sgd"] = optimizer_path(Kind::sgd);
  out.build["optimizer.adam"] = optimizer_path(Kind::adam);
  out.build["optimizer.adamw"] = optimizer_path(Kind::adamw);
  out.build["optimizer.lamb"] = optimizer_path(Kind::lamb);
  return out;
}

std::vector<NodeSupport> check_nodes(const Program& program) {
  return check_each_node(program, [](const Phase&, const Node& node) {
    return std::visit([&](const auto& op) { return lowered_as(op, node.inputs.size()); }, node.op);
  });
}

}  // namespace tbd::pytorch
