#include "backends/mlx/identity.h"

#include <mlx/version.h>

#include "backends/mlx/blas.h"
#include "backends/mlx/lowering.h"
#include "backends/mlx/optimizer.h"

namespace tbd::mlx {

SessionIdentity describe_mlx() {
  SessionIdentity out = {.framework = "mlx", .version = mx::version(), .modes = {Mode::kEager, Mode::kCompile}};
  out.devices = {Device::kCpu};
  out.precisions = {Precision::kFp64, Precision::kFp32, Precision::kBf16, Precision::kFp16};
  out.layouts = {ImageLayout::kNhwc};
  out.passes = {Pass::kClean, Pass::kMemory};
  out.build[cat(Pass::kWhat, " ", Pass::kTrace)] = kNoTrace;
  out.build["blas"] = linked_blas();
  out.build["target"] = "made for other hardware: its CPU kernels run on one thread, the BLAS's products aside";
  for (const char* rule : {"optimizer.sgd", "optimizer.adam", "optimizer.adamw", "optimizer.lamb"})
    out.build[rule] = optimizer_path();
  return out;
}

std::vector<NodeSupport> check_nodes(const Program& program) {
  return check_each_node(program, [](const Phase&, const Node& node) {
    return std::visit([&](const auto& op) { return lowered_as(op, node.inputs.size()); }, node.op);
  });
}

}  // namespace tbd::mlx
