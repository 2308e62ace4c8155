// Every anchor has a label: the host's rows are those of all levels, one after another.
#include <algorithm>

#include "base/error.h"
#include "data/detection/encoder.h"
#include "host/detection/efficientdet_labels.h"

namespace tbd {
namespace {

constexpr int64_t kFirstLevel = 3, kLastLevel = 7, kAnchorsOfCell = 9;

std::string level_name(std::string_view prefix, int64_t level) { return cat(prefix, ".", level); }

std::vector<int64_t> extents_of(int64_t side) {
  std::vector<int64_t> extents;
  for (int64_t level = kFirstLevel; level <= kLastLevel; ++level)
    extents.push_back((side + (int64_t{1} << level) - 1) >> level);
  return extents;
}

class OneStageEncoder final : public DetectionEncoder {
 public:
  explicit OneStageEncoder(const SourceSpec& spec)
      : side_(spec.detection.height),
        slots_(spec.detection.slots),
        objects_(spec.detection.objects),
        extents_(extents_of(side_)) {
    require(spec.detection.height == spec.detection.width, "anchors of one stage need a square picture, got ",
            spec.detection.height, " x ", spec.detection.width);
    anchors_ =
        detection::efficientdet_anchors({.image = side_, .extents = extents_, .scale = spec.detection.anchor_scale});
  }

  BatchLayout layout(int64_t samples) const override {
    BatchLayout layout{.samples = samples, .tensors = {{"image", DType::f32, {3, side_, side_}}}};
    for (size_t i = 0; i < extents_.size(); ++i) {
      const int64_t level = kFirstLevel + static_cast<int64_t>(i), cells = extents_[i];
      layout.tensors.push_back({level_name("cls_t", level), DType::i32, {cells, cells, kAnchorsOfCell}});
      layout.tensors.push_back({level_name("box_t", level), DType::f32, {cells, cells, 4 * kAnchorsOfCell}});
    }
    return layout;
  }
  bool reads_masks() const override { return false; }
  std::vector<size_t> without_place(const DetectionSample& sample) const override {
    std::vector<size_t> out;
    for (auto i = static_cast<size_t>(objects_); i < sample.boxes.size(); ++i) out.push_back(i);
    return out;
  }

  void write(const DetectionSample& sample, int64_t, int64_t, const Row& row) const override {
    std::vector<detection::YxBox> boxes;
    for (const auto& [x1, y1, x2, y2] : sample.boxes) boxes.push_back({y1, x1, y2, x2});
    std::vector<int32_t> classes;
    for (const int32_t label : sample.labels) classes.push_back(label - 1);
    const auto labels = efficientdet_labels(anchors_, boxes, classes, static_cast<int32_t>(slots_ - 1));
    size_t begin = 0;
    for (int64_t level = kFirstLevel; level <= kLastLevel; ++level) {
      const std::span<int32_t> cls = row.ints(level_name("cls_t", level));
      const std::span<float> box = row.floats(level_name("box_t", level));
      std::copy_n(labels.class_target.begin() + begin, cls.size(), cls.begin());
      for (size_t i = 0; i < cls.size(); ++i) std::ranges::copy(labels.box_target[begin + i], box.begin() + 4 * i);
      begin += cls.size();
    }
  }

  void finish(TensorMap& batch) const override {
    int64_t matched = 0;
    for (int64_t level = kFirstLevel; level <= kLastLevel; ++level)
      matched +=
          std::ranges::count_if(batch.at(level_name("cls_t", level)).as<int32_t>(), [](int32_t c) { return c >= 0; });
    for (const char* term : {"cls", "box"}) set_count(batch, term, 1 + static_cast<double>(matched));
  }

 private:
  int64_t side_, slots_, objects_;
  std::vector<int64_t> extents_;
  std::vector<detection::YxBox> anchors_;
};

}  // namespace

std::unique_ptr<DetectionEncoder> one_stage_encoder(const SourceSpec& spec) {
  return std::make_unique<OneStageEncoder>(spec);
}

std::unique_ptr<DetectionEncoder> detection_encoder(const SourceSpec& spec) {
  return spec.detection.task == DetectionTask::one_stage ? one_stage_encoder(spec) : two_stage_encoder(spec);
}

}  // namespace tbd
