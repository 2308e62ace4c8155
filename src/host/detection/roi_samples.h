// The regions that train the box and mask heads, with labels, targets and weights: decisions on proposals and ground
// truth, without a gradient. One implementation for all back-ends, behind the host call `sample_rois`.
#pragma once
#include <cstdint>
#include <span>

#include "base/tensor.h"
#include "host/detection/boxes.h"

namespace tbd::detection {

struct RoiSettings {
  double overlap = 0.5;          // a candidate has its best box's label from this overlap on, else 0
  double positive_share = 0.25;  // of an image's rows, the most that are positive: trunc(share x rows)
  double canonical = 224;        // the side, in pixels, of a region of pyramid level 4
  int64_t lowest = 2;            // the pyramid levels that regions are read from
  int64_t highest = 5;
  int64_t slots = 91;  // labels are below
};

// The level that a region is read from, counted from `lowest`: clamp(floor(4 + log2(sqrt(area) / canonical) + 1e-6)).
// Lin et al. 2017, arXiv:1612.03144, equation 1.
int64_t roi_level(const Box& roi, const RoiSettings& settings);

// in, "images" being N, P rows of proposals and G of ground truth:
//   proposals (N, P, 4) float; count (N) i32; gt_box (N, G, 4) float; gt_label (N, G) i32, 0 from the first unused row
//   on; roi_key (N, P + G) i32, of proposal i at i and of ground truth g at P + g; image_size (N, 2) i32 h, w; with
//   masks also mask_runs (N, M) i32 and mask_start (N, G + 1) i32 (mask g is runs start[g] ... start[g + 1], of the
//   image's h x w)
// out, R rows an image and B = trunc(positive_share R) of them positive at most, S the masks' side:
//   rois (R N, 5) float: image, x1, y1, x2, y2; level (R N) i32; label (R N) i32; weight (R N) float: N / all sampled;
//   box_target (R N, 1, 4) float: code of weights (10, 10, 5, 5) on positives; box_weight (R N) float: N / all sampled
//   on positives; with masks also mask_rois (B N, 5); mask_level (B N) i32; mask_label (B N, 1) i32; mask_target (B N,
//   1, S, S) float; mask_weight (B N) float: N / (S S all positives); rows () i32: max(1, all positives)
// Candidates are proposals[0 .. count) and then the ground truth. Positives: the min(B, all) with smallest (key,
// candidate); negatives: likewise, min(R - positives, all). Rows over the batch: positives by image and ascending
// candidate, then negatives likewise, then unused rows of zeros; mask rows are the positives again.
// Throws Error(invalid) that names the operand on shapes that do not fit; "image I, box G" on boxes without area,
// labels outside 0 ... slots - 1 and run lengths that do not sum to h w; "image I" on a count outside 0 ... P.
void sample_rois(const RoiSettings& settings, std::span<const HostTensor> in, std::span<HostTensor> out);

}  // namespace tbd::detection
