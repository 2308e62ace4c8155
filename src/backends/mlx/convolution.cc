#include "backends/mlx/convolution.h"

#include <algorithm>

namespace tbd::mlx {
namespace {

int whole(int64_t value) { return static_cast<int>(value); }

// Images with zeros between their pixels.
array spread(const array& x, const Extent2& by) {
  if (by == Extent2(1)) return x;
  const int n = x.shape(0), h = x.shape(1), w = x.shape(2), c = x.shape(3);
  const array apart = mx::reshape(x, {n, h, 1, w, 1, c});
  const array wide = mx::pad(apart, {2, 4}, {0, 0}, {whole(by.h - 1), whole(by.w - 1)}, array(0.0, x.dtype()));
  const array all = mx::reshape(wide, {n, h * whole(by.h), w * whole(by.w), c});
  return mx::slice(all, {0, 0, 0, 0}, {n, (h - 1) * whole(by.h) + 1, (w - 1) * whole(by.w) + 1, c});
}

array by_patches(const Convolution& c, const array& x, const array& weight) {
  const Windows windows = {{weight.shape(1), weight.shape(2)}, c.stride, c.kernel_dilation};
  std::vector<array> seen = taps(windows, padded(spread(x, c.input_dilation), c.pads, 0));
  if (c.flip) std::ranges::reverse(seen);
  const int places = static_cast<int>(seen.size()), groups = whole(c.groups), channels = x.shape(3) / groups;
  const mx::Shape y = {seen[0].shape(0), seen[0].shape(1), seen[0].shape(2), weight.shape(0)};
  const int rows = y[0] * y[1] * y[2], out = y[3] / groups;
  const array patches = mx::reshape(mx::stack(seen, 3), {rows, places, groups, channels});
  const array by_group = mx::reshape(mx::transpose(patches, {2, 0, 1, 3}), {groups, rows, places * channels});
  const array kernels = mx::reshape(weight, {groups, out, places * channels});
  const array product = mx::matmul(by_group, mx::swapaxes(kernels, 1, 2));
  return mx::reshape(mx::transpose(product, {1, 0, 2}), y);
}

}  // namespace

array convolve(const Convolution& c, const array& x, const array& weight) {
  if (x.dtype() == mx::float64) return by_patches(c, x, weight);
  return mx::conv_general(x, weight, {whole(c.stride.h), whole(c.stride.w)}, {whole(c.pads.top), whole(c.pads.left)},
                          {whole(c.pads.bottom), whole(c.pads.right)},
                          {whole(c.kernel_dilation.h), whole(c.kernel_dilation.w)},
                          {whole(c.input_dilation.h), whole(c.input_dilation.w)}, whole(c.groups), c.flip);
}

std::vector<array> taps(const Windows& windows, const array& images) {
  const auto& [kernel, stride, dilation] = windows;
  const auto reach = [](int64_t extent, int64_t k, int64_t s, int64_t d) {
    return (extent - d * (k - 1) - 1) / s * s + 1;
  };
  const int64_t height = reach(images.shape(1), kernel.h, stride.h, dilation.h);
  const int64_t width = reach(images.shape(2), kernel.w, stride.w, dilation.w);
  std::vector<array> out;
  for (int64_t i = 0; i < kernel.h; ++i)
    for (int64_t j = 0; j < kernel.w; ++j) {
      const int64_t top = i * dilation.h, left = j * dilation.w;
      out.push_back(mx::slice(images, {0, whole(top), whole(left), 0},
                              {images.shape(0), whole(top + height), whole(left + width), images.shape(3)},
                              {1, whole(stride.h), whole(stride.w), 1}));
    }
  return out;
}

array padded(const array& images, const Pads& pads, double value) {
  if (pads == Pads{}) return images;
  return mx::pad(images, {1, 2}, {whole(pads.top), whole(pads.left)}, {whole(pads.bottom), whole(pads.right)},
                 array(value, images.dtype()));
}

}  // namespace tbd::mlx
