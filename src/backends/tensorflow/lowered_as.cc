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
LoweredAs named(const ConvTranspose2d& op) {
  return {true, op.pads == Pads{} ? "Conv2DBackpropInput" : "Conv2DBackpropInput, Slice unless SAME pads alike"};
}
LoweredAs named(const Linear& op) { return {true, op.bias ? "MatMul, BiasAdd" : "MatMul"}; }
LoweredAs named(const Matmul&) { return {true, "BatchMatMulV2"}; }
LoweredAs named(const BatchNorm&) {
  return {true, "FusedBatchNormV3; composed of Mean, Square, Pow in fp64 and where a gradient is differentiated again"};
}
LoweredAs named(const GroupNorm&) { return {false, "Mean, Square, Pow, Mul, AddV2"}; }
LoweredAs named(const LayerNorm&) { return {false, "Mean, Square, Pow, Mul, AddV2"}; }
LoweredAs named(const RmsNorm&) { return {false, "Mean, Square, Pow, Mul"}; }
LoweredAs named(const Softmax&) { return {true, "Softmax; in fp32 for low types"}; }
LoweredAs named(const MaxPool& op) { return {true, op.pads == Pads{} ? "MaxPool" : "PadV2 of -inf, MaxPool"}; }
LoweredAs named(const AvgPool& op) {
  if (op.pads == Pads{}) return {true, "AvgPool"};
  return {op.include_pad, op.include_pad ? "Pad, AvgPool" : "Pad, AvgPool, Mul by the share of taps inside"};
}
LoweredAs named(const GlobalMean&) { return {true, "Mean"}; }
LoweredAs named(const UpsampleNearest&) {
  return {true, "ResizeNearestNeighbor; for low types and factors that are no power of 2 ConcatV2 along both axes"};
}
LoweredAs named(const Unary& op) {
  if (op.function == Unary::Function::leaky_relu) return {true, "LeakyRelu; in fp64 Relu, Mul, AddV2"};
  if (op.function == Unary::Function::gelu) return {false, "Erf, AddV2, Mul; in fp32 for low types"};
  if (op.function == Unary::Function::silu) return {false, "Sigmoid, Mul; in fp32 for low types"};
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
LoweredAs named(const Clamp&) { return {true, "ClipByValue"}; }
LoweredAs named(const Greater&) { return {true, "Greater, Cast"}; }
LoweredAs named(const Dropout&) { return {false, "RandomUniform, GreaterEqual, Mul, SelectV2; with a mask Mul"}; }
LoweredAs named(const Cast&) { return {true, "Cast"}; }
LoweredAs named(const Equals&) { return {true, "Equal, Cast"}; }
LoweredAs named(const Reshape&) { return {true, "Reshape"}; }
LoweredAs named(const Concat&) { return {true, "ConcatV2"}; }
LoweredAs named(const Slice&) { return {true, "Slice; SplitV where slices are together the whole operand"}; }
LoweredAs named(const Transpose&) { return {true, "Transpose"}; }
LoweredAs named(const Gather&) { return {true, "GatherV2"}; }
LoweredAs named(const Embedding&) { return {true, "Gather; dense gradient by UnsortedSegmentSum"}; }
LoweredAs named(const Sinusoid&) { return {false, "Mul by a constant table"}; }
LoweredAs named(const Rotary&) { return {false, "Split, ConcatV2, Mul by constant tables, AddV2"}; }
LoweredAs named(const Attention& op) {
  const char* dropout = op.dropout > 0 ? ", dropout as there" : "";
  return {false, cat("Transpose, BatchMatMulV2, AddV2 of masks, Softmax in fp32", dropout)};
}
LoweredAs named(const Lstm& op) {
  const char* reversed = op.reverse ? "with lengths ReverseSequence, " : "";
  return {false, cat(reversed, "MatMul of all steps' inputs, BiasAdd; each step MatMul, Sigmoid, Tanh, Mul, AddV2")};
}
LoweredAs named(const LstmCell&) { return {false, "MatMul, BiasAdd, Split, Sigmoid, Tanh, Mul, AddV2"}; }
LoweredAs named(const Gru& op) {
  const char* reversed = op.reverse ? "with lengths ReverseSequence, " : "";
  return {false, cat(reversed, "MatMul of all steps' inputs; each step MatMul, BiasAdd, Sigmoid, Tanh, Mul, AddV2")};
}
LoweredAs named(const StridedLength&) { return {false, "AddV2, FloorDiv"}; }
LoweredAs named(const SequenceMask&) { return {false, "Less, SelectV2"}; }
LoweredAs named(const Reduce& op) { return {true, op.function == Reduce::Function::sum ? "Sum" : "Mean"}; }
LoweredAs named(const SoftmaxCrossEntropy& op) {
  const char* ignored = op.ignore >= 0 ? ", SelectV2" : "";
  if (op.smoothing == 0) return {true, cat("SparseSoftmaxCrossEntropyWithLogits", ignored, "; with weights Mul")};
  return {true, cat("OneHot, SoftmaxCrossEntropyWithLogits", ignored, "; with weights Mul; in fp64 LogSoftmax, Mul")};
}
LoweredAs named(const SoftCrossEntropy&) {
  return {false, "LogSoftmax, Mul, Sum: the fused op's gradient takes targets to sum to 1"};
}
LoweredAs named(const CtcLoss&) {
  return {true,
          "CTCLoss, the blank moved to the last class; LogSoftmax, SelectV2 where a sample has no label or no path; in "
          "fp64, which that kernel rounds, Exp, Log, AddV2 at each step"};
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
