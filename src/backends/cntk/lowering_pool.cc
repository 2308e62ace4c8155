#include "backends/cntk/lowering.h"

namespace tbd::cntk {
namespace {

CNTK::NDShape extents(const Extent2& both) { return {{extent(both.w), extent(both.h)}}; }

// CNTK's pools refuse uneven pads, and pads of their own reach further than the window needs: they are set before.
CNTK::Variable pool(const Args& in, CNTK::PoolingType type, const CNTK::Variable& x, const Extent2& kernel,
                    const Extent2& stride) {
  return CNTK::Pooling(x, type, extents(kernel), extents(stride), std::vector<size_t>{0, 0}, std::vector<size_t>{0, 0},
                       /*ceil_out=*/false, /*include_pad=*/true, in.name());
}

// By how much the mean over whole windows falls short of the mean over the taps inside.
std::vector<double> shares(const AvgPool& op, const Shape& x, const Shape& y) {
  const auto inside = [](int64_t place, int64_t stride, int64_t pad, int64_t kernel, int64_t extent) {
    const int64_t begin = place * stride - pad;
    return std::min(begin + kernel, extent) - std::max<int64_t>(begin, 0);
  };
  std::vector<double> out;
  const double window = static_cast<double>(op.kernel.h * op.kernel.w);
  for (int64_t i = 0; i < y[2]; ++i)
    for (int64_t j = 0; j < y[3]; ++j) {
      const int64_t taps = inside(i, op.stride.h, op.pads.top, op.kernel.h, x[2]) *
                           inside(j, op.stride.w, op.pads.left, op.kernel.w, x[3]);
      out.push_back(window / static_cast<double>(std::max<int64_t>(taps, 1)));
    }
  return out;
}

}  // namespace

Tensor lower(const MaxPool& op, const Args& in) {
  constexpr double kLowest = -1e30;
  const Tensor x = in.batched(0);
  const CNTK::Variable image = op.pads == Pads{} ? *x : padded(x, op.pads, kLowest);
  return in.result(pool(in, CNTK::PoolingType::kMax, image, op.kernel, op.stride), true);
}
LoweredAs lowered_as(const MaxPool& op, size_t) {
  return op.pads == Pads{} ? native("Pooling") : composed("Pad, Pooling");
}

Tensor lower(const AvgPool& op, const Args& in) {
  const Tensor x = in.batched(0);
  const bool pads = op.pads != Pads{};
  CNTK::Variable y = pool(in, CNTK::PoolingType::kAverage, pads ? padded(x, op.pads, 0) : *x, op.kernel, op.stride);
  if (pads && !op.include_pad)
    y = times(y, in.constant({1, in.out()[2], in.out()[3]}, shares(op, in.shape(0), in.out())));
  return in.result(y, true);
}
LoweredAs lowered_as(const AvgPool& op, size_t) {
  return op.pads == Pads{} ? native("Pooling") : composed("Pad, Pooling, ElementTimes");
}

Tensor lower(const GlobalMean&, const Args& in) {
  const Shape& x = in.shape(0);
  const Tensor flat = reshaped(in[0], {x[0], x[1], x[2] * x[3]});
  const CNTK::Variable mean = CNTK::ReduceMean(*flat, CNTK::Axis(0), in.name());
  return reshaped({mean, {x[0], x[1], 1}, in[0].batched}, in.out());
}
LoweredAs lowered_as(const GlobalMean&, size_t) { return composed("ReduceMean, Reshape"); }

// Repeats by products with ones: (C, H, 1, W, 1) times (f, 1, f).
Tensor lower(const UpsampleNearest& op, const Args& in) {
  const Shape& x = in.shape(0);
  const Tensor cells = reshaped(in[0], {x[0], x[1], x[2], 1, x[3], 1});
  const CNTK::Variable ones =
      in.constant({op.factor, 1, op.factor}, std::vector<double>(extent(op.factor * op.factor), 1));
  return reshaped({times(*cells, ones), {x[0], x[1], x[2], op.factor, x[3], op.factor}, in[0].batched}, in.out());
}
LoweredAs lowered_as(const UpsampleNearest&, size_t) { return composed("Reshape, ElementTimes"); }

Tensor lower(const RoiAlign&, const Args&) { fail(ErrorKind::unsupported, "not lowered"); }
LoweredAs lowered_as(const RoiAlign&, size_t) {
  return unsupported("CNTK pools regions by their maximum (ROIPooling) and reads nothing between cells");
}

}  // namespace tbd::cntk
