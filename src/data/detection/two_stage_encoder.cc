// The targets of the region proposal network are made here, ahead of the step: they depend on boxes and keys alone.
// Weights are 1 until the batch is complete; finish makes them samples / sampled anchors of the batch.
#include <algorithm>

#include "base/error.h"
#include "base/philox.h"
#include "data/detection/encoder.h"
#include "host/detection/rpn_targets.h"
#include "host/detection/sampler.h"

namespace tbd {
namespace {

constexpr double kRatios[] = {0.5, 1, 2};

detection::Pyramid pyramid_of(const DetectionSpec& spec) {
  std::vector<detection::Extent> extents;
  std::vector<double> sizes;
  int64_t stride = spec.first_stride;
  for (const std::vector<int64_t>& level : spec.anchor_sizes) {
    extents.push_back({(spec.height + stride - 1) / stride, (spec.width + stride - 1) / stride});
    for (const int64_t size : level) sizes.push_back(static_cast<double>(size));
    stride *= 2;
  }
  return detection::pyramid({spec.height, spec.width}, extents, sizes, kRatios);
}

detection::RpnSettings settings_of(const DetectionSpec& spec) {
  return {.pyramid = pyramid_of(spec), .sampled = spec.sampled_anchors, .most_positive = spec.positive_anchors};
}

template <class T>
void fill_rest(std::span<T> values, size_t used, T value) {
  std::ranges::fill(values.subspan(used), value);
}

class TwoStageEncoder final : public DetectionEncoder {
 public:
  explicit TwoStageEncoder(const SourceSpec& spec)
      : spec_(spec.detection),
        settings_(settings_of(spec_)),
        anchors_(detection::anchor_count(settings_.pyramid)),
        rpn_keys_(spec.seed, "data/rpn_key"),
        roi_keys_(spec.seed, "data/roi_key") {}

  BatchLayout layout(int64_t samples) const override;
  bool reads_masks() const override { return spec_.mask_runs > 0; }
  std::vector<size_t> without_place(const DetectionSample& sample) const override;
  void write(const DetectionSample& sample, int64_t step, int64_t slot, const Row& row) const override;
  void finish(TensorMap& batch) const override;

 private:
  static void write_objects(const DetectionSample& sample, const Row& row);
  static void write_masks(const DetectionSample& sample, const Row& row);
  static void write_targets(const detection::RpnTargets& targets, const Row& row);

