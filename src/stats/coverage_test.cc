// Coverage of the 95 % intervals on AR(1) series (docs/statistics.md): 2,000 repeats.
#include <gtest/gtest.h>

#include <cmath>

#include "stats/distributions.h"
#include "stats/intervals.h"
#include "stats/synthetic.h"

namespace tbd {
namespace {

constexpr uint32_t kCoverageRepeats = 2'000;

struct CoverageSetting {
  int64_t n;
  double phi;
  bool outliers = false;
};

template <class Covers>
double coverage(const CoverageSetting& setting, Covers covers) {
  int64_t hits = 0;
  for (uint32_t repeat = 0; repeat < kCoverageRepeats; ++repeat) {
    std::vector<double> x = synthetic::ar1(setting.n, setting.phi, 0.01, repeat);
    if (setting.outliers) synthetic::add_outliers(x, repeat);
    hits += covers(x);
  }
  return hits / static_cast<double>(kCoverageRepeats);
}

double coverage_of_throughput(const CoverageSetting& setting) {
  const double truth = 1 / (setting.outliers ? 1 + 0.02 * 0.20 : 1.0);
  const double share = coverage(setting, [&](Series x) { return throughput(x, 1.0).interval.value().contains(truth); });
  testing::Test::RecordProperty("coverage", std::to_string(share));
  return share;
}

TEST(Coverage, TwoHundredIndependentSteps) {
  const double share = coverage_of_throughput({200, 0});
  EXPECT_GE(share, 0.95);
  EXPECT_LE(share, 0.99);
}

TEST(Coverage, TwoHundredCorrelatedSteps) {
  const double share = coverage_of_throughput({200, 0.5});
  EXPECT_GE(share, 0.94);
  EXPECT_LE(share, 0.98);
}

TEST(Coverage, TwoHundredStronglyCorrelatedSteps) { EXPECT_GE(coverage_of_throughput({200, 0.9}), 0.89); }

TEST(Coverage, AThousandStronglyCorrelatedSteps) {
  const double share = coverage_of_throughput({1'000, 0.9});
  EXPECT_GE(share, 0.93);
  EXPECT_LE(share, 0.97);
}

TEST(Coverage, TwoHundredStepsWithOutliers) { EXPECT_GE(coverage_of_throughput({200, 0, true}), 0.91); }

// Why the plain formula is not used: it believes that correlated steps are independent.
TEST(Coverage, TextbookStudentTFailsOnCorrelatedSteps) {
  const double t = student_t_quantile(0.975, 199);
  const double share = coverage({200, 0.9}, [&](Series x) {
    return std::abs(mean(x) - 1) <= t * std::sqrt(variance(x) / static_cast<double>(x.size()));
  });
  testing::Test::RecordProperty("coverage", std::to_string(share));
  EXPECT_NEAR(share, 0.34, 0.03);
}

class FewSteps : public testing::TestWithParam<int64_t> {};
INSTANTIATE_TEST_SUITE_P(N, FewSteps, testing::Values(2, 3, 5, 10, 19), testing::PrintToStringParamName());

double coverage_of_mean(const CoverageSetting& setting) {
  return coverage(setting, [](Series x) { return std::abs(mean(x) - 1) <= throughput(x, 1.0).half_width; });
}

TEST_P(FewSteps, AreCoveredAsLongAsTheyAreModeratelyCorrelated) {
  const double independent = coverage_of_mean({GetParam(), 0}), correlated = coverage_of_mean({GetParam(), 0.5});
  const double strongly = coverage_of_mean({GetParam(), 0.9});
  RecordProperty("phi_0", std::to_string(independent));
  RecordProperty("phi_0_5", std::to_string(correlated));
  RecordProperty("phi_0_9", std::to_string(strongly));
  EXPECT_GE(independent, 0.96);
  EXPECT_GE(correlated, 0.92);
  EXPECT_LT(strongly, 0.92) << "strong correlation is beyond few steps: such numbers stay provisional";
}

TEST(Coverage, QuantilesOfIndependentSteps) {
  for (const double q : {0.5, 0.95}) {
    const double truth = 1 + 0.01 * normal_quantile(q);
    const double share = coverage({200, 0}, [&](Series x) { return quantile_interval(x, q).value().contains(truth); });
    RecordProperty("q" + std::to_string(static_cast<int>(100 * q)), std::to_string(share));
    EXPECT_GE(share, 0.94);
    EXPECT_LE(share, 0.99);
  }
}

}  // namespace
}  // namespace tbd
