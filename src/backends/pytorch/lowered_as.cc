#include "backends/pytorch/lowered_as.h"

#include "base/text.h"

namespace tbd::pytorch {
namespace {

LoweredAs named(const Conv2d& op) {
  if (op.pads.symmetric()) return {true, "conv2d"};
  return {false, "constant_pad_nd, conv2d"};
}
LoweredAs named(const ConvTranspose2d& op) {
  if (op.pads.symmetric()) return {true, "conv_transpose2d"};
  return {false, "conv_transpose2d, narrow"};
}
LoweredAs named(const Linear&) { return {true, "linear"}; }
LoweredAs named(const Matmul&) { return {true, "matmul"}; }
LoweredAs named(const BatchNorm&) { return {true, "batch_norm"}; }
LoweredAs named(const GroupNorm&) { return {true, "group_norm"}; }
LoweredAs named(const LayerNorm&) { return {true, "layer_norm"}; }
LoweredAs named(const RmsNorm&) { return {true, "rms_norm"}; }
LoweredAs named(const Softmax&) { return {true, "softmax"}; }
LoweredAs named(const MaxPool& op) {
  if (op.pads.symmetric()) return {true, "max_pool2d"};
  return {false, "constant_pad_nd, max_pool2d"};
}
LoweredAs named(const AvgPool& op) {
  if (op.pads.symmetric()) return {true, "avg_pool2d"};
  return {false, "constant_pad_nd, avg_pool2d"};
}
LoweredAs named(const GlobalMean&) { return {true, "mean"}; }
LoweredAs named(const UpsampleNearest&) { return {true, "upsample_nearest2d"}; }
LoweredAs named(const Unary& op) { return {true, kind(op)}; }
LoweredAs named(const Binary& op) { return {true, kind(op)}; }
LoweredAs named(const Affine& op) {
  if (op.factor != 1 && op.offset != 0) return {false, "mul, add"};
  return {true, op.offset != 0 ? "add" : "mul"};
}
LoweredAs named(const Clamp&) { return {true, "clamp"}; }
LoweredAs named(const Greater&) { return {false, "gt, to"}; }
LoweredAs named(const Dropout&) { return {true, "dropout; with a mask composed of mul"}; }
LoweredAs named(const Cast&) { return {true, "to"}; }
LoweredAs named(const Reshape&) { return {true, "reshape"}; }
LoweredAs named(const Concat&) { return {true, "cat"}; }
LoweredAs named(const Slice&) { return {true, "narrow"}; }
LoweredAs named(const Transpose&) { return {true, "permute"}; }
LoweredAs named(const Reduce& op) { return {true, kind(op)}; }
LoweredAs named(const Gather&) { return {true, "gather"}; }
LoweredAs named(const StridedLength&) { return {false, "sub, floor_divide, add"}; }
LoweredAs named(const SequenceMask&) { return {false, "arange, ge, masked_fill"}; }
LoweredAs named(const Embedding&) { return {true, "embedding"}; }
LoweredAs named(const Equals&) { return {false, "eq, to"}; }
LoweredAs named(const Sinusoid&) { return {false, "mul of a constant table"}; }
LoweredAs named(const Rotary&) { return {false, "mul, flip, addcmul of constant tables"}; }
LoweredAs named(const Attention& op) {
  if (op.dropout > 0) return {false, "baddbmm, softmax, dropout, bmm; with a mask mul for dropout"};
  return {true, "scaled_dot_product_attention"};
}
LoweredAs named_recurrent(std::string_view cell, bool reverse, bool lengths) {
  if (lengths && reverse)
    return {false, cat("gather, _pack_padded_sequence, ", cell, ", _pad_packed_sequence, gather")};
  if (lengths) return {false, cat("_pack_padded_sequence, ", cell, ", _pad_packed_sequence")};
  if (reverse) return {false, cat("flip, ", cell, ", flip")};
  return {true, std::string(cell)};
}
LoweredAs named(const Lstm& op, size_t operands) { return named_recurrent("lstm", op.reverse, has_lengths(operands)); }
LoweredAs named(const Gru& op, size_t operands) { return named_recurrent("gru", op.reverse, has_lengths(operands)); }
LoweredAs named(const LstmCell&) { return {true, "lstm_cell"}; }
LoweredAs named(const SoftmaxCrossEntropy&, size_t operands) {
  if (operands > 2) return {false, "cross_entropy_loss, mul, sum"};
  return {true, "cross_entropy_loss"};
}
LoweredAs named(const SoftCrossEntropy&) { return {true, "cross_entropy_loss"}; }
LoweredAs named(const CtcLoss&) { return {false, "log_softmax, ctc_loss"}; }
LoweredAs named(const SquaredError&) { return {true, "mse_loss"}; }
LoweredAs named(const StopGradient&) { return {true, "detach"}; }
LoweredAs named(const HostCall& op) { return {true, cat("host function ", op.function)}; }
LoweredAs named(const InputGradient&) { return {true, "autograd::grad with create_graph"}; }

}  // namespace

LoweredAs lowered_as(const Op& op, size_t operands) {
  const auto name = [&](const auto& concrete) {
    if constexpr (requires { named(concrete, operands); })
      return named(concrete, operands);
    else
      return named(concrete);
  };
  return std::visit(name, op);
}

}  // namespace tbd::pytorch
