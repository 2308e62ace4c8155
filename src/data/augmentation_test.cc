#include "data/augmentation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace tbd {
namespace {

// The literals come from a separate implementation of Philox4x32-10 and of the rules in docs/conventions.md.
TEST(EpochOrder, FollowsTheWordsOfItsStream) {
  EXPECT_EQ(epoch_order(7, 0, 8), (std::vector<uint32_t>{7, 3, 1, 0, 2, 4, 5, 6}));
  EXPECT_EQ(epoch_order(7, 1, 8), (std::vector<uint32_t>{7, 3, 2, 0, 1, 6, 5, 4}));
}

TEST(EpochOrder, IsAPermutationThatDependsOnTheSeed) {
  std::vector<uint32_t> order = epoch_order(1, 3, 1000);
  EXPECT_NE(order, epoch_order(2, 3, 1000));
  std::sort(order.begin(), order.end());
  for (uint32_t i = 0; i < 1000; ++i) ASSERT_EQ(order[i], i);
}

TEST(TrainingCrop, MatchesTheWorkedExamples) {
  const CropPlan a = training_crop({500, 375}, 224, 7, 2, 3);
  EXPECT_EQ(a.readable, (PixelRect{144, 31, 144 + 242, 31 + 270}));
  EXPECT_TRUE(a.flip);
  const CropPlan b = training_crop({500, 375}, 224, 1, 5, 9);
  EXPECT_EQ(b.readable, (PixelRect{222, 38, 222 + 205, 38 + 214}));
  EXPECT_FALSE(b.flip);
  EXPECT_EQ(b.window.left, 222);
  EXPECT_EQ(b.window.height, 214);
  EXPECT_EQ(b.output, (ImageSize{224, 224}));
}

TEST(TrainingCrop, DrawsAreaAspectPlaceAndFlipFromTheirRanges) {
  constexpr int kDraws = 4000;
  double area = 0, log_aspect = 0, flips = 0, left = 0;
  for (uint32_t i = 0; i < kDraws; ++i) {
    const CropPlan plan = training_crop({600, 600}, 224, 11, 0, i);
    const PixelRect& box = plan.readable;
    const auto width = static_cast<double>(box.right - box.left), height = static_cast<double>(box.bottom - box.top);
    ASSERT_TRUE(box.left >= 0 && box.top >= 0 && box.right <= 600 && box.bottom <= 600);
    ASSERT_GT(width * height / 360000, 0.078);
    ASSERT_LT(std::abs(std::log(width / height)), std::log(4.0 / 3) + 0.01);
    area += width * height / 360000;
    log_aspect += std::log(width / height);
    flips += plan.flip;
    left += width < 600 ? static_cast<double>(box.left) / (600 - width) : 0.5;
  }
  // Large areas with an aspect far from 1 do not fit and are drawn again, so the mean lies below (0.08 + 1) / 2.
  EXPECT_NEAR(area / kDraws, 0.50, 0.03);
  EXPECT_NEAR(log_aspect / kDraws, 0, 0.01);
  EXPECT_NEAR(flips / kDraws, 0.5, 0.03);
  EXPECT_NEAR(left / kDraws, 0.5, 0.02);
}

TEST(TrainingCrop, FallsBackToTheCentreOfAStrip) {
  // No crop of at least 8 % of 1000 x 20 with an aspect up to 4/3 fits.
  EXPECT_EQ(training_crop({1000, 20}, 224, 0, 0, 0).readable, (PixelRect{486, 0, 486 + 27, 20}));
  EXPECT_EQ(training_crop({20, 1000}, 224, 0, 0, 0).readable, (PixelRect{0, 486, 20, 486 + 27}));
}

TEST(TrainingCrop, FitsAnImageOfOnePixel) {
  EXPECT_EQ(training_crop({1, 1}, 224, 0, 0, 0).readable, (PixelRect{0, 0, 1, 1}));
}

TEST(ValidationCrop, TakesTheCentreAfterTheShorterSideBecame256) {
  const CropPlan plan = validation_crop({512, 768}, 224);  // resized to 256 x 384, offsets 16 and 80, factor 2
  EXPECT_DOUBLE_EQ(plan.window.left, 32);
  EXPECT_DOUBLE_EQ(plan.window.top, 160);
  EXPECT_DOUBLE_EQ(plan.window.width, 448);
  EXPECT_DOUBLE_EQ(plan.window.height, 448);
  EXPECT_EQ(plan.readable, (PixelRect{0, 0, 512, 768}));
  EXPECT_FALSE(plan.flip);
}

TEST(ValidationCrop, RoundsTheLongerSideDownAsTorchvision) {
  const CropPlan plan = validation_crop({500, 375}, 224);  // 341 x 256: offset round(58.5) = 58
  EXPECT_DOUBLE_EQ(plan.window.left, 58 * 500 / 341.0);
  EXPECT_DOUBLE_EQ(plan.window.top, 16 * 375 / 256.0);
}

}  // namespace
}  // namespace tbd
