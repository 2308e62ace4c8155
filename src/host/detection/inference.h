// Detections from a network's outputs, outside the step: what the metric sees.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "host/detection/anchors.h"
#include "host/detection/boxes.h"

namespace tbd::detection {

struct Detection {
  Box box;
  double score = 0;   // a probability
  int32_t label = 0;  // from 1
  int32_t row = 0;    // the region or anchor that it comes from
};

struct BoxHeadSettings {
  double score = 0.05;   // more than this
  double least = 0.01;   // the shortest side, in pixels
  double overlap = 0.5;  // of suppression within a class
  int64_t most = 100;    // detections an image
};

// Of one image of Mask R-CNN or Faster R-CNN: softmax over K classes (0 is background), boxes decoded for each class
// with weights (10, 10, 5, 5) and clipped; classes >= 1 above the score, suppressed by class; by falling score, of
// equals the lower (region, class). rois: R; class_logits (R, K), box_deltas (R, K, 4). Throws Error(invalid) on sizes
// that do not fit and "roi I" on a NaN logit.
std::vector<Detection> box_head_detections(const BoxHeadSettings& settings, const Extent& image,
                                           std::span<const Box> rois, std::span<const double> class_logits,
                                           std::span<const double> box_deltas);

struct EfficientDetInference {
  int64_t candidates = 5000;            // (anchor, class) pairs that suppression sees
  double overlap = 0.5;                 // within a class
  int64_t most = 100;                   // detections an image
  double image_scale = 1;               // from the network's input to the original image
  std::optional<Extent> original = {};  // boxes are clipped to it, where known
};

// Of one image of EfficientDet: the candidates of largest logits (of equals the lower (anchor, class)), decoded without
// a limit, clipped, suppressed by class, scaled to the original image. No threshold on the score, which is the sigmoid.
// class_logits (A, K), class k has label k + 1; box_codes (A, 4): ty, tx, th, tw.
// Throws Error(invalid) on sizes that do not fit and "anchor I" on a NaN logit.
std::vector<Detection> efficientdet_detections(const EfficientDetInference& settings, std::span<const YxBox> anchors,
                                               std::span<const double> class_logits, std::span<const double> box_codes);

// `box` of an image resized from `original` to `resized`, in the original's pixels; ratios in float32, as
// torchvision's.
Box in_original(const Box& box, const Extent& resized, const Extent& original);

// The mask of one detection in its image, as run lengths column by column, the first of 0. logits (side, side): the map
// of the detection's class. Probabilities padded by one pixel of 0; the box scaled about its centre by (side + 2) /
// side and truncated to whole numbers; resized bilinearly with half pixels to (y2 - y1 + 1) x (x2 - x1 + 1), at least
// 1; cut to the image; set where above 1/2. Throws Error(invalid) on logits that are not side x side and on a
// corner that is not finite or beyond 1e9 pixels.
std::vector<int32_t> paste_mask(std::span<const double> logits, int64_t side, const Box& box, const Extent& image);

}  // namespace tbd::detection
