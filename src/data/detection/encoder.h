// From a picture's objects to the inputs of a network; the picture itself is its source's to write.
#pragma once
#include <memory>

#include "data/detection/detection_sample.h"
#include "data/samples.h"

namespace tbd {

// Thread-safe.
class DetectionEncoder {
 public:
  virtual ~DetectionEncoder() = default;

  // The tensors of a batch: image f32 (3, height, width), and what `write` writes.
  virtual BatchLayout layout(int64_t samples) const = 0;
  virtual bool reads_masks() const = 0;
  // The objects that find no place, ascending: those beyond the rows for boxes, and those whose run lengths do not fit
  // behind those of the objects before.
  virtual std::vector<size_t> without_place(const DetectionSample& sample) const = 0;
  // Every element of sample `slot` of the batch of `step` but the image's. All objects have a place.
  virtual void write(const DetectionSample& sample, int64_t step, int64_t slot, const Row& row) const = 0;
  // What depends on all samples of a batch: weights, and scalars count/...
  virtual void finish(TensorMap& batch) const = 0;
};

// By spec.detection.task. Throws Error(invalid) for extents that the task's anchors do not fit.
std::unique_ptr<DetectionEncoder> detection_encoder(const SourceSpec& spec);

// image_size, gt_box, gt_label, rpn_index, rpn_label, rpn_weight, rpn_box_target, rpn_box_weight, roi_key and, where
// spec.detection.mask_runs is above 0, mask_runs and mask_start. count/pixels, count/pixel_slots: of the pictures, of
// the batch with its padding.
std::unique_ptr<DetectionEncoder> two_stage_encoder(const SourceSpec& spec);
// cls_t.l and box_t.l for the levels l = 3 ... 7. count/cls and count/box: 1 + anchors that have an object.
std::unique_ptr<DetectionEncoder> one_stage_encoder(const SourceSpec& spec);

}  // namespace tbd
