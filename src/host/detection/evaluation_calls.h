// What a network of two stages decides on data when it is evaluated, behind the host calls `proposal_rois` and
// `select_detections`: between them its box head reads every proposal, behind them its mask head every detection.
#pragma once
#include "host/detection/inference.h"
#include "host/detection/roi_samples.h"

namespace tbd::detection {

// in: proposals (N, P, 4) float; count (N) i32.
// out: rois (N P, 5) float: image, x1, y1, x2, y2; level (N P) i32 as roi_level says; zeros from count on.
// Throws Error(invalid) that names the operand on shapes that do not fit; "image I" on a count outside 0 ... P.
void proposal_rois(const RoiSettings& settings, std::span<const HostTensor> in, std::span<HostTensor> out);

// in: proposals, count as above; class_logits (N P, K) float, 0 being the background; box_deltas (N P, 4 K) float;
//   image_size (N, 2) i32 h, w.
// out, D being the most detections an image: rois (N D, 5) float and level (N D) i32 as above; label (N D, 1) i32;
//   score (N D) float; count (N) i32. Of each image box_head_detections by falling score, then zeros. `most` of the
//   settings is D.
// Throws Error(invalid) that names the operand on shapes that do not fit; "image I, roi R" on a NaN logit.
void select_detections(const BoxHeadSettings& head, const RoiSettings& settings, std::span<const HostTensor> in,
                       std::span<HostTensor> out);

}  // namespace tbd::detection
