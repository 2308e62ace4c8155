// Answers that are the truth of a set are perfect, whatever became of its pictures on the way to the network.
#include "worker/detection_judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "data/detection/picture_plan.h"
#include "data/detection/testing_coco.h"
#include "host/detection/efficientdet_labels.h"

namespace tbd {
namespace {

using testing_coco::coco_annotation;
using testing_coco::coco_image;
using testing_coco::coco_set;
using testing_coco::write_coco;

constexpr ImageSize kPicture = {100, 60};
const std::vector<std::array<double, 4>> kBoxes = {{10, 12, 40, 30}, {40, 5, 50, 45}};  // of pictures 4 and 9

class DetectionJudges : public testing::Test {
 protected:
  DetectionJudges() {
    write_coco(
        root_.path(),
        coco_set({coco_image(4, kPicture.width, kPicture.height), coco_image(9, kPicture.width, kPicture.height)},
                 {coco_annotation(1, 4, 1, kBoxes[0]), coco_annotation(2, 9, 2, kBoxes[1])}),
        "val2017");
  }
  SourceSpec source(const std::string& conventions, DetectionTask task) const {
    SourceSpec spec{.kind = SourceKind::coco, .path = root_.path().string(), .split = Split::val, .batch = 2};
    spec.detection = detection_conventions(conventions);
    spec.detection.task = task;
    spec.detection.height = spec.detection.width = 128;
    spec.detection.slots = 4;
    spec.detection.mask_runs = 0;
    return spec;
  }
  // On the network's canvas.
  static std::array<float, 4> placed(size_t picture, const SourceSpec& spec) {
    return *placed_box(*clipped_box(kBoxes[picture], kPicture), picture_plan(kPicture, spec.detection, std::nullopt));
  }
  static TensorMap batch() {
    const std::vector<int32_t> positions = {0, 1};
    return {{"image", HostTensor(DType::f32, {2, 3, 1, 1})},
            {std::string(kPosition), HostTensor(DType::i32, {2}, std::span<const int32_t>(positions))}};
  }

  TemporaryFolder root_;
};

// Two places a picture, of which one is used.
TensorMap region_answers(const std::vector<std::array<float, 4>>& boxes) {
  HostTensor rois(DType::f32, {4, 5}), score(DType::f32, {4}), label(DType::i32, {4, 1}), count(DType::i32, {2});
  for (size_t n = 0; n < boxes.size(); ++n) {
    std::ranges::copy(boxes[n], rois.as<float>().begin() + 10 * static_cast<int64_t>(n) + 1);
    score.as<float>()[2 * n] = 0.9F;
    label.as<int32_t>()[2 * n] = static_cast<int32_t>(n) + 1;
    count.as<int32_t>()[n] = 1;
  }
  return {{"detection.rois", rois}, {"detection.score", score}, {"detection.label", label}, {"detection.count", count}};
}

TEST_F(DetectionJudges, OfRegionsFindTheTruthPerfect) {
  const SourceSpec spec = source("torchvision-tiny", DetectionTask::two_stage);
  const auto judge = region_judge(spec);
  judge->add(batch(), region_answers({placed(0, spec), placed(1, spec)}), 2);
  EXPECT_NEAR(judge->metrics().at("box_ap"), 1, 1e-6);
  EXPECT_EQ(judge->metrics().count("mask_ap"), 0U) << "no masks are read";
}

TEST_F(DetectionJudges, OfRegionsSeeAWrongCategoryAndAFillingRow) {
  const SourceSpec spec = source("torchvision-tiny", DetectionTask::two_stage);
  const auto judge = region_judge(spec);
  TensorMap answers = region_answers({placed(0, spec), placed(1, spec)});
  answers.at("detection.label").as<int32_t>()[0] = 2;
  judge->add(batch(), answers, 1);  // the second row fills the batch
  EXPECT_NEAR(judge->metrics().at("box_ap"), 0, 1e-6);
}

// Every anchor that an object takes says its class and code.
TensorMap anchor_answers(const SourceSpec& spec, const std::vector<std::array<float, 4>>& boxes) {
  constexpr int64_t kClasses = 3;
  std::vector<int64_t> extents;
  TensorMap answers;
  for (int64_t level = 3; level <= 7; ++level) {
    const int64_t cells = 128 >> level;
    extents.push_back(cells);
    answers[cat("cls.", level)] = HostTensor(DType::f32, {2, 9 * kClasses, cells, cells});
    answers[cat("box.", level)] = HostTensor(DType::f32, {2, 36, cells, cells});
    std::ranges::fill(answers[cat("cls.", level)].as<float>(), -20.F);
  }
  const auto anchors =
      detection::efficientdet_anchors({.image = 128, .extents = extents, .scale = spec.detection.anchor_scale});
  for (size_t n = 0; n < boxes.size(); ++n) {
    const auto& [x1, y1, x2, y2] = boxes[n];
    const std::vector<detection::YxBox> box = {{y1, x1, y2, x2}};
    const std::vector<int32_t> classes = {static_cast<int32_t>(n)};
    const auto labels = detection::efficientdet_labels(anchors, box, classes, kClasses);
    size_t row = 0;
    for (size_t l = 0; l < extents.size(); ++l) {
      const auto cells = static_cast<size_t>(extents[l] * extents[l]);
      const std::span<float> cls = answers[cat("cls.", l + 3)].as<float>(),
                             code = answers[cat("box.", l + 3)].as<float>();
      for (size_t cell = 0; cell < cells; ++cell)
        for (size_t anchor = 0; anchor < 9; ++anchor, ++row) {
          if (labels.class_target[row] < 0) continue;
          const size_t of_class = anchor * kClasses + static_cast<size_t>(labels.class_target[row]);
          cls[(n * 9 * kClasses + of_class) * cells + cell] = 5;
          for (size_t i = 0; i < 4; ++i)
            code[(n * 36 + 4 * anchor + i) * cells + cell] = static_cast<float>(labels.box_target[row][i]);
        }
    }
  }
  return answers;
}

TEST_F(DetectionJudges, OfAnchorsFindTheTruthPerfect) {
  const SourceSpec spec = source("effdet", DetectionTask::one_stage);
  const auto judge = anchor_judge(spec);
  judge->add(batch(), anchor_answers(spec, {placed(0, spec), placed(1, spec)}), 2);
  EXPECT_NEAR(judge->metrics().at("box_ap"), 1, 1e-6);
}

TEST_F(DetectionJudges, DrawWhatWasFoundInTheFirstPictures) {
  const SourceSpec spec = source("torchvision-tiny", DetectionTask::two_stage);
  const auto judge = region_judge(spec);
  judge->add(batch(), region_answers({placed(0, spec), placed(1, spec)}), 2);
  const std::vector<Picture> pictures = judge->pictures(1);
  ASSERT_EQ(pictures.size(), 1U);
  EXPECT_EQ(pictures[0].file, "detections-4.png");
  EXPECT_THAT(pictures[0].caption, testing::HasSubstr("1 found"));
}

TEST_F(DetectionJudges, NeedAnnotations) {
  SourceSpec made = source("effdet", DetectionTask::one_stage);
  made.kind = SourceKind::synthetic;
  EXPECT_THROW(anchor_judge(made), Error);
}

}  // namespace
}  // namespace tbd
