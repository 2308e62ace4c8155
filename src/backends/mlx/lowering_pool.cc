#include <algorithm>
#include <limits>

#include "backends/mlx/convolution.h"

namespace tbd::mlx {
namespace {

// Taps of a window that lie inside the images, along one axis.
int64_t inside(int64_t index, int64_t kernel, int64_t stride, int64_t before, int64_t extent) {
  const int64_t begin = index * stride - before;
  return std::min(begin + kernel, extent) - std::max<int64_t>(begin, 0);
}

// (1, H', W', 1): one over the taps that each window's sum is divided by.
HostTensor shares(const AvgPool& op, const Shape& x, const Shape& y) {
  HostTensor out(DType::f64, {1, y[2], y[3], 1});
  size_t next = 0;
  for (int64_t h = 0; h < y[2]; ++h)
    for (int64_t w = 0; w < y[3]; ++w) {
      const int64_t count = inside(h, op.kernel.h, op.stride.h, op.pads.top, x[2]) *
                            inside(w, op.kernel.w, op.stride.w, op.pads.left, x[3]);
      out.as<double>()[next++] = 1 / static_cast<double>(count);
    }
  return out;
}

}  // namespace

// The first of equal elements gets the gradient: `maximum` gives it to its second operand.
Operand lower(const MaxPool& op, const Args& in) {
  const array images = padded(in.as(0, Layout::channels_last), op.pads, -std::numeric_limits<double>::infinity());
  const std::vector<array> seen = taps({op.kernel, op.stride}, images);
  array y = seen[0];
  for (size_t i = 1; i < seen.size(); ++i) y = mx::maximum(seen[i], y);
  return {y, Layout::channels_last};
}
LoweredAs lowered_as(const MaxPool& op, size_t) {
  return composed(op.pads == Pads{} ? "strided slices, maximum" : "pad, strided slices, maximum");
}

// Low types are added up in fp32.
Operand lower(const AvgPool& op, const Args& in) {
  const DType inner = inner_type(in.dtype());
  const std::vector<array> seen =
      taps({op.kernel, op.stride}, padded(cast_to(in.as(0, Layout::channels_last), inner), op.pads, 0));
  array sum = seen[0];
  for (size_t i = 1; i < seen.size(); ++i) sum = mx::add(sum, seen[i]);
  const bool whole = op.include_pad || op.pads == Pads{};
  const array y = whole ? scaled(sum, 1 / static_cast<double>(op.kernel.h * op.kernel.w))
                        : mx::multiply(sum, in.constant(
                                                0, [&] { return shares(op, in.shape(0), in.out()); }, inner));
  return {cast_to(y, in.dtype()), Layout::channels_last};
}
LoweredAs lowered_as(const AvgPool& op, size_t) {
  return composed(op.pads == Pads{} ? "strided slices, add, multiply" : "pad, strided slices, add, multiply");
}

// (N, C, H, W) -> (N, C).
Operand lower(const GlobalMean&, const Args& in) {
  const array x = cast_to(in.as(0, Layout::channels_last), inner_type(in.dtype()));
  return {cast_to(mx::mean(x, std::vector<int>{1, 2}), in.dtype())};
}
LoweredAs lowered_as(const GlobalMean&, size_t) { return native("mean"); }

Operand lower(const UpsampleNearest& op, const Args& in) {
  const int factor = static_cast<int>(op.factor);
  const array rows = mx::repeat(in.as(0, Layout::channels_last), factor, 1);
  return {mx::repeat(rows, factor, 2), Layout::channels_last};
}
LoweredAs lowered_as(const UpsampleNearest&, size_t) { return native("repeat along both axes"); }

}  // namespace tbd::mlx
