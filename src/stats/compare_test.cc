#include "stats/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace tbd {
namespace {

const std::vector<double> kBase = {100, 101, 99, 100.5, 99.5};

std::vector<double> times(std::vector<double> x, double factor) {
  for (double& v : x) v *= factor;
  return x;
}

TEST(Ratio, IsWelchsTOnLogarithms) {
  const std::vector<double> a = {std::exp(1.0), std::exp(2.0), std::exp(3.0)}, b = {std::exp(0.0), std::exp(1.0)};
  const Ratio r = ratio(a, b);
  EXPECT_NEAR(r.value, std::exp(1.5), 1e-12);
  // va / 3 = 1/3, vb / 2 = 1/4: df = (7/12)^2 / ((1/3)^2 / 2 + (1/4)^2) = 2.88; t_{0.975} by tables of 2 and 3.
  ASSERT_TRUE(r.interval);
  const double t = (std::log(r.interval->high) - 1.5) / std::sqrt(7.0 / 12);
  EXPECT_GT(t, 3.182);
  EXPECT_LT(t, 4.303);
  EXPECT_NEAR(*r.sd, std::sqrt((2 * 1.0 + 0.5) / 3), 1e-12);
}

TEST(Ratio, WithOneLaunchOnASideHasNoInterval) {
  const Ratio r = ratio(std::vector<double>{110}, kBase);
  EXPECT_FALSE(r.interval);
  EXPECT_TRUE(r.sd);
  EXPECT_EQ(verdict(r), Verdict::undecided);
  EXPECT_FALSE(ratio(std::vector<double>{110}, std::vector<double>{100}).sd);
  EXPECT_FALSE(power(ratio(std::vector<double>{110}, std::vector<double>{100})).launches_needed);
}

TEST(Verdicts, FollowTheMargin) {
  EXPECT_EQ(compare(times(kBase, 1.10), kBase).verdict, Verdict::faster);
  EXPECT_EQ(compare(kBase, times(kBase, 1.10)).verdict, Verdict::slower);
  EXPECT_EQ(compare(kBase, kBase).verdict, Verdict::same);
  EXPECT_EQ(compare(times(kBase, 1.02), kBase).verdict, Verdict::undecided);
}

TEST(Verdicts, SignificantChangeBelowTheMarginIsSameWithADirection) {
  const std::vector<double> quiet = {100, 100.01, 99.99, 100, 100};
  const Comparison c = compare(times(quiet, 1.01), quiet);
  EXPECT_EQ(c.verdict, Verdict::same);
  EXPECT_EQ(c.direction, Direction::a_higher);
  EXPECT_EQ(compare(quiet, times(quiet, 1.01)).direction, Direction::b_higher);
  EXPECT_EQ(compare(quiet, quiet).direction, Direction::none);
}

TEST(Verdicts, NeedThreeLaunchesOnEachSide) {
  const std::vector<double> two = {150, 150.1};
  EXPECT_EQ(compare(two, kBase).verdict, Verdict::undecided);
}

TEST(Verdicts, IdenticalLaunchesGiveACertainVerdict) {
  const std::vector<double> exact(3, 100.0);
  const Comparison c = compare(times(exact, 1.05), exact);
  EXPECT_EQ(c.verdict, Verdict::faster);
  EXPECT_FALSE(c.ratio.p_value);
  EXPECT_EQ(c.power.launches_needed, 3);
}

TEST(Verdicts, AreUndecidedWhenCycleCountsDisagree) {
  EXPECT_EQ(confirmed_in_cycles(Verdict::faster, Verdict::same), Verdict::undecided);
  EXPECT_EQ(confirmed_in_cycles(Verdict::faster, Verdict::faster), Verdict::faster);
  EXPECT_EQ(confirmed_in_cycles(Verdict::same, Verdict::undecided), Verdict::same);
}

TEST(Verdicts, ADifferenceThatTheClockMadeIsNone) {
  const std::vector<double> fast = times(kBase, 1.1), usual(kBase.size(), 1500.0), high(kBase.size(), 1650.0);
  const auto said = [&](const std::vector<double>& clocks_of_fast, const std::vector<double>& clocks) {
    return compare(ClockedLaunches{fast, clocks_of_fast}, ClockedLaunches{kBase, clocks});
  };
  EXPECT_EQ(said(usual, usual).verdict, Verdict::faster);
  EXPECT_FALSE(said(usual, usual).made_by_clock);
  EXPECT_EQ(said(high, usual).verdict, Verdict::undecided);
  EXPECT_TRUE(said(high, usual).made_by_clock);
  EXPECT_EQ(said(high, {}).verdict, Verdict::faster) << "no clock on one side";
}

TEST(Verdicts, RejectInvalidThroughput) {
  EXPECT_THROW(compare({}, kBase), Error);
  EXPECT_THROW(compare(std::vector<double>{0}, kBase), Error);
}

TEST(PairedRatio, IsStudentsTOnTheRatiosOfPairs) {
  // Logarithms of the ratios: 1, 2, 3. Mean 2, standard deviation 1, t_{0.975, 2} = 4.30265.
  const std::vector<double> a = {std::exp(1.0), std::exp(4.0), std::exp(8.0)},
                            b = {std::exp(0.0), std::exp(2.0), std::exp(5.0)};
  const Ratio r = paired_ratio(a, b);
  EXPECT_NEAR(r.value, std::exp(2.0), 1e-12);
  ASSERT_TRUE(r.interval);
  EXPECT_NEAR(std::log(r.interval->high) - 2, 4.30265 / std::sqrt(3.0), 1e-5);
  EXPECT_NEAR(*r.sd, 1 / std::sqrt(2.0), 1e-12);
  EXPECT_THROW(paired_ratio(a, std::vector<double>{1, 2}), Error);
  EXPECT_FALSE(paired_ratio(std::vector<double>{2}, std::vector<double>{1}).interval);
}

TEST(PairedRatio, IsBlindToWhatMovesBothSides) {
  const std::vector<double> weather = {100, 60, 130, 80, 100};
  const std::vector<double> b = {100.1, 59.9, 130.2, 80.1, 99.9};
  EXPECT_EQ(compare_pairs(times(b, 1.05), weather).verdict, Verdict::faster);
  EXPECT_EQ(compare(times(b, 1.05), weather).verdict, Verdict::undecided);
}

TEST(MarginPValue, SaysWhatTheVerdictSays) {
  for (const double factor : {0.9, 0.97, 0.98, 0.985, 1.0, 1.015, 1.02, 1.021, 1.03, 1.05, 1.2}) {
    const Comparison c = compare(times({100, 101.1, 99.2, 100.4, 99.5}, factor), kBase);
    const bool differs = c.verdict == Verdict::faster || c.verdict == Verdict::slower;
    EXPECT_EQ(margin_p_value(c.ratio).value() < 0.05, differs) << factor;
    EXPECT_LE(margin_p_value(c.ratio).value(), 1) << factor;
  }
  EXPECT_FALSE(margin_p_value(ratio(std::vector<double>{1}, kBase)));
}

TEST(LaunchesToFind, AreTheLeastThatDetect) {
  for (const double change : {0.03, 0.05, 0.10}) {
    const int64_t launches = launches_to_find(change, 0.01);
    EXPECT_LE(detectable_change(0.01, launches, launches), change);
    if (launches > 3) {
      EXPECT_GT(detectable_change(0.01, launches - 1, launches - 1), change);
    }
  }
  EXPECT_EQ(launches_to_find(0.01, 0.01), kMostLaunches + 1) << "within the margin";
  EXPECT_GE(launches_to_find(0.05, 0.02, true), launches_to_find(0.05, 0.02)) << "pairs have half the freedom";
}

TEST(Power, MatchesTheDocumentedFormula) {
  // ln 1.02 + (t_{0.975,8} + t_{0.9,8}) * 0.01 * sqrt(2 / 5)
  const double expected = std::exp(std::log(1.02) + (2.3060041350 + 1.3968153097) * 0.01 * std::sqrt(0.4)) - 1;
  EXPECT_NEAR(detectable_change(0.01, 5, 5), expected, 1e-10);
}

TEST(Power, LaunchesNeededAreTheLeastThatDetect) {
  for (const double gain : {1.03, 1.035, 1.045}) {
    const Ratio r{.value = gain, .sd = 0.01, .launches_a = 5, .launches_b = 5};
    const int64_t launches = power(r).launches_needed.value();
    ASSERT_GT(launches, 3) << gain;
    EXPECT_LE(detectable_change(0.01, launches, launches), gain - 1);
    EXPECT_GT(detectable_change(0.01, launches - 1, launches - 1), gain - 1);
    const Ratio mirrored{.value = 1 / gain, .sd = 0.01, .launches_a = 5, .launches_b = 5};
    EXPECT_EQ(power(mirrored).launches_needed, launches);
  }
}

TEST(Power, NoLaunchCountSufficesAtTheMargin) {
  const Ratio r{.value = 1.02, .sd = 0.01, .launches_a = 5, .launches_b = 5};
  EXPECT_EQ(power(r).launches_needed, kMostLaunches + 1);
}

TEST(MannWhitney, IsExactForSeparatedSides) {
  std::vector<double> low, high;
  for (int i = 0; i < 9; ++i) {
    low.push_back(i);
    high.push_back(100 + i);
  }
  EXPECT_NEAR(mann_whitney_p(low, high), 2.0 / 48'620, 1e-12) << "two of C(18, 9) orders";
  EXPECT_NEAR(mann_whitney_p(high, low), 2.0 / 48'620, 1e-12);
}

TEST(MannWhitney, AgreesWithItsTable) {
  // Critical value of U for 5 and 5 at 5 % two-sided: 2. U = 2: p = 8 / 252; U = 3: 14 / 252 (Mann & Whitney 1947).
  const std::vector<double> a = {1, 2, 3, 4, 7}, b = {5, 6, 8, 9, 10};
  EXPECT_NEAR(mann_whitney_p(a, b), 8.0 / 252, 1e-12);
}

TEST(MannWhitney, PValueIsOneWhenAllValuesTie) {
  const std::vector<double> x(9, 1.0);
  EXPECT_EQ(mann_whitney_p(x, x), 1);
}

TEST(MannWhitney, IsReportedFromNineLaunchesOn) {
  std::vector<double> nine = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  EXPECT_TRUE(compare(nine, nine).mann_whitney_p);
  EXPECT_FALSE(compare(nine, kBase).mann_whitney_p);
}

TEST(Discoveries, MatchTheExampleOfBenjaminiAndHochberg) {
  // Benjamini & Hochberg 1995, section 3.2: 15 p-values, four rejected.
  const std::vector<double> p = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                                 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
  const std::vector<bool> found = discoveries(p);
  EXPECT_EQ(std::count(found.begin(), found.end(), true), 4);
  EXPECT_TRUE(found[3]);
  EXPECT_FALSE(found[4]);
  EXPECT_TRUE(discoveries({}).empty());
}

TEST(Counters, CompareExactly) {
  using Values = std::vector<int64_t>;
  EXPECT_EQ(compare_counters(Values{160, 160, 160}, Values{160}), CounterVerdict::unchanged);
  EXPECT_EQ(compare_counters(Values{160, 160, 160}, Values{161}), CounterVerdict::changed);
  EXPECT_EQ(compare_counters(Values{160, 161, 160}, Values{190}), CounterVerdict::varies);
  EXPECT_THROW(compare_counters({}, Values{1}), Error);
}

}  // namespace
}  // namespace tbd
