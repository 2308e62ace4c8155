#include <ATen/ops/avg_pool2d.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/upsample_nearest2d.h>

#include <limits>

#include "backends/pytorch/lowering.h"

namespace tbd::pytorch {
namespace {

// torch's pools pad symmetrically by at most half the window; other pads are an op before.
template <class Pool>
bool native_pads(const Pool& op) {
  return op.pads.symmetric() && 2 * op.pads.top <= op.kernel.h && 2 * op.pads.left <= op.kernel.w;
}

at::Tensor padded(const at::Tensor& x, const Pads& pads, double value) {
  const int64_t extents[] = {pads.left, pads.right, pads.top, pads.bottom};
  return at::constant_pad_nd(x, extents, value);
}

// torch's gradient of an average over padding is wrong for channels last on a GPU (docs/gpu.md).
bool wrong_gradient(const AvgPool& op, const at::Tensor& x) {
  return x.is_cuda() && op.pads != Pads{} && x.suggest_memory_format() == at::MemoryFormat::ChannelsLast;
}

bool takes_cells(const MaxPool& op) { return op.kernel == Extent2(1) && op.pads == Pads{}; }

}  // namespace

// A window of one cell takes some of the cells: no position has to be kept for backward.
at::Tensor lower(const MaxPool& op, const Args& in) {
  if (takes_cells(op)) {
    const at::Tensor cells = in[0].slice(2, 0, std::nullopt, op.stride.h).slice(3, 0, std::nullopt, op.stride.w);
    return cells.clone(in[0].suggest_memory_format());
  }
  const int64_t kernel[] = {op.kernel.h, op.kernel.w}, stride[] = {op.stride.h, op.stride.w};
  if (!native_pads(op))
    return at::max_pool2d(padded(in[0], op.pads, -std::numeric_limits<double>::infinity()), kernel, stride);
  const int64_t pads[] = {op.pads.top, op.pads.left};
  return at::max_pool2d(in[0], kernel, stride, pads);
}
LoweredAs lowered_as(const MaxPool& op, size_t) {
  if (takes_cells(op)) return composed("slice, clone where a window is one cell");
  if (op.pads.symmetric()) return native("max_pool2d");
  return composed("constant_pad_nd, max_pool2d");
}

at::Tensor lower(const AvgPool& op, const Args& in) {
  const int64_t kernel[] = {op.kernel.h, op.kernel.w}, stride[] = {op.stride.h, op.stride.w};
  if (native_pads(op) && !wrong_gradient(op, in[0])) {
    const int64_t pads[] = {op.pads.top, op.pads.left};
    return at::avg_pool2d(in[0], kernel, stride, pads, /*ceil_mode=*/false, op.include_pad);
  }
  const at::Tensor sum = at::avg_pool2d(padded(in[0], op.pads, 0), kernel, stride);
  if (op.include_pad) return sum;
  // The share of each window that lies inside; its mean over the taps inside is the mean over the window divided by it.
  const at::Tensor inside = at::ones({1, 1, in[0].size(2), in[0].size(3)}, in[0].options());
  return sum.div(at::avg_pool2d(padded(inside, op.pads, 0), kernel, stride));
}
LoweredAs lowered_as(const AvgPool& op, size_t) {
  if (op.pads.symmetric()) return native("avg_pool2d");
  return composed("constant_pad_nd, avg_pool2d");
}

at::Tensor lower(const UpsampleNearest& op, const Args& in) {
  const int64_t size[] = {op.factor * in[0].size(2), op.factor * in[0].size(3)};
  return at::upsample_nearest2d(in[0], at::IntArrayRef(size));
}
LoweredAs lowered_as(const UpsampleNearest&, size_t) { return native("upsample_nearest2d"); }

// (N, C, H, W) -> (N, C).
at::Tensor lower(const GlobalMean&, const Args& in) {
  const int64_t positions[] = {2, 3};
  return at::mean(in[0], positions);
}
LoweredAs lowered_as(const GlobalMean&, size_t) { return native("mean"); }

}  // namespace tbd::pytorch
