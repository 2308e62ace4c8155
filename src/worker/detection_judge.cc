#include "worker/detection_judge.h"

#include <algorithm>

#include "data/detection/coco_pictures.h"
#include "data/detection/picture.h"
#include "data/detection/picture_plan.h"
#include "data/png_encoder.h"
#include "host/detection/anchors.h"
#include "host/detection/inference.h"
#include "quality/coco_ap.h"
#include "record/picture.h"
#include "worker/sample_rows.h"

namespace tbd {
namespace {

constexpr int64_t kFirstLevel = 3, kLastLevel = 7, kAnchorsOfCell = 9;
constexpr double kDrawnScore = 0.3;  // what is less sure is not drawn
constexpr size_t kMostDrawn = 20;

// One sample's part of a tensor with the samples first.
std::vector<double> values_of(const TensorMap& tensors, const std::string& name, int64_t sample, int64_t samples) {
  const auto found = tensors.find(name);
  require(found != tensors.end(), "the network does not answer '", name, "'");
  const int64_t rows = found->second.shape()[0] / samples;  // a sample's
  return as_doubles(sample_rows(found->second, sample * rows, rows));
}

CocoBox coco_box(const detection::Box& box) { return {box.x1, box.y1, box.x2 - box.x1, box.y2 - box.y1}; }

void add_ap(const CocoAp& ap, const std::string& prefix, std::map<std::string, double>& metrics) {
  const auto add = [&](const char* name, const std::optional<double>& value) {
    if (value) metrics[prefix + name] = *value;
  };
  add("_ap", ap.ap);
  add("_ap50", ap.ap_50);
  add("_ap75", ap.ap_75);
  add("_ar100", ap.ar_100);
}

// The held-out set, what was found in it so far, and the pictures of both.
class DetectionJudge : public Judge {
 public:
  DetectionJudge(const SourceSpec& data, bool masks)
      : data_(data), masks_(masks), pictures_(with_annotations(data), masks) {}

  std::map<std::string, double> metrics() const override {
    std::map<std::string, double> metrics;
    add_ap(judged(CocoRegion::box), "box", metrics);
    if (masks_) add_ap(judged(CocoRegion::mask), "mask", metrics);
    return metrics;
  }

  std::vector<Picture> pictures(int64_t most) const override {
    std::vector<Picture> out;
    for (const size_t position : seen_) {
      if (std::ssize(out) >= most) break;
      const CocoImage& image = pictures_.image(position);
      const std::vector<DrawnObject> objects = drawn(image.id);
      out.push_back({.file = cat("detections-", image.id, ".png"),
                     .title = image.file_name,
                     .caption = cat(objects.size(), " found with a score of ", kDrawnScore, " or more"),
                     .png = encode_png(draw_objects(read_coco_image(data_, image), objects))});
    }
    return out;
  }

 protected:
  // Of one sample; boxes and masks in the pixels of the original picture.
  virtual std::vector<CocoDetection> found(const TensorMap& answers, int64_t sample, int64_t samples,
                                           const PicturePlan& plan) const = 0;

  bool masks() const { return masks_; }
  const SourceSpec& data() const { return data_; }

 private:
  static const SourceSpec& with_annotations(const SourceSpec& data) {
    if (data.kind != SourceKind::coco)
      fail(ErrorKind::unsupported, "average precision needs a data set with annotations, not made data");
    return data;
  }

  void add(const TensorMap& batch, const TensorMap& answers, int64_t samples) override {
    const HostTensor& position = batch.at(std::string(kPosition));
    for (int64_t sample = 0; sample < samples; ++sample) {
      const auto place = static_cast<size_t>(position.as<int32_t>()[static_cast<size_t>(sample)]);
      if (std::ranges::count(seen_, place) > 0) continue;  // it stands in for a file that cannot be used
      const CocoImage& image = pictures_.image(place);
      const PicturePlan plan = picture_plan(image.size, data_.detection, std::nullopt);
      for (CocoDetection& each : found(answers, sample, rows_of(batch), plan)) {
        each.image = image.id;
        found_.push_back(std::move(each));
      }
      seen_.push_back(place);
    }
  }
  // Rows that a batch for the network has: those of its first tensor of samples.
  static int64_t rows_of(const TensorMap& batch) { return batch.at("image").shape()[0]; }

  CocoAp judged(CocoRegion region) const { return coco_ap(coco_curves(truth(region), found_, region)); }

  CocoGroundTruth truth(CocoRegion region) const {
    CocoGroundTruth truth;
    const CocoFile& file = pictures_.file();
    CocoJson json;
    for (const CocoCategory& category : file.categories()) truth.categories.push_back(category.id);
    for (const size_t place : seen_) {
      const int64_t id = pictures_.image(place).id;
      truth.images.push_back(id);
      for (const CocoAnnotation& each : pictures_.annotations(place)) {
        const auto& [x, y, width, height] = each.box;
        truth.objects.push_back({.image = id,
                                 .category = each.category,
                                 .box = {x, y, width, height},
                                 .area = each.area,
                                 .crowd = each.crowd,
                                 .mask = region == CocoRegion::mask ? file.mask(each, json) : RunLengths{}});
      }
    }
    return truth;
  }

