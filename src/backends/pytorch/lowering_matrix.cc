#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/conv_transpose2d.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>

#include "backends/pytorch/lowering.h"
#include "backends/pytorch/onednn.h"

namespace tbd::pytorch {

// x (N, C, H, W), weight (out, C / groups, kernel.h, kernel.w). torch pads symmetrically: other pads are an op before.
at::Tensor lower(const Conv2d& op, const Args& in) {
  const std::optional<at::Tensor> bias = op.bias ? std::optional(in[2]) : std::nullopt;
  const int64_t stride[] = {op.stride.h, op.stride.w}, dilation[] = {op.dilation.h, op.dilation.w};
  if (!op.pads.symmetric()) {
    const int64_t pads[] = {op.pads.left, op.pads.right, op.pads.top, op.pads.bottom};
    const int64_t none[] = {0, 0};
    return at::conv2d(at::constant_pad_nd(in[0], pads), in[1], bias, stride, none, dilation, op.groups);
  }
  const int64_t pads[] = {op.pads.top, op.pads.left};
  return at::conv2d(in[0], in[1], bias, stride, pads, dilation, op.groups);
}
LoweredAs lowered_as(const Conv2d& op, size_t) {
  if (op.pads.symmetric()) return native("conv2d");
  return composed("constant_pad_nd, conv2d");
}

// x (N, C, H, W), weight (C, out, kernel.h, kernel.w), bias (out). Pads that torch cannot take are cut off.
at::Tensor lower(const ConvTranspose2d& op, const Args& in) {
  const int64_t stride[] = {op.stride.h, op.stride.w}, pads[] = {op.pads.top, op.pads.left}, none[] = {0, 0};
  const std::optional<at::Tensor> bias = op.bias ? std::optional(in[2]) : std::nullopt;
  if (op.pads.symmetric()) return at::conv_transpose2d(in[0], in[1], bias, stride, pads);
  const at::Tensor y = at::conv_transpose2d(in[0], in[1], bias, stride, none);
  return y.narrow(2, op.pads.top, y.size(2) - op.pads.top - op.pads.bottom)
      .narrow(3, op.pads.left, y.size(3) - op.pads.left - op.pads.right);
}
LoweredAs lowered_as(const ConvTranspose2d& op, size_t) {
  if (op.pads.symmetric()) return native("conv_transpose2d");
  return composed("conv_transpose2d, narrow");
}

// x (..., in), weight (out, in).
at::Tensor lower(const Linear& op, const Args& in) {
  if (by_onednn(in[0])) return onednn_linear(in[0], in[1], op.bias ? std::optional(in[2]) : std::nullopt);
  return op.bias ? at::linear(in[0], in[1], in[2]) : at::linear(in[0], in[1]);
}
LoweredAs lowered_as(const Linear&, size_t) { return native("linear"); }

// a (..., M, K), b (..., K, N).
at::Tensor lower(const Matmul& op, const Args& in) {
  const at::Tensor a = op.transpose_a ? in[0].mT() : in[0];
  const at::Tensor b = op.transpose_b ? in[1].mT() : in[1];
  return at::matmul(a, b);
}
LoweredAs lowered_as(const Matmul&, size_t) { return native("matmul"); }

}  // namespace tbd::pytorch
