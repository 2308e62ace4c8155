#include "data/detection/synthetic_detection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/philox.h"
#include "data/detection/encoder.h"

namespace tbd {
namespace {

std::vector<WantedInput> two_stage_wanted(bool masks = true) {
  std::vector<WantedInput> inputs = {
      {"image", {2, 3, 96, 128}},  {"image_size", {2, 2}}, {"gt_box", {2, 4, 4}},   {"gt_label", {2, 4}},
      {"rpn_index", {2, 32}},      {"rpn_label", {2, 32}}, {"rpn_weight", {2, 32}}, {"rpn_box_target", {2, 16, 4}},
      {"rpn_box_weight", {2, 16}}, {"roi_key", {2, 132}}};
  if (!masks) return inputs;
  inputs.push_back({"mask_runs", {2, 4096}});
  inputs.push_back({"mask_start", {2, 5}});
  return inputs;
}
std::vector<WantedInput> one_stage_wanted() {
  std::vector<WantedInput> inputs = {{"image", {2, 3, 128, 128}}};
  for (int64_t l = 3; l <= 7; ++l) {
    const int64_t cells = 128 >> l;
    inputs.push_back({cat("cls_t.", l), {2, cells, cells, 9}, 5});
    inputs.push_back({cat("box_t.", l), {2, cells, cells, 36}});
  }
  return inputs;
}

TEST(SyntheticDetection, TheInputsTellTheTaskAndItsExtents) {
  SourceSpec given;
  given.detection = detection_conventions("torchvision-tiny");
  const std::optional<SourceSpec> two = fitted(given, two_stage_wanted());
  ASSERT_TRUE(two);
  EXPECT_EQ(two->detection.task, DetectionTask::two_stage);
  EXPECT_EQ(two->batch, 2);
  EXPECT_EQ(two->detection.height, 96);
  EXPECT_EQ(two->detection.width, 128);
  EXPECT_EQ(two->detection.objects, 4);
  EXPECT_EQ(two->detection.mask_runs, 4096);
  EXPECT_EQ(two->detection.roi_keys, 132);
  EXPECT_EQ(two->detection.slots, 4);
  EXPECT_EQ(fitted(given, two_stage_wanted(false))->detection.mask_runs, 0);
  const std::optional<SourceSpec> one = fitted(given, one_stage_wanted());
  ASSERT_TRUE(one);
  EXPECT_EQ(one->detection.task, DetectionTask::one_stage);
  EXPECT_EQ(one->detection.slots, 6);
}

TEST(SyntheticDetection, FilesForTheseInputsAreOfCoco) {
  EXPECT_EQ(kind_of_files(two_stage_wanted()), SourceKind::coco);
  EXPECT_EQ(kind_of_files(two_stage_wanted(false)), SourceKind::coco);
  EXPECT_EQ(kind_of_files(one_stage_wanted()), SourceKind::coco);
  EXPECT_EQ(fitted({.kind = SourceKind::coco}, one_stage_wanted())->detection.task, DetectionTask::one_stage);
  EXPECT_FALSE(fitted({.kind = SourceKind::image_folder}, one_stage_wanted()));
  const std::vector<WantedInput> images = {{"image", {2, 3, 8, 8}}, {"label", {2}}};
  EXPECT_EQ(fitted({.detection = fitted({}, one_stage_wanted())->detection}, images)->detection.task,
            DetectionTask::none);
}

TEST(SyntheticDetection, ExtentsThatDoNotBelongTogetherFitNothing) {
  std::vector<WantedInput> inputs = two_stage_wanted();
  inputs.back().shape = {2, 4};
  EXPECT_FALSE(fitted({}, inputs));
  inputs = two_stage_wanted();
  inputs.push_back({"other", {2}});
  EXPECT_FALSE(fitted({}, inputs));
  inputs = one_stage_wanted();
  inputs[1].shape = {2, 16, 15, 9};
  EXPECT_FALSE(fitted({}, inputs));
}

TEST(SyntheticDetection, GivesAllThatTheNetworkReadsForEveryTask) {
  for (const auto& inputs : {two_stage_wanted(), two_stage_wanted(false), one_stage_wanted()}) {
    const auto source = open_source(*fitted({.seed = 5}, inputs));
    const TensorMap batch = source->batch_at(3);
    for (const WantedInput& input : inputs) EXPECT_EQ(batch.at(input.name).shape(), input.shape) << input.name;
    EXPECT_EQ(source->size(), std::nullopt);
    const TensorMap again = open_source(*fitted({.seed = 5, .threads = 3}, inputs))->next(1);
    const TensorMap first = source->batch_at(1);
    for (const auto& [name, tensor] : first)
      EXPECT_TRUE(std::ranges::equal(tensor.bytes(), again.at(name).bytes())) << name;
  }
}

TEST(SyntheticDetection, OddSamplesAreSmallerAndPaddedWithZero) {
  const TensorMap batch = open_source(*fitted({}, two_stage_wanted()))->batch_at(1);
  EXPECT_THAT(batch.at("image_size").as<int32_t>(), testing::ElementsAre(96, 128, 84, 112));
  const auto image = batch.at("image").as<float>();
  const Philox noise(0, "data/synthetic", 1, 1);
  for (size_t i = 0; i < 3 * 96 * 128; ++i) {
    const size_t x = i % 128, y = i / 128 % 96;
    const float value = image[3 * 96 * 128 + i];
    if (x >= 112 || y >= 84) {
      ASSERT_EQ(value, 0) << y << " " << x;
    } else if (i % 1000 == 0) {
      const uint32_t word = noise.word(i);
      const int sum = static_cast<int>((word & 255) + (word >> 8 & 255) + (word >> 16 & 255) + (word >> 24));
      ASSERT_NEAR(value, (sum - 510) / std::sqrt(21845.0), 1e-5);
    }
  }
}

TEST(SyntheticDetection, BoxesHaveTheSidesAndLabelsThatAreSaid) {
  SourceSpec spec;
  spec.detection.task = DetectionTask::two_stage;
  std::vector<int> counts(13);
  double longest = 0;
  for (int64_t step = 1; step <= 200; ++step) {
    const int64_t slot = step % 2;
    const DetectionSample sample = synthetic_objects(spec, step, slot, false);
    EXPECT_TRUE(sample.masks.empty());
    ++counts.at(sample.boxes.size());
    const double least = std::min(sample.size.width, sample.size.height);
    for (size_t i = 0; i < sample.boxes.size(); ++i) {
      const auto [x1, y1, x2, y2] = sample.boxes[i];
      EXPECT_TRUE(0 <= x1 && x1 < x2 && x2 <= sample.size.width);
      EXPECT_TRUE(0 <= y1 && y1 < y2 && y2 <= sample.size.height);
      EXPECT_LE(std::max(x2 - x1, y2 - y1), 0.8 * least + 1e-3);
      longest = std::max<double>(longest, std::max(x2 - x1, y2 - y1));
      EXPECT_TRUE(1 <= sample.labels[i] && sample.labels[i] < 91);
    }
  }
  EXPECT_EQ(counts[0], 0);
  for (size_t k = 1; k <= 12; ++k) EXPECT_GT(counts[k], 0) << k;
  EXPECT_GT(longest, 500);
}

TEST(SyntheticDetection, AMaskIsTheEllipseOfItsBoxByWholeNumbers) {
  const ImageSize sizes[] = {{128, 96}, {40, 7}, {9, 60}};
  for (const ImageSize size : sizes)
    for (uint32_t k = 0; k < 40; ++k) {
      const Philox draws(1, "test/ellipse", k);
      const auto w = static_cast<float>(size.width), h = static_cast<float>(size.height);
      const auto x1 = static_cast<float>(draws.uniform(0)) * (w - 1),
                 y1 = static_cast<float>(draws.uniform(1)) * (h - 1);
      const float x2 = x1 + 1 + static_cast<float>(draws.uniform(2)) * (w - 1 - x1);
      const float y2 = y1 + 1 + static_cast<float>(draws.uniform(3)) * (h - 1 - y1);
      const RunLengths mask = ellipse_mask({x1, y1, x2, y2}, size);
      const auto X1 = static_cast<int64_t>(std::floor(x1)), Y1 = static_cast<int64_t>(std::floor(y1));
      const auto X2 = static_cast<int64_t>(std::ceil(x2)), Y2 = static_cast<int64_t>(std::ceil(y2));
      std::vector<uint8_t> expected;
      for (int64_t y = 0; y < size.height; ++y)
        for (int64_t x = 0; x < size.width; ++x) {
          const int64_t a = (2 * x + 1 - X1 - X2) * (Y2 - Y1), b = (2 * y + 1 - Y1 - Y2) * (X2 - X1);
          const bool within = x >= X1 && x < X2 && y >= Y1 && y < Y2;
          expected.push_back(within && a * a + b * b <= (X2 - X1) * (X2 - X1) * (Y2 - Y1) * (Y2 - Y1));
        }
      EXPECT_EQ(bitmap(mask), expected) << size.width << " " << k;
      EXPECT_EQ(mask, bitmap_mask(expected, size.height, size.width)) << size.width << " " << k;
    }
}

}  // namespace
}  // namespace tbd
