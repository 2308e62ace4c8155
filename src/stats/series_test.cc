#include "stats/series.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "stats/summary.h"
#include "stats/synthetic.h"

namespace tbd {
namespace {

TEST(Series, QuantilesInterpolateBetweenValues) {
  const std::vector<double> x = {4, 1, 3, 2};
  EXPECT_DOUBLE_EQ(quantile(x, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(quantile(x, 0.95), 3.85);
  EXPECT_DOUBLE_EQ(quantile(x, 0), 1);
  EXPECT_DOUBLE_EQ(quantile(x, 1), 4);
}

TEST(Series, MedianAgreesWithTheQuantile) {
  for (int64_t n = 1; n < 12; ++n) {
    const std::vector<double> x = synthetic::ar1(n, 0, 1, static_cast<uint32_t>(n));
    EXPECT_DOUBLE_EQ(median(x), quantile(x, 0.5)) << n;
  }
}

TEST(Series, VarianceAndMadOfAHandfulOfValues) {
  const std::vector<double> x = {1, 2, 3, 4, 100};
  EXPECT_DOUBLE_EQ(mean(x), 22);
  EXPECT_DOUBLE_EQ(variance(x), 1902.5);
  EXPECT_DOUBLE_EQ(mad(x), 1);
  EXPECT_EQ(variance(std::vector<double>{7}), 0);
}

TEST(Series, AutocorrelationOfAnAlternatingSeries) {
  const std::vector<double> x = {1, -1, 1, -1};
  EXPECT_DOUBLE_EQ(lag1_autocorrelation(x), -0.75);
  EXPECT_EQ(lag1_autocorrelation(std::vector<double>(5, 2.0)), 0);
}

TEST(Series, MeanOfAnEmptySeriesThrows) { EXPECT_THROW(mean({}), Error); }

TEST(StepTimeSummary, KeepsOutliersAndMarksThinTails) {
  std::vector<double> x(100, 1.0);
  x[40] = 9;
  const StepTimeSummary s = summary(x);
  EXPECT_DOUBLE_EQ(s.mean, 1.08);
  EXPECT_EQ(s.max, 9);
  EXPECT_FALSE(s.p50.provisional);
  EXPECT_FALSE(s.p95.provisional) << "5 of 100 values lie beyond p95";
  EXPECT_TRUE(s.p99.provisional);
  ASSERT_TRUE(s.p50.interval);
  EXPECT_EQ(s.p50.interval->low, 1);
  EXPECT_FALSE(s.p99.interval) << "no order statistic bounds p99 of 100 values from above";
}

TEST(StepTimeSummary, HasNoEffectiveNumberOfFewSteps) {
  EXPECT_FALSE(summary(std::vector<double>(19, 1.0)).n_eff);
  EXPECT_TRUE(summary(std::vector<double>(20, 1.0)).n_eff);
}

}  // namespace
}  // namespace tbd
