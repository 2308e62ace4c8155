#include <algorithm>
#include <limits>

#include "backends/mxnet/lowering.h"

namespace tbd::mxnet {
namespace {

template <class Pool>
Attributes window(const Pool& op, const char* type) {
  const bool native = pools_with(op.pads, op.kernel);
  const int64_t kernel[] = {op.kernel.h, op.kernel.w}, stride[] = {op.stride.h, op.stride.w};
  const int64_t pad[] = {native ? op.pads.top : 0, native ? op.pads.left : 0};
  return {{"pool_type", type},
          {"kernel", text(kernel)},
          {"stride", text(stride)},
          {"pad", text(pad)},
          {"pooling_convention", "valid"}};
}

// Of the window that starts at `start` of the padded axis, the share that lies inside.
double share_inside(int64_t start, int64_t kernel, int64_t before, int64_t extent) {
  const int64_t inside = std::min(start + kernel, before + extent) - std::max(start, before);
  return static_cast<double>(std::max<int64_t>(inside, 0)) / static_cast<double>(kernel);
}

// (1, 1, H', W') of an average pool.
std::vector<double> shares_inside(const AvgPool& op, const Shape& x, const Shape& y) {
  std::vector<double> out;
  for (int64_t row = 0; row < y[2]; ++row)
    for (int64_t column = 0; column < y[3]; ++column)
      out.push_back(share_inside(row * op.stride.h, op.kernel.h, op.pads.top, x[2]) *
                    share_inside(column * op.stride.w, op.kernel.w, op.pads.left, x[3]));
  return out;
}

}  // namespace

bool pools_with(const Pads& pads, const Extent2& kernel) {
  return pads.symmetric() && 2 * pads.top <= kernel.h && 2 * pads.left <= kernel.w;
}

// The lowest finite number of single precision stands for -infinity, which MXNet's attributes cannot spell.
Symbol lower(const MaxPool& op, const Args& in) {
  const Symbol x = pools_with(op.pads, op.kernel) ? in[0] : padded(in, op.pads, std::numeric_limits<float>::lowest());
  return in.op("Pooling", {x}, window(op, "max"));
}
LoweredAs lowered_as(const MaxPool& op, size_t) {
  return pools_with(op.pads, op.kernel) ? native("Pooling") : composed("Pad, Pooling");
}

Symbol lower(const AvgPool& op, const Args& in) {
  Attributes attributes = window(op, "avg");
  attributes.emplace_back("count_include_pad", text(op.include_pad));
  if (pools_with(op.pads, op.kernel)) return in.op("Pooling", {in[0]}, attributes);
  const Symbol x = padded(in, op.pads, 0);
  if (op.include_pad) return in.op("Pooling", {x}, attributes);
  // The mean over the taps inside is the mean over the window divided by the share inside.
  const Shape &y = in.out(), plane = {1, 1, y[2], y[3]};
  const Symbol mean = in.part("mean", "Pooling", {x}, attributes);
  return in.op("broadcast_div", {mean, in.constant("inside", plane, shares_inside(op, in.shape(0), y))});
}
LoweredAs lowered_as(const AvgPool& op, size_t) {
  if (pools_with(op.pads, op.kernel)) return native("Pooling");
  return composed(op.include_pad ? "Pad, Pooling" : "Pad, Pooling, broadcast_div");
}

// (N, C, H, W) -> (N, C).
Symbol lower(const GlobalMean&, const Args& in) {
  const Symbol mean =
      in.part("pool", "Pooling", {in[0]}, {{"pool_type", "avg"}, {"global_pool", text(true)}, {"kernel", "(1,1)"}});
  return in.op("Flatten", {mean});
}
LoweredAs lowered_as(const GlobalMean&, size_t) { return native("Pooling (global), Flatten"); }

}  // namespace tbd::mxnet
