#include "host/detection/inference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "host/detection/testing_golden.h"

namespace tbd::detection {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pointwise;
using testing_detection::complaint;
using testing_detection::expect_signature;
using testing_detection::golden;
using testing_detection::golden_boxes;
using testing_detection::golden_integers;
using testing_detection::signature;

constexpr Extent kPicture = {100, 120};

// (i factor mod modulus) / scale - offset.
std::vector<double> line(int64_t count, int64_t factor, int64_t modulus, double scale, double offset) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<double>(i * factor % modulus) / scale - offset);
  return values;
}

std::vector<Detection> golden_detections() {
  return box_head_detections({.most = 30}, kPicture, golden_boxes("torchvision", "/detections/rois"),
                             line(40 * 4, 61, 127, 16, 3), line(40 * 4 * 4, 41, 199, 50, 2));
}

std::vector<int32_t> labels_of(const std::vector<Detection>& found) {
  std::vector<int32_t> labels;
  for (const Detection& detection : found) labels.push_back(detection.label);
  return labels;
}

std::vector<double> scores_of(const std::vector<Detection>& found) {
  std::vector<double> scores;
  for (const Detection& detection : found) scores.push_back(detection.score);
  return scores;
}

std::vector<double> corners_of(const std::vector<Detection>& found) {
  std::vector<double> corners;
  for (const auto& [box, _score, _label, _row] : found)
    for (const double corner : {box.x1, box.y1, box.x2, box.y2}) corners.push_back(corner);
  return corners;
}

TEST(BoxHeadDetections, AreTorchvisions) {
  const std::vector<Detection> found = golden_detections();
  EXPECT_EQ(labels_of(found), golden_integers("torchvision", "/detections/labels"));
  EXPECT_THAT(scores_of(found), Pointwise(DoubleNear(1e-12), golden("torchvision", "/detections/scores")));
  expect_signature(corners_of(found), "torchvision", "/detections/box_signature", 1e-9);
}

TEST(BoxHeadDetections, AreAboveTheScore) {
  const std::vector<Box> rois = {{10, 10, 50, 50}};
  const std::vector<double> deltas(8, 0.0);
  EXPECT_THAT(box_head_detections({.score = 0.5}, kPicture, rois, std::vector<double>{1, 1}, deltas), IsEmpty())
      << "exactly the score is not above it";
  const std::vector<Detection> found = box_head_detections({}, kPicture, rois, std::vector<double>{1, 1}, deltas);
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].box, rois[0]);
  EXPECT_EQ(found[0].label, 1);
}

TEST(BoxHeadDetections, LeaveOutBoxesOutsideTheImage) {
  const std::vector<Box> rois = {{500, 500, 600, 600}};
  EXPECT_THAT(box_head_detections({}, kPicture, rois, std::vector<double>{0, 5}, std::vector<double>(8, 0.0)),
              IsEmpty());
}

TEST(BoxHeadDetections, OfNoRegionsAreNone) { EXPECT_THAT(box_head_detections({}, kPicture, {}, {}, {}), IsEmpty()); }

TEST(BoxHeadDetections, RefuseNaNAndSizesThatDoNotFit) {
  const std::vector<Box> rois = {{0, 0, 9, 9}, {0, 0, 9, 9}};
  std::vector<double> logits = {0, 1, 0, std::numeric_limits<double>::quiet_NaN()}, deltas(16, 0.0);
  EXPECT_THAT(complaint([&] { box_head_detections({}, kPicture, rois, logits, deltas); }), HasSubstr("roi 1: "));
  logits.pop_back();
  EXPECT_THAT(complaint([&] { box_head_detections({}, kPicture, rois, logits, deltas); }), HasSubstr("do not fit"));
}

constexpr int64_t kAnchorRows = 3069;

std::vector<Detection> efficientdet_golden(const EfficientDetInference& settings) {
  return efficientdet_detections(settings, efficientdet_anchors({.image = 128, .extents = {16, 8, 4, 2, 1}}),
                                 line(kAnchorRows * 5, 7919, 16381, 2048, 4), line(kAnchorRows * 4, 37, 211, 100, 1));
}

void expect_effdets(const EfficientDetInference& settings, const std::string& name) {
  const std::vector<Detection> found = efficientdet_golden(settings);
  EXPECT_EQ(labels_of(found), golden_integers("effdet", name + "/labels"));
  EXPECT_THAT(scores_of(found), Pointwise(DoubleNear(1e-7), golden("effdet", name + "/scores")));
  const std::vector<double> want = golden("effdet", name + "/box_signature");  // of float32
  EXPECT_NEAR(signature(corners_of(found))[0], want[0], 1e-6 * std::abs(want[0]));
  EXPECT_NEAR(signature(corners_of(found))[1], want[1], 1e-6 * std::abs(want[1]));
}

TEST(EfficientDetDetections, AreEffdets) {
  expect_effdets({.original = Extent{128, 128}}, "/plain");
  expect_effdets({.image_scale = 2.5, .original = Extent{320, 300}}, "/scaled");
}

