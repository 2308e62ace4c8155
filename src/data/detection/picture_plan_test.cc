#include "data/detection/picture_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/philox.h"
#include "data/testing_images.h"

namespace tbd {
namespace {
using testing::FloatNear;
using Corners = std::array<float, 4>;

DetectionSpec two_stage(int64_t height = 800, int64_t width = 1344) {
  return {.task = DetectionTask::two_stage, .height = height, .width = width};
}
DetectionSpec one_stage(int64_t side) { return {.task = DetectionTask::one_stage, .height = side, .width = side}; }

// Heights and widths of torchvision 0.29.2.
TEST(PicturePlan, ResizedExtentsAreTheReferencesRoundingIncluded) {
  const int64_t cases[][4] = {{480, 640, 800, 1066},  {427, 640, 800, 1199}, {640, 427, 1199, 800},
                              {289, 480, 799, 1328},  {333, 500, 800, 1201}, {500, 375, 1066, 800},
                              {1200, 400, 1333, 444}, {305, 333, 799, 873}};
  for (const auto& [h, w, new_h, new_w] : cases)
    EXPECT_EQ(resized_extents({w, h}, 800, 1333), (ImageSize{new_w, new_h})) << h << " " << w;
  EXPECT_EQ(resized_extents({5000, 1}, 800, 1333), (ImageSize{1333, 1}));
}

TEST(PicturePlan, PortraitsDoNotFitALandscapeCanvas) {
  EXPECT_TRUE(fits_canvas({640, 480}, two_stage()));
  EXPECT_FALSE(fits_canvas({480, 640}, two_stage()));
  EXPECT_TRUE(fits_canvas({500, 500}, two_stage()));
  EXPECT_TRUE(fits_canvas({480, 640}, two_stage(512, 512)));
  EXPECT_TRUE(fits_canvas({1, 1}, two_stage()));
}

TEST(PicturePlan, SidesBeyondTheCanvasAreBroughtToIt) {
  EXPECT_EQ(two_stage_plan({640, 480}, two_stage(128, 128), {}).shown, (ImageSize{128, 96}));
  EXPECT_EQ(two_stage_plan({640, 480}, two_stage(), {}).shown, (ImageSize{1066, 800}));
}

TEST(PicturePlan, BoxesScaleByAxisInFloat) {
  const PicturePlan plan = two_stage_plan({480, 289}, two_stage(), {});
  EXPECT_EQ(plan.scale_x, 1328.f / 480.f);
  EXPECT_EQ(plan.scale_y, 799.f / 289.f);
  const Corners box = *placed_box({10.5f, 20.25f, 100, 200}, plan);
  EXPECT_EQ(box, (Corners{10.5f * plan.scale_x, 20.25f * plan.scale_y, 100 * plan.scale_x, 200 * plan.scale_y}));
}

TEST(PicturePlan, FlipAndShorterSideAreDrawnByEpochAndPosition) {
  DetectionSpec spec = two_stage();
  spec.multiscale = true;
  int flips = 0;
  std::vector<int> sides(6);
  for (uint32_t position = 0; position < 600; ++position) {
    const PicturePlan plan = two_stage_plan({640, 640}, spec, PictureDraws{5, 2, position});
    EXPECT_EQ(plan.flip, Philox(5, "data/flip", 2, position).uniform(0) < 0.5);
    const auto part = static_cast<int64_t>(Philox(5, "data/detection_scale", 2, position).uniform(0) * 6);
    EXPECT_EQ(plan.shown.height, 640 + 32 * part);
    flips += plan.flip;
    ++sides[static_cast<size_t>(part)];
  }
  EXPECT_NEAR(flips, 300, 60);
  for (const int count : sides) EXPECT_NEAR(count, 100, 40);
  EXPECT_FALSE(two_stage_plan({640, 640}, spec, {}).flip);
}

TEST(PicturePlan, AFlippedBoxIsMirroredBeforeItIsScaled) {
  PicturePlan plan = two_stage_plan({100, 100}, two_stage(200, 200), {});
  plan.flip = true;
  EXPECT_EQ(*placed_box({10, 20, 30, 50}, plan), (Corners{140, 40, 180, 100}));
}

TEST(PicturePlan, ClippedBoxesKeepTheirAreaInsideOrGo) {
  EXPECT_EQ(*clipped_box({-5, 2, 10, 100}, {20, 30}), (Corners{0, 2, 5, 30}));
  EXPECT_FALSE(clipped_box({3, 4, 0, 5}, {20, 30}));
  EXPECT_FALSE(clipped_box({20, 4, 5, 5}, {20, 30}));
  EXPECT_FALSE(clipped_box({3, -9, 5, 9}, {20, 30}));
}

TEST(PicturePlan, OfOneStageFactorAndOffsetsAreDrawn) {
  double least = 9, most = 0;
  for (uint32_t position = 0; position < 300; ++position) {
    const PictureDraws draws{5, 1, position};
    const Philox stream(5, "data/detection_scale", 1, position);
    const double factor = 0.1 + 1.9 * stream.uniform(0), scale = factor * 512 / 640;
    const PicturePlan plan = one_stage_plan({640, 480}, one_stage(512), draws);
    EXPECT_EQ(plan.scaled, (ImageSize{static_cast<int64_t>(640 * scale), static_cast<int64_t>(480 * scale)}));
    EXPECT_EQ(plan.scale_x, static_cast<float>(scale));
    EXPECT_EQ(plan.shown,
              (ImageSize{std::min<int64_t>(512, plan.scaled.width), std::min<int64_t>(512, plan.scaled.height)}));
    const int64_t beyond_x = std::max<int64_t>(0, plan.scaled.width - 512),
                  beyond_y = std::max<int64_t>(0, plan.scaled.height - 512);
    EXPECT_EQ(plan.top, static_cast<int64_t>(stream.uniform(1) * static_cast<double>(beyond_y)));
    EXPECT_EQ(plan.left, static_cast<int64_t>(stream.uniform(2) * static_cast<double>(beyond_x)));
    least = std::min(least, factor);
    most = std::max(most, factor);
  }
  EXPECT_LT(least, 0.15);
  EXPECT_GT(most, 1.95);
  const PicturePlan plain = one_stage_plan({640, 480}, one_stage(512), {});
  EXPECT_EQ(plain.scaled, (ImageSize{512, 384}));
  EXPECT_EQ(plain.left + plain.top, 0);
}

TEST(PicturePlan, OfACutPictureBoxesAreShiftedAndClipped) {
  const PicturePlan plan{.source = {100, 100},
                         .scaled = {200, 200},
                         .left = 50,
                         .top = 20,
                         .shown = {128, 128},
                         .scale_x = 2,
                         .scale_y = 2};
  EXPECT_EQ(*placed_box({30, 30, 60, 90}, plan), (Corners{10, 40, 70, 128}));
  EXPECT_FALSE(placed_box({0, 0, 25, 90}, plan));
}

TEST(PicturePlan, MasksAreMirroredThenResized) {
  const RunLengths mask = polygon_mask(std::vector<double>{1, 2, 1, 6, 6, 6, 6, 2}, 10, 12);
  PicturePlan plan = two_stage_plan({12, 10}, two_stage(30, 36), {});
  EXPECT_EQ(placed_mask(mask, plan), resize(mask, 30, 36));
  plan.flip = true;
  EXPECT_EQ(placed_mask(mask, plan), resize(mirror(mask), 30, 36));
}

// By the definition, in double.
double bilinear(const RgbImage& image, double y, double x, int64_t c) {
  y = std::max(y, 0.0);
  x = std::max(x, 0.0);
  const auto at = [&](double row, double column) {
    const int64_t i = std::min<int64_t>(static_cast<int64_t>(row), image.size.height - 1);
    const int64_t j = std::min<int64_t>(static_cast<int64_t>(column), image.size.width - 1);
    return image.pixels[static_cast<size_t>(3 * (i * image.size.width + j) + c)];
  };
  const double fy = y - std::floor(y), fx = x - std::floor(x);
  const double value =
      (1 - fy) * ((1 - fx) * at(y, x) + fx * at(y, x + 1)) + fy * ((1 - fx) * at(y + 1, x) + fx * at(y + 1, x + 1));
  constexpr Normalisation kNormal;
  return (value / 255 - kNormal.mean[c]) / kNormal.deviation[c];
}

TEST(PicturePlan, PicturesAreInterpolatedBetweenHalfPixelsAndPaddedWithZero) {
  const RgbImage image = testing_images::picture(50, 37);
  RgbImage mirrored = image;
  for (int64_t i = 0; i < 37 * 50; ++i)
    std::copy_n(&image.pixels[static_cast<size_t>(3 * i)], 3,
                &mirrored.pixels[static_cast<size_t>(3 * (i / 50 * 50 + 49 - i % 50))]);
  for (PicturePlan plan :
       {two_stage_plan({50, 37}, two_stage(64, 96), {}), two_stage_plan({50, 37}, two_stage(20, 30), {}),
        PicturePlan{.source = {50, 37}, .scaled = {120, 88}, .left = 11, .top = 5, .shown = {70, 60}}})
    for (const bool flip : {false, true}) {
      plan.flip = flip;
      std::vector<float> out(3 * 64 * 96, 9);
      place_picture(image, plan, {96, 64}, out);
      for (int64_t c = 0; c < 3; ++c)
        for (int64_t y = 0; y < 64; ++y)
          for (int64_t x = 0; x < 96; ++x) {
            const float value = out[static_cast<size_t>((c * 64 + y) * 96 + x)];
            if (y >= plan.shown.height || x >= plan.shown.width) {
              ASSERT_EQ(value, 0);
              continue;
            }
            const double sy =
                (static_cast<double>(y + plan.top) + 0.5) * 37 / static_cast<double>(plan.scaled.height) - 0.5;
            const double sx =
                (static_cast<double>(x + plan.left) + 0.5) * 50 / static_cast<double>(plan.scaled.width) - 0.5;
            ASSERT_THAT(value, FloatNear(static_cast<float>(bilinear(flip ? mirrored : image, sy, sx, c)), 2e-4f));
          }
    }
}

}  // namespace
}  // namespace tbd
