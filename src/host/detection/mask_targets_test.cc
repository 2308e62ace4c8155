#include "host/detection/mask_targets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/philox.h"
#include "host/detection/testing_golden.h"

namespace tbd::detection {
namespace {

using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::Pointwise;
using testing_detection::golden;
using testing_detection::golden_boxes;
using testing_detection::golden_integers;
using testing_detection::random_boxes;

TEST(MaskTarget, IsTorchvisions) {
  const Extent mask = {golden_integers("small", "/mask_target/height")[0],
                       golden_integers("small", "/mask_target/width")[0]};
  const int32_t side = golden_integers("small", "/mask_target/side")[0];
  std::vector<double> got;
  for (const Box& roi : golden_boxes("small", "/mask_target/rois")) {
    const std::vector<double> target = mask_target(golden_integers("small", "/mask_target/runs"), mask, roi, side);
    got.insert(got.end(), target.begin(), target.end());
  }
  EXPECT_THAT(got, Pointwise(DoubleNear(1e-12), golden("small", "/mask_target/result")));
}

// A mask as pixels by rows, and as runs by columns.
struct Mask {
  Extent extent;
  std::vector<int> pixels;

  int at(int64_t y, int64_t x) const { return pixels[y * extent.width + x]; }
  std::vector<int32_t> runs() const {
    std::vector<int32_t> out = {0};
    for (int64_t x = 0; x < extent.width; ++x)
      for (int64_t y = 0; y < extent.height; ++y) {
        if (at(y, x) != (std::ssize(out) - 1) % 2) out.push_back(0);
        ++out.back();
      }
    return out;
  }
};

double pixel_between(const Mask& mask, double y, double x) {
  const auto height = static_cast<double>(mask.extent.height), width = static_cast<double>(mask.extent.width);
  if (y < -1 || y > height || x < -1 || x > width) return 0;
  y = std::clamp(y, 0.0, height - 1);
  x = std::clamp(x, 0.0, width - 1);
  const auto low_y = static_cast<int64_t>(y), low_x = static_cast<int64_t>(x);
  const int64_t high_y = std::min(low_y + 1, mask.extent.height - 1),
                high_x = std::min(low_x + 1, mask.extent.width - 1);
  const double part_y = y - static_cast<double>(low_y), part_x = x - static_cast<double>(low_x);
  return (1 - part_y) * ((1 - part_x) * mask.at(low_y, low_x) + part_x * mask.at(low_y, high_x)) +
         part_y * ((1 - part_x) * mask.at(high_y, low_x) + part_x * mask.at(high_y, high_x));
}

// Sample by sample.
std::vector<double> sample_by_sample(const Mask& mask, const Box& roi, int64_t side) {
  const double width = std::max(roi.x2 - roi.x1, 1.0), height = std::max(roi.y2 - roi.y1, 1.0);
  const auto bins = static_cast<double>(side);
  const double down = std::ceil(height / bins), across = std::ceil(width / bins);
  std::vector<double> target;
  for (int64_t i = 0; i < side; ++i)
    for (int64_t j = 0; j < side; ++j) {
      double sum = 0;
      for (double s = 0; s < down; ++s)
        for (double t = 0; t < across; ++t)
          sum += pixel_between(mask, roi.y1 + (static_cast<double>(i) + (s + 0.5) / down) * height / bins,
                               roi.x1 + (static_cast<double>(j) + (t + 0.5) / across) * width / bins);
      target.push_back(sum / (down * across));
    }
  return target;
}

TEST(MaskTarget, IsThePlainLoop) {
  const Philox draw(2, "test/masks");
  for (const Extent extent : {Extent{40, 60}, Extent{1, 1}, Extent{1, 30}, Extent{30, 1}}) {
    Mask mask = {.extent = extent, .pixels = {}};
    for (int64_t i = 0; i < extent.height * extent.width; ++i) mask.pixels.push_back(draw.word(i / 3) % 2);
    std::vector<Box> rois = random_boxes(4, 6, {60, 90}, 50);
    rois.push_back({-7.5, -3.25, 70, 55});
    rois.push_back({3, 3, 3.25, 3.25});
    rois.push_back({200, 200, 220, 230});
    for (const Box& roi : rois)
      EXPECT_THAT(mask_target(mask.runs(), extent, roi, 5),
                  Pointwise(DoubleNear(1e-12), sample_by_sample(mask, roi, 5)));
  }
}

TEST(MaskTarget, OfAnEmptyMaskIsZeroAndOfAFullOneIsOneInside) {
  EXPECT_THAT(mask_target(std::vector<int32_t>{600}, {20, 30}, {2, 2, 25, 15}, 28), Each(0));
  EXPECT_THAT(mask_target(std::vector<int32_t>{0, 600}, {20, 30}, {2, 2, 25, 15}, 28), Each(DoubleNear(1, 1e-12)));
}

TEST(MaskTarget, PassesOverEmptyRuns) {
  const std::vector<int32_t> plain = {10, 5, 10}, empty = {10, 2, 0, 3, 10, 0};
  EXPECT_EQ(mask_target(plain, {5, 5}, {0, 0, 5, 5}, 4), mask_target(empty, {5, 5}, {0, 0, 5, 5}, 4));
}

}  // namespace
}  // namespace tbd::detection
