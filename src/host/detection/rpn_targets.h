// What the region proposal network is trained towards: depends on boxes and keys alone, so a loader prepares it.
// Ren et al. 2015, arXiv:1506.01497, section 3.1.2.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "host/detection/anchors.h"
#include "host/detection/boxes.h"

namespace tbd::detection {

struct RpnSettings {
  Pyramid pyramid;
  double positive = 0.7;        // an anchor is positive from this overlap on
  double negative = 0.3;        // and negative below this one
  int64_t sampled = 256;        // anchors an image
  int64_t most_positive = 128;  // of which at most so many are positive
};

// Of one image.
struct RpnTargets {
  std::vector<int32_t> index;       // sampled anchors: the positives ascending, then the negatives ascending
  int64_t positives = 0;            // how many of `index` are
  std::vector<BoxCode> box_target;  // of the positives: their boxes in code of weights 1
};

// An anchor's match is its best box, of equals the first. Positive: overlap >= positive, or equal to the most that some
// box has with any anchor (the match stays the anchor's own best box). Without boxes all anchors are negative. `keys`:
// one an anchor, stream data/rpn_key (host/detection/sampler.h). Throws Error(invalid) on boxes without area
// ("box I: ...") and where there is not one key an anchor.
// Equal to the plain loop over all pairs; visits the anchors that overlap a box.
RpnTargets rpn_targets(const RpnSettings& settings, std::span<const Box> ground_truth, std::span<const int32_t> keys);

}  // namespace tbd::detection
