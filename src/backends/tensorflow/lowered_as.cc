#include "backends/tensorflow/lowering.h"

namespace tbd::tensorflow {
namespace {

// Which conv op runs also depends on the operand's channels: Conv2D by groups stands for the depthwise kernel, too.
LoweredAs named(const Conv2d& op) {
  const std::string pad = op.pads == Pads{} ? "" : "Pad unless SAME pads alike, ";
  if (op.dilation != Extent2(1))
    return {false, cat(pad, "Conv2D or DepthwiseConv2dNative on a kernel spread by zeros")};
  if (op.groups > 1)
    return {false, cat(pad, "DepthwiseConv2dNative where groups = channels, else Split, Conv2D, ConcatV2")};
  return {true, cat(pad, op.bias ? "Conv2D, BiasAdd" : "Conv2D")};
}
LoweredAs named(const Linear& op) { return {true, op.bias ? "MatMul, BiasAdd" : "MatMul"}; }
LoweredAs named(const Matmul&) { return {true, "BatchMatMulV2"}; }
LoweredAs named(const BatchNorm&) {
  return {true, "FusedBatchNormV3; composed of Mean, Square, Pow in fp64 and where a gradient is differentiated again"};
}
LoweredAs named(const GroupNorm&) { return {false, "Mean, Square, Pow, Mul, AddV2"}; }
LoweredAs named(const LayerNorm&) { return {false, "Mean, Square, Pow, Mul, AddV2"}; }
LoweredAs named(const MaxPool& op) { return {true, op.pads == Pads{} ? "MaxPool" : "PadV2 of -inf, MaxPool"}; }
LoweredAs named(const AvgPool& op) {
  if (op.pads == Pads{}) return {true, "AvgPool"};
  return {op.include_pad, op.include_pad ? "Pad, AvgPool" : "Pad, AvgPool, Mul by the share of taps inside"};
}
LoweredAs named(const GlobalMean&) { return {true, "Mean"}; }
LoweredAs named(const Unary& op) {
  if (op.function == Unary::Function::leaky_relu) return {true, "LeakyRelu; in fp64 Relu, Mul, AddV2"};
  static constexpr const char* kOps[] = {"Relu", "LeakyRelu", "Sigmoid", "Tanh", "Exp",
                                         "Log",  "Sqrt",      "Square",  "Abs",  "Neg"};
  return {true, kOps[static_cast<size_t>(op.function)]};
}
LoweredAs named(const Binary& op) {
  static constexpr const char* kOps[] = {"AddV2", "Sub", "Mul", "RealDiv"};
  return {true, kOps[static_cast<size_t>(op.function)]};
}
LoweredAs named(const Affine& op) {
  if (op.factor != 1 && op.offset != 0) return {false, "Mul, AddV2"};
  return {true, op.offset != 0 ? "AddV2" : "Mul"};
}
LoweredAs named(const Dropout&) { return {false, "RandomUniform, GreaterEqual, Mul, SelectV2; with a mask Mul"}; }
LoweredAs named(const Cast&) { return {true, "Cast"}; }
LoweredAs named(const Reshape&) { return {true, "Reshape"}; }
LoweredAs named(const Reduce& op) { return {true, op.function == Reduce::Function::sum ? "Sum" : "Mean"}; }
LoweredAs named(const SoftmaxCrossEntropy& op) {
  if (op.smoothing == 0) return {true, "SparseSoftmaxCrossEntropyWithLogits"};
  return {true, "OneHot, SoftmaxCrossEntropyWithLogits; in fp64 LogSoftmax, Mul"};
}
LoweredAs named(const SquaredError&) { return {true, "SquaredDifference, Sum"}; }
LoweredAs named(const StopGradient&) { return {true, "StopGradient"}; }
LoweredAs named(const HostCall& op) { return {true, cat("host function ", op.function, " in a kernel of tbd's")}; }
LoweredAs named(const InputGradient&) { return {true, "AddGradients, twice"}; }

}  // namespace

LoweredAs lowered_as(const Op& op) {
  return std::visit([](const auto& concrete) { return named(concrete); }, op);
}

}  // namespace tbd::tensorflow
