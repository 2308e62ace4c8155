#include <algorithm>

#include "backends/mlx/convolution.h"

namespace tbd::mlx {
namespace {

constexpr const char* kInDouble = "; in fp64 slices, stack, matmul";

array with_bias(const array& y, bool bias, const Args& in) { return bias ? mx::add(y, in.row(2)) : y; }

}  // namespace

// x (N, C, H, W), weight (out, C / groups, kh, kw).
Operand lower(const Conv2d& op, const Args& in) {
  const Convolution c = {.stride = op.stride, .pads = op.pads, .kernel_dilation = op.dilation, .groups = op.groups};
  const array y = convolve(c, in.as(0, Layout::channels_last), in.as(1, Layout::channels_last));
  return {with_bias(y, op.bias, in), Layout::channels_last};
}
LoweredAs lowered_as(const Conv2d& op, size_t) {
  return native(cat("conv_general", op.bias ? ", add" : "", kInDouble));
}

// x (N, C, H, W), weight (C, out, kh, kw): a convolution of the spread x with the kernel turned round. Where a pad
// exceeds the kernel's reach, what lies outside is cut off.
Operand lower(const ConvTranspose2d& op, const Args& in) {
  const int64_t reach_h = op.kernel.h - 1, reach_w = op.kernel.w - 1;
  const auto beyond = [](int64_t pad, int64_t reach) { return std::max<int64_t>(pad - reach, 0); };
  const Pads cut = {beyond(op.pads.top, reach_h), beyond(op.pads.bottom, reach_h), beyond(op.pads.left, reach_w),
                    beyond(op.pads.right, reach_w)};
  const Convolution c = {.pads = {reach_h - op.pads.top + cut.top, reach_h - op.pads.bottom + cut.bottom,
                                  reach_w - op.pads.left + cut.left, reach_w - op.pads.right + cut.right},
                         .input_dilation = op.stride,
                         .flip = true};
  const array weight = mx::transpose(in.as(1, Layout::channels_last), {3, 1, 2, 0});
  array y = convolve(c, in.as(0, Layout::channels_last), weight);
  if (cut != Pads{})
    y = mx::slice(
        y, {0, static_cast<int>(cut.top), static_cast<int>(cut.left), 0},
        {y.shape(0), y.shape(1) - static_cast<int>(cut.bottom), y.shape(2) - static_cast<int>(cut.right), y.shape(3)});
  return {with_bias(y, op.bias, in), Layout::channels_last};
}
LoweredAs lowered_as(const ConvTranspose2d& op, size_t) {
  return native(cat("conv_general, flipped and with input dilation", op.bias ? ", add" : "", kInDouble));
}

// x (..., in), weight (out, in).
Operand lower(const Linear& op, const Args& in) {
  const array weight = mx::transpose(in.row(1));
  return {op.bias ? mx::addmm(in.row(2), in.row(0), weight) : mx::matmul(in.row(0), weight)};
}
LoweredAs lowered_as(const Linear& op, size_t) { return native(op.bias ? "addmm" : "matmul"); }

// a (..., M, K), b (..., K, N).
Operand lower(const Matmul& op, const Args& in) {
  const auto operand = [&](size_t i, bool turned) { return turned ? mx::swapaxes(in.row(i), -1, -2) : in.row(i); };
  return {mx::matmul(operand(0, op.transpose_a), operand(1, op.transpose_b))};
}
LoweredAs lowered_as(const Matmul&, size_t) { return native("matmul"); }

}  // namespace tbd::mlx
