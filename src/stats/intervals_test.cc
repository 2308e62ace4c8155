#include "stats/intervals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "stats/synthetic.h"

namespace tbd {
namespace {

bool has(const Throughput& x, std::string_view flag) { return std::count(x.flags.begin(), x.flags.end(), flag) == 1; }

TEST(Throughput, IsTheRatioOfTotals) {
  const std::vector<double> times = {1, 3}, units = {10, 10};
  EXPECT_DOUBLE_EQ(throughput(times, units).value, 5) << "not the mean of 10 and 3.33";
}

TEST(Throughput, OfConstantStepsHasNoWidth) {
  const Throughput x = throughput(std::vector<double>(200, 0.5), 8.0);
  EXPECT_DOUBLE_EQ(x.value, 16);
  ASSERT_TRUE(x.interval);
  EXPECT_EQ(x.interval->width(), 0);
  EXPECT_EQ(x.n_eff, 200);
  EXPECT_TRUE(x.flags.empty());
}

TEST(Throughput, ProportionalWorkAddsNoWidth) {
  std::vector<double> times, units;
  for (int i = 0; i < 100; ++i) {
    units.push_back(1 + i % 7);
    times.push_back(0.01 * units.back());
  }
  EXPECT_NEAR(throughput(times, units).half_width, 0, 1e-12);
}

TEST(Throughput, OfOneStepHasNoInterval) {
  const Throughput x = throughput(std::vector<double>{0.5}, 8.0);
  EXPECT_EQ(x.value, 16);
  EXPECT_FALSE(x.interval);
  EXPECT_TRUE(has(x, "one-step"));
}

TEST(Throughput, OfFewStepsAssumesACorrelationAndSaysSo) {
  const std::vector<double> times = {0.9, 1.0, 1.1, 1.0};
  const Throughput x = throughput(times, 1.0);
  const double s = std::sqrt(0.02 / 3);
  EXPECT_NEAR(x.half_width, std::sqrt(3.0) * 3.1824463053 * s / 2, 1e-9);
  ASSERT_TRUE(x.interval);
  EXPECT_NEAR(x.interval->low, 1 / (1 + x.half_width), 1e-12);
  EXPECT_NEAR(x.interval->high, 1 / (1 - x.half_width), 1e-12);
  EXPECT_TRUE(has(x, "short"));
  EXPECT_TRUE(has(x, "assumed-correlation"));
}

TEST(Throughput, WhoseUpperEndIsInfiniteHasNoInterval) {
  const Throughput x = throughput(std::vector<double>{0.5, 1.5}, 1.0);
  EXPECT_FALSE(x.interval);
  EXPECT_TRUE(has(x, "unbounded"));
}

TEST(Throughput, OfFewerThanAHundredStepsIsShort) {
  EXPECT_TRUE(has(throughput(synthetic::ar1(99, 0, 0.01, 1), 1.0), "short"));
  EXPECT_FALSE(has(throughput(synthetic::ar1(100, 0, 0.01, 1), 1.0), "short"));
}

TEST(Throughput, CorrelationReducesTheEffectiveSampleSize) {
  const Throughput x = throughput(synthetic::ar1(4'000, 0.8, 0.01, 1), 1.0);
  EXPECT_NEAR(x.lag1, 0.8, 0.05);
  EXPECT_NEAR(x.n_eff, 4'000 * 0.2 / 1.8, 150);
}

TEST(Throughput, RefusesAnEmptyPhaseAndUnequalLengths) {
  EXPECT_THROW(throughput({}, 1.0), Error);
  EXPECT_THROW(throughput(std::vector<double>{1, 1}, std::vector<double>{1}), Error);
}

TEST(HalfWidth, NeedsTwentyValues) {
  EXPECT_THROW(half_width(std::vector<double>(19, 0.0)), Error);
  EXPECT_NO_THROW(half_width(std::vector<double>(20, 0.0)));
}

TEST(HalfWidth, AnticorrelationGainsAtMostAFactorFive) {
  std::vector<double> x = synthetic::ar1(200, 0, 1e-6, 1);
  for (size_t i = 0; i < x.size(); ++i) x[i] += i % 2 == 0 ? 1 : -1;
  EXPECT_NEAR(half_width(x).n_eff, 1'000, 1e-6);
}

Throughput launch(double value, double relative) {
  return {.value = value, .interval = Interval{value / (1 + relative), value / (1 - relative)}};
}

TEST(Launches, OneKeepsItsOwnIntervalAndSaysSo) {
  const LaunchesThroughput x = combined({launch(100, 0.01)});
  EXPECT_EQ(x.value, 100);
  EXPECT_EQ(x.label, "one launch");
  EXPECT_FALSE(x.across);
  ASSERT_TRUE(x.interval);
  EXPECT_DOUBLE_EQ(x.interval->low, 100 / 1.01);
}

TEST(Launches, ThatDifferWidenTheInterval) {
  const LaunchesThroughput x = combined({launch(90, 0.001), launch(100, 0.001), launch(110, 0.001)});
  EXPECT_NEAR(x.value, std::cbrt(90.0 * 100 * 110), 1e-9);
  EXPECT_EQ(x.interval->width(), x.across->width());
  EXPECT_GT(x.interval->high, 120);
}

TEST(Launches, ThatAgreeByChanceKeepTheirOwnWidth) {
  const LaunchesThroughput x = combined({launch(100, 0.02), launch(100, 0.02), launch(100, 0.02), launch(100, 0.02)});
  EXPECT_EQ(x.across->width(), 0);
  EXPECT_NEAR(x.interval->low, 100 / (1 + 0.01 * std::sqrt(2.0)), 1e-9)
      << "four independent launches of 2 %, against four others";
}

TEST(Launches, NoneCannotBeCombined) { EXPECT_THROW(combined({}), Error); }

TEST(QuantileInterval, OfTheMedianUsesTheKnownRanks) {
  std::vector<double> x;
  for (int i = 1; i <= 20; ++i) x.push_back(i);
  const auto interval = quantile_interval(x, 0.5);
  ASSERT_TRUE(interval);
  EXPECT_EQ(interval->low, 6) << "sign-test table: ranks 6 and 15 of 20";
  EXPECT_EQ(interval->high, 15);
}

TEST(QuantileInterval, IsAbsentWhereNoOrderStatisticBounds) {
  EXPECT_FALSE(quantile_interval(std::vector<double>(5, 1.0), 0.5));
  EXPECT_TRUE(quantile_interval(std::vector<double>(6, 1.0), 0.5));
}

}  // namespace
}  // namespace tbd
