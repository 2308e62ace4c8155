#include "backends/tensorflow/identity.h"

#include <algorithm>

#include "backends/tensorflow/gpu.h"
#include "backends/tensorflow/lowering.h"
#include "backends/tensorflow/onednn.h"
#include "backends/tensorflow/optimizer.h"

namespace tbd::tensorflow {
namespace {

std::string math_of_cpu() {
  const std::optional<bool> onednn = uses_onednn();
  if (!onednn) return "oneDNN and Eigen, as TensorFlow links them";
  return *onednn ? "oneDNN and Eigen" : "Eigen; oneDNN is off, as TensorFlow chooses for this processor or was told";
}

}  // namespace

SessionIdentity describe_tensorflow() {
  SessionIdentity out = {.framework = "tensorflow", .version = TF_Version(), .modes = {Mode::kGraph, Mode::kXla}};
  out.devices = {Device::kCpu};
  out.precisions = {Precision::kFp64, Precision::kFp32, Precision::kBf16};
  for (int64_t i = 0; i < usable_gpus(); ++i) out.devices.push_back(Device::gpu(i));
  if (usable_gpus() > 0) out.precisions.push_back(Precision::kTf32);
  out.layouts = {ImageLayout::kNhwc};
  out.passes = {Pass::kClean, Pass::kTrace, Pass::kMemory};
  out.exchanges = {"grpc"};
  out.build["math"] = math_of_cpu();
  using Kind = Optimizer::Kind;
  out.build["optimizer.sgd"] = optimizer_path(Kind::sgd);
  out.build["optimizer.adam"] = optimizer_path(Kind::adam);
  out.build["optimizer.adamw"] = optimizer_path(Kind::adamw);
  out.build["optimizer.lamb"] = optimizer_path(Kind::lamb);
  return out;
}

std::vector<NodeSupport> check_nodes(const Program& program) {
  return check_each_node(program, [](const Phase&, const Node& node) {
    const auto* cast = std::get_if<Cast>(&node.op);
    if (cast != nullptr && cast->to == DType::f16) return unsupported("fp16: no dynamic loss scale");
    return std::visit([&](const auto& op) { return lowered_as(op, node.inputs.size()); }, node.op);
  });
}

}  // namespace tbd::tensorflow
