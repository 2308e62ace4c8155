// Mask R-CNN's mask targets: RoIAlign of a binary mask. He et al. 2017, arXiv:1703.06870, section 3.1.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "host/detection/boxes.h"

namespace tbd::detection {

// (side, side) by rows. Along an axis with the roi [lo, hi]: size max(hi - lo, 1), bins of size / side, each with
// ceil(size / side) samples; bilinear between pixels; a sample below -1 or above the extent counts 0, the last pixel is
// flat. Values as they come, without a threshold: equal to torchvision's roi_align with aligned = false and
// sampling_ratio = -1 up to rounding. Weights of samples factor: target = Wy mask Wx^T, and with run lengths only
// prefix sums of Wy are needed. The runs satisfy require_valid (host/run_lengths.h).
std::vector<double> mask_target(std::span<const int32_t> runs, const Extent& mask, const Box& roi, int64_t side);

}  // namespace tbd::detection
