#include "data/detection/encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "base/error.h"
#include "base/philox.h"
#include "data/detection/synthetic_detection.h"

namespace tbd {
namespace {
using testing::Each;
using testing::ElementsAre;
using testing::ElementsAreArray;

// The configuration and the boxes of two-stage case "tiny", of which the numbers below were made with torchvision
// 0.29.2 in float64.
SourceSpec tiny_two_stage() {
  SourceSpec spec{.batch = 2};
  spec.detection = detection_conventions("torchvision-tiny");
  spec.detection.task = DetectionTask::two_stage;
  spec.detection.height = spec.detection.width = 128;
  spec.detection.objects = 4;
  spec.detection.mask_runs = 4096;
  spec.detection.roi_keys = 132;
  spec.detection.sampled_anchors = 32;
  spec.detection.positive_anchors = 16;
  return spec;
}
DetectionSample with_ellipses(DetectionSample sample) {
  for (const auto& box : sample.boxes) sample.masks.push_back(ellipse_mask(box, sample.size));
  return sample;
}
std::vector<DetectionSample> tiny_samples() {
  return {with_ellipses({.size = {128, 128},
                         .boxes = {{10.25, 20.5, 60.75, 90.25}, {50, 8.5, 120.5, 40.25}, {70.5, 60.25, 125, 120.75}},
                         .labels = {1, 2, 3}}),
          with_ellipses(
              {.size = {112, 96}, .boxes = {{5.5, 5.25, 40.25, 30.5}, {30.75, 40.5, 110.25, 92}}, .labels = {2, 1}})};
}

// Rows are filled with what an earlier batch might have left.
TensorMap encoded(const DetectionEncoder& encoder, const std::vector<DetectionSample>& samples) {
  TensorMap batch = new_batch(encoder.layout(static_cast<int64_t>(samples.size())));
  for (auto& [name, tensor] : batch) {
    if (tensor.dtype() == DType::f32) std::ranges::fill(tensor.as<float>(), 7.f);
    if (tensor.dtype() == DType::i32) std::ranges::fill(tensor.as<int32_t>(), 7);
  }
  for (size_t n = 0; n < samples.size(); ++n)
    encoder.write(samples[n], 1, static_cast<int64_t>(n), Row(batch, static_cast<int64_t>(n)));
  encoder.finish(batch);
  return batch;
}
template <class T>
std::vector<T> part(const TensorMap& batch, const std::string& name, size_t begin, size_t count) {
  const auto all = batch.at(name).as<T>().subspan(begin, count);
  return {all.begin(), all.end()};
}
double sum_of(const std::vector<float>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

TEST(TwoStageEncoder, SamplesTheAnchorsOfTheReference) {
  const TensorMap batch = encoded(*two_stage_encoder(tiny_two_stage()), tiny_samples());
  const std::vector<int32_t> first = part<int32_t>(batch, "rpn_index", 0, 32),
                             second = part<int32_t>(batch, "rpn_index", 32, 32);
  EXPECT_EQ(std::accumulate(first.begin(), first.end(), 0), 70055);
  EXPECT_THAT(part<int32_t>(batch, "rpn_index", 0, 8), ElementsAre(4053, 4061, 4078, 72, 181, 314, 640, 689));
  EXPECT_EQ(std::accumulate(second.begin(), second.end(), 0), 69781);
  EXPECT_THAT(part<int32_t>(batch, "rpn_index", 32, 8), ElementsAre(3867, 4062, 24, 73, 343, 500, 681, 736));
  EXPECT_EQ(sum_of(part<float>(batch, "rpn_label", 0, 32)), 3);
  EXPECT_EQ(sum_of(part<float>(batch, "rpn_label", 32, 32)), 2);
  EXPECT_NEAR(sum_of(part<float>(batch, "rpn_box_target", 0, 64)), -1.356973482333613, 1e-6);
  EXPECT_NEAR(sum_of(part<float>(batch, "rpn_box_target", 64, 64)), 0.20202870056226202, 1e-6);
}

TEST(TwoStageEncoder, WeightsAreSamplesOverSampledAnchorsOfTheBatch) {
  const TensorMap batch = encoded(*two_stage_encoder(tiny_two_stage()), tiny_samples());
  EXPECT_THAT(part<float>(batch, "rpn_weight", 0, 64), Each(2.f / 64));
  EXPECT_THAT(part<float>(batch, "rpn_box_weight", 0, 4), ElementsAre(2.f / 64, 2.f / 64, 2.f / 64, 0));
  EXPECT_THAT(part<float>(batch, "rpn_box_weight", 19, 13), Each(0.f));
}

TEST(TwoStageEncoder, WeightsSumToTheSamplesWhereAnchorsAreFewerThanSlots) {
  SourceSpec spec = tiny_two_stage();
  spec.detection.sampled_anchors = 4096;  // of 4092 anchors, some of them ignored
  const TensorMap batch = encoded(*two_stage_encoder(spec), tiny_samples());
  const std::vector<float> weights = part<float>(batch, "rpn_weight", 0, 2 * 4096);
  const auto unused = std::ranges::count(weights, 0.f);
  EXPECT_GT(unused, 8);
  EXPECT_EQ(weights[0], 2.f / static_cast<float>(std::ssize(weights) - unused));
  EXPECT_NEAR(sum_of(weights), 2, 1e-5);
}

TEST(TwoStageEncoder, WritesBoxesLabelsAndMasksAsPrefixes) {
  const auto samples = tiny_samples();
  const TensorMap batch = encoded(*two_stage_encoder(tiny_two_stage()), samples);
  EXPECT_THAT(part<int32_t>(batch, "image_size", 0, 4), ElementsAre(128, 128, 96, 112));
  EXPECT_THAT(part<int32_t>(batch, "gt_label", 0, 8), ElementsAre(1, 2, 3, 0, 2, 1, 0, 0));
  EXPECT_THAT(part<float>(batch, "gt_box", 8, 8), ElementsAre(70.5, 60.25, 125, 120.75, 0, 0, 0, 0));
  const std::vector<int32_t> starts = part<int32_t>(batch, "mask_start", 5, 5);
  const auto first = static_cast<int32_t>(samples[1].masks[0].runs.size()),
             second = static_cast<int32_t>(samples[1].masks[1].runs.size());
  EXPECT_THAT(starts, ElementsAre(0, first, first + second, first + second, first + second));
  EXPECT_THAT(
      part<int32_t>(batch, "mask_runs", 4096 + samples[1].masks[0].runs.size(), samples[1].masks[1].runs.size()),
      ElementsAreArray(samples[1].masks[1].runs));
  EXPECT_EQ(part<int32_t>(batch, "mask_runs", 8191, 1)[0], 0);
}

TEST(TwoStageEncoder, KeysAreThoseOfTheirStream) {
  const TensorMap batch = encoded(*two_stage_encoder(tiny_two_stage()), tiny_samples());
  const Philox stream(0, "data/roi_key", 1, 1);
  EXPECT_EQ(part<int32_t>(batch, "roi_key", 132 + 131, 1)[0], static_cast<int32_t>(stream.word(131) >> 1));
}

TEST(TwoStageEncoder, CountsPixelsWithAndWithoutPadding) {
  const TensorMap batch = encoded(*two_stage_encoder(tiny_two_stage()), tiny_samples());
  EXPECT_EQ(batch.at("count/pixels").as<double>()[0], 128 * 128 + 96 * 112);
  EXPECT_EQ(batch.at("count/pixel_slots").as<double>()[0], 2 * 128 * 128);
}

TEST(TwoStageEncoder, APictureWithoutObjectsHasNegativesOnly) {
  std::vector<DetectionSample> samples = tiny_samples();
  samples[1] = {.size = {112, 96}};
  const TensorMap batch = encoded(*two_stage_encoder(tiny_two_stage()), samples);
  const std::vector<int32_t> index = part<int32_t>(batch, "rpn_index", 32, 32);
  EXPECT_EQ(std::accumulate(index.begin(), index.end(), 0), 66074);
  EXPECT_THAT(part<int32_t>(batch, "rpn_index", 32, 8), ElementsAre(24, 73, 343, 500, 542, 681, 736, 787));
  EXPECT_THAT(part<float>(batch, "rpn_label", 32, 32), Each(0.f));
  EXPECT_THAT(part<int32_t>(batch, "mask_start", 5, 5), Each(0));
}

TEST(TwoStageEncoder, FindsNoPlaceForObjectsBeyondRowsOrRunLengths) {
  SourceSpec spec = tiny_two_stage();
  spec.detection.objects = 2;
  const DetectionSample sample = tiny_samples()[0];
  EXPECT_THAT(two_stage_encoder(spec)->without_place(sample), ElementsAre(2));
  spec.detection.objects = 4;
  spec.detection.mask_runs = static_cast<int64_t>(sample.masks[0].runs.size() + sample.masks[2].runs.size());
  EXPECT_THAT(two_stage_encoder(spec)->without_place(sample), ElementsAre(1));
  spec.detection.mask_runs = 0;
  EXPECT_THAT(two_stage_encoder(spec)->without_place(sample), ElementsAre());
  EXPECT_FALSE(two_stage_encoder(spec)->reads_masks());
}

TEST(TwoStageEncoder, KeepsTheStridesOfPaddedPictures) {  // at 800 rows the last level has 13 and a stride of 61
  SourceSpec spec{.batch = 1};
  spec.detection.task = DetectionTask::two_stage;
  const std::unique_ptr<DetectionEncoder> encoder = two_stage_encoder(spec);
  // The middle anchor of P6 at cell (6, 10), around (10 * 64, 6 * 61): its code is 0.
  const DetectionSample sample{.size = {1333, 800}, .boxes = {{384, 110, 896, 622}}, .labels = {90}, .masks = {{}}};
  const TensorMap batch = encoded(*encoder, {sample});
  const std::vector<int32_t> index = part<int32_t>(batch, "rpn_index", 0, 256);
  const auto found = std::ranges::find(index, 268569 - 3 * 13 * 21 + 3 * (6 * 21 + 10) + 1);
  ASSERT_NE(found, index.end());
  const auto slot = static_cast<size_t>(found - index.begin());
  EXPECT_EQ(part<float>(batch, "rpn_label", slot, 1)[0], 1);
  EXPECT_THAT(part<float>(batch, "rpn_box_target", 4 * slot, 4), Each(0.f));
}

SourceSpec one_stage_source(int64_t side, int64_t slots) {
  SourceSpec spec{.batch = 2};
  spec.detection.task = DetectionTask::one_stage;
  spec.detection.height = spec.detection.width = side;
  spec.detection.slots = slots;
  return spec;
}
int64_t matched_in(const TensorMap& batch, int64_t n) {
  int64_t matched = 0;
  for (int l = 3; l <= 7; ++l) {
    const HostTensor& t = batch.at(cat("cls_t.", l));
    const int64_t each = t.shape().elements() / t.shape()[0];
    for (const int32_t c : t.as<int32_t>().subspan(static_cast<size_t>(n * each), static_cast<size_t>(each)))
      matched += c >= 0;
  }
  return matched;
}

// Numbers of effdet 0.4.1's AnchorLabeler.
TEST(OneStageEncoder, LabelsTheAnchorsOfTheReference) {
  const std::vector<DetectionSample> samples = {
      {.size = {128, 128}, .boxes = {{20.5, 10.25, 100.75, 90}, {60, 5, 120, 40.5}}, .labels = {1, 4}},
      {.size = {128, 128}, .boxes = {{30, 30, 90, 100}}, .labels = {3}}};
  const TensorMap batch = encoded(*one_stage_encoder(one_stage_source(128, 6)), samples);
  EXPECT_EQ(matched_in(batch, 0), 73);
  EXPECT_EQ(matched_in(batch, 1), 32);
  EXPECT_EQ(batch.at("count/cls").as<double>()[0], 1 + 73 + 32);
  EXPECT_EQ(batch.at("count/box").as<double>()[0], 1 + 73 + 32);
  double classes = 0, boxes = 0;
  for (int l = 3; l <= 7; ++l) {
    for (const int32_t c : batch.at(cat("cls_t.", l)).as<int32_t>()) classes += std::max(c, 0);
    for (const float b : batch.at(cat("box_t.", l)).as<float>()) boxes += b;
  }
  EXPECT_EQ(classes, 169);
  EXPECT_NEAR(boxes, -0.2816588015994057, 2e-5);
}

TEST(OneStageEncoder, HasTheShapesOfItsLevels) {
  const BatchLayout layout = one_stage_encoder(one_stage_source(512, 91))->layout(2);
  ASSERT_EQ(layout.tensors.size(), 11);
  EXPECT_EQ(layout.tensors[1].name, "cls_t.3");
  EXPECT_EQ(layout.tensors[1].shape, (Shape{64, 64, 9}));
  EXPECT_EQ(layout.tensors[10].name, "box_t.7");
  EXPECT_EQ(layout.tensors[10].shape, (Shape{4, 4, 36}));
}

TEST(OneStageEncoder, RefusesPicturesThatAreNotSquare) {
  SourceSpec spec = one_stage_source(128, 6);
  spec.detection.width = 256;
  EXPECT_THROW(one_stage_encoder(spec), Error);
}

}  // namespace
}  // namespace tbd