  std::vector<DrawnObject> drawn(int64_t image) const {
    std::vector<DrawnObject> objects;
    for (const CocoDetection& each : found_) {  // by falling score
      if (each.image != image || each.score < kDrawnScore || objects.size() == kMostDrawn) continue;
      const auto corner = [](double value) { return static_cast<float>(value); };
      objects.push_back({.box = {corner(each.box.x), corner(each.box.y), corner(each.box.x + each.box.width),
                                 corner(each.box.y + each.box.height)},
                         .label = name_of(each.category),
                         .score = each.score,
                         .category = static_cast<size_t>(each.category),
                         .mask = each.mask});
    }
    return objects;
  }
  std::string name_of(int64_t category) const {
    const std::vector<CocoCategory>& all = pictures_.file().categories();
    const auto known = std::ranges::find(all, category, &CocoCategory::id);
    return known == all.end() ? cat("category ", category) : known->name;
  }

  SourceSpec data_;
  bool masks_;
  CocoPictures pictures_;
  std::vector<CocoDetection> found_;
  std::vector<size_t> seen_;  // places in the set, in the order in which they came
};

class AnchorJudge final : public DetectionJudge {
 public:
  explicit AnchorJudge(const SourceSpec& data) : DetectionJudge(data, false) {}

 private:
  std::vector<CocoDetection> found(const TensorMap& answers, int64_t sample, int64_t samples,
                                   const PicturePlan& plan) const override {
    std::vector<double> logits, codes;
    std::vector<int64_t> extents;
    for (int64_t level = kFirstLevel; level <= kLastLevel; ++level) {
      const std::string name = cat("cls.", level);
      add_by_anchor(values_of(answers, name, sample, samples), answers.at(name).shape(), logits);
      add_by_anchor(values_of(answers, cat("box.", level), sample, samples), answers.at(cat("box.", level)).shape(),
                    codes);
      extents.push_back(answers.at(name).shape()[2]);
    }
    const auto anchors = detection::efficientdet_anchors(
        {.image = data().detection.height, .extents = extents, .scale = data().detection.anchor_scale});
    const detection::EfficientDetInference settings = {
        .image_scale = 1.0 / static_cast<double>(plan.scale_x),
        .original = detection::Extent{plan.source.height, plan.source.width}};
    std::vector<CocoDetection> out;
    for (const detection::Detection& each : efficientdet_detections(settings, anchors, logits, codes))
      out.push_back({.category = each.label, .score = each.score, .box = coco_box(each.box)});
    return out;
  }

  // (9 C, h, w) -> (h, w, 9, C), behind what is there.
  static void add_by_anchor(const std::vector<double>& values, const Shape& shape, std::vector<double>& out) {
    const int64_t channels = shape[1], cells = shape[2] * shape[3];
    require(channels % kAnchorsOfCell == 0, "an answer of ", shape, " has no ", kAnchorsOfCell, " anchors a cell");
    for (int64_t cell = 0; cell < cells; ++cell)
      for (int64_t channel = 0; channel < channels; ++channel)
        out.push_back(values[static_cast<size_t>(channel * cells + cell)]);
  }
};

class RegionJudge final : public DetectionJudge {
 public:
  explicit RegionJudge(const SourceSpec& data) : DetectionJudge(data, data.detection.mask_runs > 0) {}

 private:
  std::vector<CocoDetection> found(const TensorMap& answers, int64_t sample, int64_t samples,
                                   const PicturePlan& plan) const override {
    const auto part = [&](const char* name) { return values_of(answers, cat("detection.", name), sample, samples); };
    const std::vector<double> rois = part("rois"), labels = part("label"), scores = part("score");
    const auto count = static_cast<int64_t>(part("count").front());
    const std::vector<double> maps = masks() ? part("mask") : std::vector<double>{};
    const detection::Extent shown{plan.shown.height, plan.shown.width}, original{plan.source.height, plan.source.width};
    std::vector<CocoDetection> out;
    for (int64_t i = 0; i < count; ++i) {
      const double* row = rois.data() + 5 * i;  // image, x1, y1, x2, y2
      const detection::Box box = in_original({row[1], row[2], row[3], row[4]}, shown, original);
      out.push_back({.category = static_cast<int64_t>(labels[static_cast<size_t>(i)]),
                     .score = scores[static_cast<size_t>(i)],
                     .box = coco_box(box)});
      if (masks()) out.back().mask = mask(maps, i, box, original);
    }
    return out;
  }

  static RunLengths mask(const std::vector<double>& maps, int64_t i, const detection::Box& box,
                         const detection::Extent& image) {
    const auto rows = static_cast<int64_t>(kMaskSide * kMaskSide);
    const std::span<const double> own(maps.data() + i * rows, static_cast<size_t>(rows));
    return {image.height, image.width, detection::paste_mask(own, kMaskSide, box, image)};
  }
  static constexpr int64_t kMaskSide = 28;
};

}  // namespace

std::unique_ptr<Judge> anchor_judge(const SourceSpec& data) { return std::make_unique<AnchorJudge>(data); }
std::unique_ptr<Judge> region_judge(const SourceSpec& data) { return std::make_unique<RegionJudge>(data); }

}  // namespace tbd
