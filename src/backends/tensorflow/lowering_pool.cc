#include <algorithm>
#include <limits>

#include "backends/tensorflow/lowering.h"

namespace tbd::tensorflow {
namespace {

template <class Pool>
TF_Output pooled(const Args& in, const char* kind, const Pool& op, TF_Output x) {
  const int64_t window[] = {1, op.kernel.h, op.kernel.w, 1}, strides[] = {1, op.stride.h, op.stride.w, 1};
  return in.op(kind).in(x).integers("ksize", window).integers("strides", strides).text("padding", "VALID").out();
}

// Taps of a window that lie inside an axis of `extent`.
int64_t inside(int64_t window, int64_t kernel, int64_t stride, int64_t before, int64_t extent) {
  const int64_t begin = window * stride - before;
  return std::min(begin + kernel, extent) - std::max<int64_t>(begin, 0);
}

// What the mean over each whole window is multiplied by to be the mean over the taps inside: (1, H', W', 1).
HostTensor shares(const AvgPool& op, const Shape& x) {
  const Shape y = output_shapes(op, std::span(&x, 1)).front();
  std::vector<double> values;
  for (int64_t h = 0; h < y[2]; ++h)
    for (int64_t w = 0; w < y[3]; ++w) {
      const int64_t taps = inside(h, op.kernel.h, op.stride.h, op.pads.top, x[2]) *
                           inside(w, op.kernel.w, op.stride.w, op.pads.left, x[3]);
      values.push_back(static_cast<double>(op.kernel.h * op.kernel.w) / static_cast<double>(taps));
    }
  return HostTensor(DType::f64, Shape{1, y[2], y[3], 1}, std::span<const double>(values));
}

}  // namespace

Operand lower(const MaxPool& op, const Args& in) {
  const double lowest = -std::numeric_limits<double>::infinity();
  return {pooled(in, "MaxPool", op, in.pad(in.as(0, Layout::nhwc), op.pads, lowest, in[0].dtype)), Layout::nhwc};
}
LoweredAs lowered_as(const MaxPool& op, size_t) {
  return native(op.pads == Pads{} ? "MaxPool" : "PadV2 of -inf, MaxPool");
}

Operand lower(const AvgPool& op, const Args& in) {
  const TF_Output y = pooled(in, "AvgPool", op, in.pad(in.as(0, Layout::nhwc), op.pads));
  if (op.include_pad || op.pads == Pads{}) return {y, Layout::nhwc};
  const TF_Output factor = in.graph().constant(converted(shares(op, in[0].shape), in[0].dtype));
  return {in.binary("Mul", y, factor), Layout::nhwc};
}
LoweredAs lowered_as(const AvgPool& op, size_t) {
  if (op.pads == Pads{}) return native("AvgPool");
  return op.include_pad ? native("Pad, AvgPool") : composed("Pad, AvgPool, Mul by the share of taps inside");
}

// (N, C, H, W) -> (N, C).
Operand lower(const GlobalMean&, const Args& in) {
  const int64_t positions[] = {1, 2};
  return {in.reduce("Mean", in.as(0, Layout::nhwc), positions, false)};
}
LoweredAs lowered_as(const GlobalMean&, size_t) { return native("Mean"); }

}  // namespace tbd::tensorflow
