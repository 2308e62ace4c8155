#include "stats/segmentation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "stats/synthetic.h"

namespace tbd {
namespace {

double cost(Series x, double sigma_lr) {
  double sum = 0;
  for (const double v : x) sum += std::pow((v - mean(x)) / sigma_lr, 2);
  return sum;
}

double total_cost(Series x, const std::vector<Segment>& segments, double sigma_lr) {
  double sum = 6 * std::log(static_cast<double>(x.size())) * static_cast<double>(segments.size() - 1);
  for (const Segment& s : segments)
    sum += cost(x.subspan(static_cast<size_t>(s.begin), static_cast<size_t>(s.end - s.begin)), sigma_lr);
  return sum;
}

// Every way to cut into segments of at least 10, by recursion.
double least_cost(Series x, double sigma_lr, double penalty) {
  double least = cost(x, sigma_lr);
  for (size_t cut = 10; cut + 10 <= x.size(); ++cut)
    least = std::min(least, cost(x.first(cut), sigma_lr) + penalty + least_cost(x.subspan(cut), sigma_lr, penalty));
  return least;
}

std::vector<double> with_levels(int64_t n, int64_t each, uint32_t repeat) {
  std::vector<double> x = synthetic::ar1(n, 0.3, 0.01, repeat);
  for (size_t i = 0; i < x.size(); ++i) x[i] += 0.05 * static_cast<double>(static_cast<int64_t>(i) / each % 3);
  return x;
}

TEST(Hampel, ReplacesOnlyOutliers) {
  std::vector<double> x = synthetic::ar1(60, 0, 0.01, 1);
  const double kept = x[20];
  x[30] = 1.5;
  const std::vector<double> y = hampel_filtered(x);
  EXPECT_EQ(y[20], kept);
  EXPECT_NEAR(y[30], 1, 0.02);
}

TEST(Hampel, KeepsAllWhereTheNeighboursAreEqual) {
  std::vector<double> x(30, 1.0);
  x[10] = 2;
  EXPECT_EQ(hampel_filtered(x), x);
}

TEST(Noise, FindsTheCorrelationAndTheScale) {
  for (const double phi : {0.0, 0.5, 0.9}) {
    const Noise noise = noise_of(synthetic::ar1(20'000, phi, 0.01, 3));
    EXPECT_NEAR(noise.phi, phi, 0.04);
    EXPECT_NEAR(noise.sigma / 0.01, 1, 0.1);
    EXPECT_NEAR(noise.sigma_lr / (0.01 * std::sqrt((1 + phi) / (1 - phi))), 1, 0.2);
  }
}

TEST(Noise, IgnoresASingleLevelShift) {
  std::vector<double> x = synthetic::ar1(1'000, 0, 0.01, 4);
  for (size_t i = 500; i < x.size(); ++i) x[i] += 1;
  EXPECT_NEAR(noise_of(x).sigma, 0.01, 0.001);
}

TEST(Noise, HasAFloorForConstantSeries) {
  const Noise noise = noise_of(std::vector<double>(50, 2.0));
  EXPECT_EQ(noise.sigma, 0);
  EXPECT_DOUBLE_EQ(noise.sigma_lr, 2e-4);
}

TEST(Segmentation, MatchesExhaustiveSearch) {
  for (uint32_t repeat = 0; repeat < 5; ++repeat) {
    const std::vector<double> x = with_levels(55, 18, repeat);
    EXPECT_NEAR(total_cost(x, segmented(x, 0.01), 0.01), least_cost(x, 0.01, 6 * std::log(55.0)), 1e-6) << repeat;
  }
}

TEST(Segmentation, FindsTheLevels) {
  const std::vector<Segment> found = segmented(with_levels(300, 100, 1), 0.014);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_NEAR(static_cast<double>(found[1].begin), 100, 1);
  EXPECT_NEAR(static_cast<double>(found[2].begin), 200, 1);
  EXPECT_EQ(found[2].end, 300);
}

TEST(Segmentation, SegmentsAreTenLongAndCoverTheSeries) {
  std::vector<double> x(40, 1.0);
  for (size_t i = 20; i < 25; ++i) x[i] = 5;
  int64_t next = 0;
  for (const Segment& s : segmented(x, 0.01)) {
    EXPECT_EQ(s.begin, next);
    EXPECT_GE(s.end - s.begin, 10);
    next = s.end;
  }
  EXPECT_EQ(next, 40);
}

TEST(Segmentation, ShortSeriesStayWhole) {
  EXPECT_EQ(segmented(std::vector<double>(19, 1.0), 0.1).size(), 1u);
  EXPECT_TRUE(segmented({}, 0.1).empty());
}

TEST(Segmentation, PruningDoesNotChangeTheResult) {
  const std::vector<double> x = with_levels(5'001, 700, 2);
  const std::vector<Segment> found = segmented(x, 0.0136);
  ASSERT_EQ(found.size(), 8u);
  // The same series with its last value dropped is not pruned; both see the same changes.
  const std::vector<Segment> unpruned = segmented(Series(x).first(5'000), 0.0136);
  ASSERT_EQ(unpruned.size(), found.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i].begin, unpruned[i].begin);
}

TEST(Segmentation, VeryLongSeriesAreCutOnAGrid) {
  const std::vector<Segment> found = segmented(with_levels(45'003, 15'000, 1), 0.0136);
  ASSERT_EQ(found.size(), 3u) << "three values at the end are too few for a segment";
  EXPECT_NEAR(static_cast<double>(found[1].begin), 15'000, 5);
  EXPECT_NEAR(static_cast<double>(found[2].begin), 30'000, 5);
  EXPECT_EQ(found[2].end, 45'003);
}

}  // namespace
}  // namespace tbd
