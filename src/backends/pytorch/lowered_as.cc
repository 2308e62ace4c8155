#include "backends/pytorch/lowering.h"

namespace tbd::pytorch {
namespace {

LoweredAs named(const Conv2d& op) {
  if (op.pads.symmetric()) return {true, "conv2d"};
  return {false, "constant_pad_nd, conv2d"};
}
LoweredAs named(const Linear&) { return {true, "linear"}; }
LoweredAs named(const Matmul&) { return {true, "matmul"}; }
LoweredAs named(const BatchNorm&) { return {true, "batch_norm"}; }
LoweredAs named(const GroupNorm&) { return {true, "group_norm"}; }
LoweredAs named(const LayerNorm&) { return {true, "layer_norm"}; }
LoweredAs named(const MaxPool& op) {
  if (op.pads.symmetric()) return {true, "max_pool2d"};
  return {false, "constant_pad_nd, max_pool2d"};
}
LoweredAs named(const AvgPool& op) {
  if (op.pads.symmetric()) return {true, "avg_pool2d"};
  return {false, "constant_pad_nd, avg_pool2d"};
}
LoweredAs named(const GlobalMean&) { return {true, "mean"}; }
LoweredAs named(const Unary& op) { return {true, kind(op)}; }
LoweredAs named(const Binary& op) { return {true, kind(op)}; }
LoweredAs named(const Affine& op) {
  if (op.factor != 1 && op.offset != 0) return {false, "mul, add"};
  return {true, op.offset != 0 ? "add" : "mul"};
}
LoweredAs named(const Dropout&) { return {true, "dropout; with a mask composed of mul"}; }
LoweredAs named(const Cast&) { return {true, "to"}; }
LoweredAs named(const Reshape&) { return {true, "reshape"}; }
LoweredAs named(const Reduce& op) { return {true, kind(op)}; }
LoweredAs named(const SoftmaxCrossEntropy&) { return {true, "cross_entropy_loss"}; }
LoweredAs named(const SquaredError&) { return {true, "mse_loss"}; }
LoweredAs named(const StopGradient&) { return {true, "detach"}; }
LoweredAs named(const HostCall& op) { return {true, cat("host function ", op.function)}; }
LoweredAs named(const InputGradient&) { return {true, "autograd::grad with create_graph"}; }

}  // namespace

LoweredAs lowered_as(const Op& op) {
  return std::visit([](const auto& concrete) { return named(concrete); }, op);
}

}  // namespace tbd::pytorch
