// What conv2d and its transpose share.
#pragma once
#include "backends/tensorflow/lowering.h"

namespace tbd::tensorflow {

struct Window {
  Extent2 kernel, stride;
  Pads pads;
};
// Are the pads those that TensorFlow's SAME gives images (N, C, H, W)?
bool is_same(const Window& window, const Shape& images);

}  // namespace tbd::tensorflow
