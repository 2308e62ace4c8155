#include "data/axis_filter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"

namespace tbd {
namespace {

TEST(AxisFilter, HalvingWeighsByATriangleTwoPixelsHigh) {
  const AxisFilter f = triangle_filter(0, 4, 2, 0, 4);
  ASSERT_EQ(f.taps, 3);
  EXPECT_EQ(f.first, (std::vector<int64_t>{0, 1}));
  // Centres 1 and 3; heights 3/4, 3/4, 1/4 at distances 1/2, 1/2, 3/2 of half-width 2.
  const std::vector<float> expected = {3 / 7.f, 3 / 7.f, 1 / 7.f, 1 / 7.f, 3 / 7.f, 3 / 7.f};
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(f.weights[i], expected[i], 1e-7);
}

TEST(AxisFilter, DoublingInterpolatesBetweenHalfPixelCentres) {
  const AxisFilter f = triangle_filter(0, 2, 4, 0, 2);
  ASSERT_EQ(f.taps, 2);
  const std::vector<float> expected = {1, 0, .75f, .25f, .25f, .75f, 0, 1};
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(f.weights[i], expected[i], 1e-7);
}

TEST(AxisFilter, SameSizeCopies) {
  const AxisFilter f = triangle_filter(3, 5, 5, 0, 20);
  for (int64_t i = 0; i < 5; ++i) {
    double at = 0;
    for (int64_t k = 0; k < f.taps; ++k) at += f.row(i)[k] * static_cast<double>(f.first[i] + k);
    EXPECT_NEAR(at, 3 + static_cast<double>(i), 1e-6);
  }
}

TEST(AxisFilter, StaysInBoundsAndSumsToOneForAnySizes) {
  for (int64_t size : {1, 2, 3, 7, 100, 333})
    for (int64_t output : {1, 2, 5, 64, 224})
      for (double start : {0.0, 0.25, 0.5}) {
        const AxisFilter f = triangle_filter(start, static_cast<double>(size) - start, output, 0, size);
        ASSERT_EQ(f.size(), output);
        for (int64_t i = 0; i < output; ++i) {
          EXPECT_GE(f.first[i], 0);
          EXPECT_GE(f.first[i], f.begin);
          EXPECT_LE(f.first[i] + f.taps, f.end);
          EXPECT_LE(f.end, size);
          EXPECT_GE(f.first[i], f.first[std::max<int64_t>(0, i - 1)]);
          EXPECT_NEAR(std::accumulate(f.row(i), f.row(i) + f.taps, 0.0), 1, 1e-5);
        }
      }
}

TEST(AxisFilter, MirroringReversesTheOutputs) {
  const AxisFilter f = triangle_filter(0, 10, 4, 0, 10), m = mirrored(f);
  for (int64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(m.first[i], f.first[3 - i]);
    for (int64_t k = 0; k < f.taps; ++k) EXPECT_EQ(m.row(i)[k], f.row(3 - i)[k]);
  }
}

TEST(AxisFilter, RefusesAnEmptyInterval) {
  EXPECT_THROW(triangle_filter(0, 0, 4, 0, 10), Error);
  EXPECT_THROW(triangle_filter(0, 4, 0, 0, 10), Error);
  EXPECT_THROW(triangle_filter(12, 4, 2, 0, 10), Error);
}

}  // namespace
}  // namespace tbd
