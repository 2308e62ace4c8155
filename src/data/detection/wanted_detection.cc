#include "data/detection/wanted_detection.h"

#include <algorithm>

#include "data/detection/encoder.h"

namespace tbd {
namespace {

const std::vector<std::string>& two_stage_inputs() {
  static const std::vector<std::string> all = {"image",          "image_size", "gt_box",     "gt_label",
                                               "rpn_index",      "rpn_label",  "rpn_weight", "rpn_box_target",
                                               "rpn_box_weight", "roi_key"};
  return all;
}
const std::vector<std::string>& mask_inputs() {
  static const std::vector<std::string> all = {"mask_runs", "mask_start"};
  return all;
}
const std::vector<std::string>& one_stage_inputs() {
  static const std::vector<std::string> all = {"image",   "cls_t.3", "cls_t.4", "cls_t.5", "cls_t.6", "cls_t.7",
                                               "box_t.3", "box_t.4", "box_t.5", "box_t.6", "box_t.7"};
  return all;
}

bool has_all(std::span<const WantedInput> inputs, const std::vector<std::string>& names) {
  return std::ranges::all_of(names, [&](const auto& name) { return find_input(inputs, name); });
}

DetectionTask task_of_boxes(std::span<const WantedInput> inputs) {
  const auto exactly = [&](size_t count) { return inputs.size() == count; };
  if (has_all(inputs, one_stage_inputs()) && exactly(one_stage_inputs().size())) return DetectionTask::one_stage;
  if (!has_all(inputs, two_stage_inputs())) return DetectionTask::none;
  const size_t masks = has_all(inputs, mask_inputs()) ? mask_inputs().size() : 0;
  return exactly(two_stage_inputs().size() + masks) ? DetectionTask::two_stage : DetectionTask::none;
}

int64_t extent(std::span<const WantedInput> inputs, std::string_view name, int64_t axis) {
  const Shape& shape = find_input(inputs, name)->shape;
  return axis < shape.rank() ? shape[axis] : 0;
}

void fit_two_stage(DetectionSpec& detection, std::span<const WantedInput> inputs) {
  detection.objects = extent(inputs, "gt_box", 1);
  detection.mask_runs = find_input(inputs, "mask_runs") ? extent(inputs, "mask_runs", 1) : 0;
  detection.roi_keys = extent(inputs, "roi_key", 1);
  detection.sampled_anchors = extent(inputs, "rpn_index", 1);
  detection.positive_anchors = extent(inputs, "rpn_box_target", 1);
}

bool has_shapes(std::span<const WantedInput> inputs, const BatchLayout& layout) {
  return std::ranges::all_of(layout.tensors, [&](const SampleTensor& tensor) {
    return find_input(inputs, tensor.name)->shape == batch_shape(layout, tensor);
  });
}

}  // namespace

bool wants_detection(std::span<const WantedInput> inputs) { return task_of_boxes(inputs) != DetectionTask::none; }

std::optional<SourceSpec> fitted_detection(SourceSpec spec, std::span<const WantedInput> inputs) {
  if (spec.kind != SourceKind::synthetic && spec.kind != SourceKind::coco) return std::nullopt;
  DetectionSpec& detection = spec.detection;
  detection.task = task_of_boxes(inputs);
  spec.batch = extent(inputs, "image", 0);
  detection.height = extent(inputs, "image", 2);
  detection.width = extent(inputs, "image", 3);
  if (detection.task == DetectionTask::two_stage) fit_two_stage(detection, inputs);
  if (detection.task == DetectionTask::one_stage && find_input(inputs, "cls_t.3")->below > 0)
    detection.slots = find_input(inputs, "cls_t.3")->below + 1;
  try {
    check(detection);
    const std::unique_ptr<DetectionEncoder> encoder = detection_encoder(spec);
    return has_shapes(inputs, encoder->layout(spec.batch)) ? std::optional(std::move(spec)) : std::nullopt;
  } catch (const Error& e) {  // extents that no such network has
    if (e.kind() != ErrorKind::invalid) throw;
    return std::nullopt;
  }
}

}  // namespace tbd
