// Proposals of a region proposal network: decisions on its outputs, without a gradient. One implementation for all
// back-ends, behind the host call `select_proposals`.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/tensor.h"
#include "host/detection/anchors.h"
#include "host/detection/boxes.h"

namespace tbd::detection {

struct ProposalSettings {
  Pyramid pyramid;        // extents, strides, sizes and ratios of the call
  int64_t before = 2000;  // boxes a level that suppression sees
  double overlap = 0.7;   // of suppression within a level
  double least = 1e-3;    // the shortest side, in pixels
};

// Per image and level: the `before` largest logits (of equals the lower index), decoded, clipped to the image, those
// with both sides >= least, suppressed; then the levels joined by falling logit, of equals the lower index, and the
// first `after` kept, where `after` is the extent of the result.
//   in:  objectness (N, A) and deltas (N, A, 4) of any float type, rows as of `anchors`; image_size (N, 2) i32 h, w
//   out: proposals (N, after, 4) of any float type, zero behind the count; count (N) i32
// Values are read exactly (bf16 as double) and results rounded once. A box whose delta is NaN is dropped.
// Throws Error(invalid) on shapes that do not fit, on an image size below 1 ("image I") and on a NaN logit
// ("image I, level L").
void select_proposals(const ProposalSettings& settings, std::span<const HostTensor> in, std::span<HostTensor> out);

}  // namespace tbd::detection
