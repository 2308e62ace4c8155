// Convolution as MLX knows it, and for float64, in whose gradients its kernels refuse to run, as a product of patches.
#pragma once
#include "backends/mlx/lowering.h"

namespace tbd::mlx {

struct Convolution {
  Extent2 stride = 1;
  Pads pads = {};  // of x, where it is spread: around what it is spread to
  Extent2 kernel_dilation = 1, input_dilation = 1;
  int64_t groups = 1;
  bool flip = false;  // the kernel turned round
};

// x (N, H, W, C), weight (out, kh, kw, C / groups) -> (N, H', W', out).
array convolve(const Convolution& c, const array& x, const array& weight);

// How far a window reaches over images (N, H, W, C).
struct Windows {
  Extent2 kernel = 1, stride = 1;
  Extent2 dilation = 1;
};
// What each place of a window sees, row by row: as many arrays (N, H', W', C).
std::vector<array> taps(const Windows& windows, const array& images);
// Images with that value around them.
array padded(const array& images, const Pads& pads, double value);

}  // namespace tbd::mlx
