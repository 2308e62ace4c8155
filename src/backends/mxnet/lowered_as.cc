#include "backends/mxnet/lowering.h"
#include "host/registry.h"

#include <algorithm>

namespace tbd::mxnet {
namespace {

using Level = LoweredAs::Level;

LoweredAs native(std::string op) { return {Level::native, std::move(op)}; }
LoweredAs composed(std::string ops) { return {Level::composed, std::move(ops)}; }
LoweredAs unsupported(std::string reason) { return {Level::unsupported, std::move(reason)}; }

LoweredAs named(const Conv2d& op) { return op.pads.symmetric() ? native("Convolution") : composed("Pad, Convolution"); }
LoweredAs named(const ConvTranspose2d& op) {
  return op.pads.symmetric() ? native("Deconvolution; of a weight that others read SwapAxis, dot, Convolution")
                             : composed("Deconvolution, slice_axis");
}
LoweredAs named(const UpsampleNearest&) { return native("UpSampling"); }
LoweredAs named(const Linear&) { return native("FullyConnected"); }
LoweredAs named(const Matmul&) { return native("batch_dot; dot for matrices"); }
LoweredAs named(const BatchNorm&) { return native("BatchNorm"); }
LoweredAs named(const GroupNorm&) {
  return composed("GroupNorm, BatchNorm by fixed statistics; in fp64 of mean, square, rsqrt, broadcasts");
}
LoweredAs named(const LayerNorm&) {
  return native("LayerNorm; in fp64 mean, square, rsqrt, broadcast_mul, broadcast_add");
}
LoweredAs named(const MaxPool& op) {
  return pools_with(op.pads, op.kernel) ? native("Pooling") : composed("Pad, Pooling");
}
LoweredAs named(const AvgPool& op) {
  if (pools_with(op.pads, op.kernel)) return native("Pooling");
  return composed(op.include_pad ? "Pad, Pooling" : "Pad, Pooling, broadcast_div");
}
LoweredAs named(const GlobalMean&) { return native("Pooling (global), Flatten"); }
LoweredAs named(const Unary& op) {
  using F = Unary::Function;
  switch (op.function) {
    case F::relu:
    case F::sigmoid:
    case F::tanh:
      return native(cat("Activation ", kind(op)));
    case F::leaky_relu:
      return native("LeakyReLU leaky; in fp64 relu, _mul_scalar, elemwise_add");
    case F::neg:
      return native("negative");
    case F::gelu:
      return native("LeakyReLU gelu; in fp64 erf, elemwise_sub, elemwise_add, _mul_scalar, _plus_scalar, elemwise_mul");
    case F::silu:
      return composed("Activation sigmoid, elemwise_mul");
    default:
      return native(kind(op));
  }
}
LoweredAs named(const Binary& op) {
  const bool mul = op.function == Binary::Function::mul;
  return native(cat("elemwise_", kind(op), " or broadcast_", kind(op), mul ? "; BatchNorm of channels in fp32" : ""));
}
LoweredAs named(const Affine& op) {
  if (op.factor != 1 && op.offset != 0) return composed("_mul_scalar, _plus_scalar");
  return native(op.offset != 0 ? "_plus_scalar" : "_mul_scalar");
}
LoweredAs named(const Clamp&) { return native("clip; in fp64 _maximum_scalar, _minimum_scalar"); }
LoweredAs named(const Greater&) { return native("_greater_scalar"); }
LoweredAs named(const Dropout&) { return native("Dropout; with a mask composed of elemwise_mul, _mul_scalar"); }
LoweredAs named(const Cast& op) {
  if (op.to == DType::bf16 || op.to == DType::f16 || op.to == DType::boolean)
    return unsupported(cat("mxnet's CPU kernels do not run in ", op.to));
  return native("Cast");
}
LoweredAs named(const Reshape&) { return native("Reshape"); }
LoweredAs named(const Reduce& op) { return native(cat(kind(op), "; dot where it takes whole rows")); }
LoweredAs named(const RmsNorm&) { return composed("square, rsqrt, elemwise_mul; dot for sums and outer products"); }
LoweredAs named(const Softmax&) { return native("softmax"); }
LoweredAs named(const Equals&) { return composed("_equal_scalar, Cast"); }
LoweredAs named(const Concat&) { return native("Concat"); }
LoweredAs named(const Slice&) { return native("slice_axis; SliceChannel where slices cut a whole axis equally"); }
LoweredAs named(const Transpose&) { return native("transpose"); }
LoweredAs named(const Gather&) { return composed("broadcast_add, take"); }
LoweredAs named(const Embedding& op) {
  return op.pad < 0 ? native("Embedding, dense gradient") : composed("Embedding, where; dense gradient");
}
LoweredAs named(const StridedLength&) { return composed("_minus_scalar, _div_scalar, _plus_scalar"); }
LoweredAs named(const SequenceMask&) { return composed("broadcast_lesser, broadcast_to, where"); }
LoweredAs named(const Sinusoid&) { return composed("broadcast_mul of a constant"); }
LoweredAs named(const Rotary&) { return composed("reverse, broadcast_to, elemwise_mul, elemwise_add"); }
LoweredAs named(const Attention& op) {
  return composed(cat("transpose, batch_dot, elemwise_add, softmax", op.dropout > 0 ? ", Dropout" : ""));
}
LoweredAs named(const Lstm&) {
  return native("RNN; with lengths also SequenceReverse, SequenceMask, SequenceLast, padding as a feature");
}
LoweredAs named(const Gru&) { return native("RNN; with lengths also SequenceReverse, SequenceMask, SequenceLast"); }
LoweredAs named(const LstmCell&) { return composed("FullyConnected, slice_axis, Activation, elemwise_mul"); }
LoweredAs named(const SoftmaxCrossEntropy&) { return composed("log_softmax, pick, sum; dot for sums of rows"); }
LoweredAs named(const SoftCrossEntropy&) { return composed("log_softmax, dot"); }
LoweredAs named(const CtcLoss&) {
  return composed("CTCLoss, where, sum; in fp64 log_softmax, batch_dot, exp, log and SequenceLast, step by step");
}
LoweredAs named(const SquaredError&) { return composed("elemwise_sub, square, sum"); }
LoweredAs named(const StopGradient&) { return native("BlockGrad"); }
LoweredAs named(const HostCall& op) {
  const std::vector<std::string> known = host_function_names();
  if (std::ranges::find(known, op.function) == known.end())
    return unsupported(unknown_name("host function", op.function, known));
  return composed(cat("host function ", op.function, " between two executors"));
}
LoweredAs named(const InputGradient&) { return composed("expanded: nodes of the first gradient"); }

}  // namespace

LoweredAs lowered_as(const Op& op) {
  return std::visit([](const auto& concrete) { return named(concrete); }, op);
}

}  // namespace tbd::mxnet