TEST(EfficientDetDetections, HaveNoThresholdAndLeaveBoxesWhereTheyAre) {
  const std::vector<YxBox> anchors = {{-8, -8, 8, 8}};
  const std::vector<Detection> found =
      efficientdet_detections({}, anchors, std::vector<double>{-50, -60}, std::vector<double>(4, 0.0));
  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(found[0].box, (Box{-8, -8, 8, 8}));
  EXPECT_THAT(labels_of(found), ElementsAre(1, 2));
}

TEST(EfficientDetDetections, RefuseNaNAndSizesThatDoNotFit) {
  const std::vector<YxBox> anchors = {{0, 0, 8, 8}, {0, 0, 8, 8}};
  std::vector<double> logits = {0, 0, std::numeric_limits<double>::quiet_NaN(), 0};
  const std::vector<double> codes(8, 0.0);
  EXPECT_THAT(complaint([&] { efficientdet_detections({}, anchors, logits, codes); }), HasSubstr("anchor 1: "));
  logits.pop_back();
  EXPECT_THAT(complaint([&] { efficientdet_detections({}, anchors, logits, codes); }), HasSubstr("do not fit"));
}

TEST(InOriginal, ScalesByRatiosInFloat32) {
  const Box box =
      in_original({3.25, 4.5, static_cast<double>(60.1F), static_cast<double>(70.9F)}, {800, 1066}, {480, 640});
  const std::vector<double> got = {box.x1, box.y1, box.x2, box.y2};
  EXPECT_THAT(got, Pointwise(DoubleNear(1e-13), golden("torchvision", "/resize")));
}

// Pixels that are set, and the sum of their places column by column.
std::pair<int64_t, int64_t> pixels_of(const std::vector<int32_t>& runs) {
  int64_t count = 0, places = 0, at = 0;
  for (size_t i = 0; i < runs.size(); ++i)
    for (int32_t k = 0; k < runs[i]; ++k, ++at) {
      count += static_cast<int64_t>(i % 2);
      places += static_cast<int64_t>(i % 2) * at;
    }
  EXPECT_EQ(at, kPicture.height * kPicture.width);
  return {count, places};
}

TEST(PasteMask, PastesAsTorchvision) {
  const std::vector<Detection> found = golden_detections();
  std::vector<double> logits = line(std::ssize(found) * 784, 97, 613, 100, 3);
  for (size_t i = 0; i < logits.size(); ++i) {
    const double y = static_cast<double>(i % 784 / 28) - 13.5, x = static_cast<double>(i % 28) - 13.5;
    logits[i] += 4 - (y * y + x * x) / 20;
  }
  std::vector<double> counts, places;
  for (size_t i = 0; i < found.size(); ++i) {
    const auto [count, place] =
        pixels_of(paste_mask(std::span<const double>(logits).subspan(784 * i, 784), 28, found[i].box, kPicture));
    counts.push_back(static_cast<double>(count));
    places.push_back(static_cast<double>(place));
  }
  EXPECT_EQ(counts, golden("torchvision", "/detections/pasted_pixels"));
  EXPECT_EQ(places, golden("torchvision", "/detections/pasted_signature"));
}

TEST(PasteMask, CutsAtTheImageAndGivesRunsThatFillIt) {
  const std::vector<double> all_set(16, 9.0), none_set(16, -9.0);
  EXPECT_EQ(pixels_of(paste_mask(none_set, 4, {10, 10, 40, 40}, kPicture)).first, 0);
  EXPECT_THAT(paste_mask(none_set, 4, {10, 10, 40, 40}, kPicture), ElementsAre(12000));
  EXPECT_THAT(paste_mask(all_set, 4, {-500, -500, 700, 700}, kPicture), ElementsAre(0, 12000));
  EXPECT_THAT(paste_mask(all_set, 4, {300, 300, 310, 310}, kPicture), ElementsAre(12000));
}

TEST(PasteMask, TakesAnImageOfOnePixelAndABoxWithoutArea) {
  EXPECT_THAT(paste_mask(std::vector<double>{9.0}, 1, {-2, -2, 3, 3}, {1, 1}), ElementsAre(0, 1));
  const std::vector<int32_t> runs = paste_mask(std::vector<double>(16, 9.0), 4, {5, 5, 5, 5}, kPicture);
  EXPECT_EQ(std::accumulate(runs.begin(), runs.end(), 0), 12000);
}

TEST(PasteMask, RefusesWhatItCannotPlace) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto paste = [](const std::vector<double>& logits, const Box& box) {
    return complaint([&] { paste_mask(logits, 2, box, kPicture); });
  };
  EXPECT_THAT(paste({1, 1, 1}, {0, 0, 9, 9}), HasSubstr("3 logits for a side of 2"));
  EXPECT_THAT(paste({1, 1, 1, 1}, {0, 0, nan, 9}), HasSubstr("not finite"));
  EXPECT_THAT(paste({1, 1, 1, 1}, {0, 0, 1e30, 9}), HasSubstr("beyond"));
}

}  // namespace
}  // namespace tbd::detection