  DetectionSpec spec_;
  detection::RpnSettings settings_;
  int64_t anchors_;
  Philox rpn_keys_, roi_keys_;
};

BatchLayout TwoStageEncoder::layout(int64_t samples) const {
  const int64_t sampled = spec_.sampled_anchors, positive = spec_.positive_anchors;
  BatchLayout layout{.samples = samples,
                     .tensors = {{"image", DType::f32, {3, spec_.height, spec_.width}},
                                 {"image_size", DType::i32, {2}},
                                 {"gt_box", DType::f32, {spec_.objects, 4}},
                                 {"gt_label", DType::i32, {spec_.objects}},
                                 {"rpn_index", DType::i32, {sampled}},
                                 {"rpn_label", DType::f32, {sampled}},
                                 {"rpn_weight", DType::f32, {sampled}},
                                 {"rpn_box_target", DType::f32, {positive, 4}},
                                 {"rpn_box_weight", DType::f32, {positive}},
                                 {"roi_key", DType::i32, {spec_.roi_keys}}}};
  if (!reads_masks()) return layout;
  layout.tensors.push_back({"mask_runs", DType::i32, {spec_.mask_runs}});
  layout.tensors.push_back({"mask_start", DType::i32, {spec_.objects + 1}});
  return layout;
}

std::vector<size_t> TwoStageEncoder::without_place(const DetectionSample& sample) const {
  std::vector<size_t> out;
  int64_t rows = 0, runs = 0;
  for (size_t i = 0; i < sample.boxes.size(); ++i) {
    const int64_t needed = reads_masks() ? static_cast<int64_t>(sample.masks[i].runs.size()) : 0;
    if (rows == spec_.objects || runs + needed > spec_.mask_runs) {
      out.push_back(i);
      continue;
    }
    ++rows;
    runs += needed;
  }
  return out;
}

void TwoStageEncoder::write_objects(const DetectionSample& sample, const Row& row) {
  const std::span<int32_t> size = row.ints("image_size");
  size[0] = static_cast<int32_t>(sample.size.height);
  size[1] = static_cast<int32_t>(sample.size.width);
  const std::span<float> boxes = row.floats("gt_box");
  for (size_t i = 0; i < sample.boxes.size(); ++i) std::ranges::copy(sample.boxes[i], boxes.begin() + 4 * i);
  fill_rest(boxes, 4 * sample.boxes.size(), 0.f);
  const std::span<int32_t> labels = row.ints("gt_label");
  std::ranges::copy(sample.labels, labels.begin());
  fill_rest(labels, sample.labels.size(), 0);
}

void TwoStageEncoder::write_masks(const DetectionSample& sample, const Row& row) {
  const std::span<int32_t> runs = row.ints("mask_runs"), starts = row.ints("mask_start");
  size_t used = 0;
  for (size_t i = 0; i < sample.masks.size(); ++i) {
    starts[i] = static_cast<int32_t>(used);
    std::ranges::copy(sample.masks[i].runs, runs.begin() + used);
    used += sample.masks[i].runs.size();
  }
  fill_rest(starts, sample.masks.size(), static_cast<int32_t>(used));
  fill_rest(runs, used, 0);
}

void TwoStageEncoder::write_targets(const detection::RpnTargets& targets, const Row& row) {
  const std::span<int32_t> index = row.ints("rpn_index");
  const std::span<float> label = row.floats("rpn_label"), weight = row.floats("rpn_weight");
  const std::span<float> box = row.floats("rpn_box_target"), box_weight = row.floats("rpn_box_weight");
  const size_t sampled = targets.index.size(), positives = targets.box_target.size();
  std::ranges::copy(targets.index, index.begin());
  fill_rest(index, sampled, 0);
  std::fill_n(label.begin(), positives, 1.f);
  fill_rest(label, positives, 0.f);
  std::fill_n(weight.begin(), sampled, 1.f);
  fill_rest(weight, sampled, 0.f);
  for (size_t i = 0; i < positives; ++i)
    std::ranges::transform(targets.box_target[i], box.begin() + 4 * i, [](double x) { return static_cast<float>(x); });
  fill_rest(box, 4 * positives, 0.f);
  std::fill_n(box_weight.begin(), positives, 1.f);
  fill_rest(box_weight, positives, 0.f);
}

void TwoStageEncoder::write(const DetectionSample& sample, int64_t step, int64_t slot, const Row& row) const {
  write_objects(sample, row);
  if (reads_masks()) write_masks(sample, row);
  const auto s = static_cast<uint32_t>(step), n = static_cast<uint32_t>(slot);
  std::vector<detection::Box> boxes;
  for (const auto& [x1, y1, x2, y2] : sample.boxes) boxes.push_back({x1, y1, x2, y2});
  write_targets(rpn_targets(settings_, boxes, detection::sampling_keys(rpn_keys_.at(s, n), anchors_)), row);
  std::ranges::copy(detection::sampling_keys(roi_keys_.at(s, n), spec_.roi_keys), row.ints("roi_key").begin());
}

void TwoStageEncoder::finish(TensorMap& batch) const {
  const HostTensor& size = batch.at("image_size");
  const auto samples = static_cast<double>(size.shape()[0]);
  double pixels = 0;
  for (size_t n = 0; n < static_cast<size_t>(size.shape()[0]); ++n)
    pixels += static_cast<double>(size.as<int32_t>()[2 * n]) * size.as<int32_t>()[2 * n + 1];
  set_count(batch, "pixels", pixels);
  set_count(batch, "pixel_slots", samples * static_cast<double>(spec_.height * spec_.width));
  const std::span<float> weights = batch.at("rpn_weight").as<float>();
  const auto sampled = static_cast<double>(std::ranges::count(weights, 1.f));
  if (sampled == 0) return;
  const auto weight = static_cast<float>(samples / sampled);
  std::ranges::replace(weights, 1.f, weight);
  std::ranges::replace(batch.at("rpn_box_weight").as<float>(), 1.f, weight);
}

}  // namespace

std::unique_ptr<DetectionEncoder> two_stage_encoder(const SourceSpec& spec) {
  return std::make_unique<TwoStageEncoder>(spec);
}

}  // namespace tbd
