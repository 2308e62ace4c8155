// Error rates and power of A/B verdicts (docs/statistics.md): launches drawn log-normal, fixed seeds.
#include <gtest/gtest.h>

#include <cmath>

#include "base/philox.h"
#include "stats/compare.h"

namespace tbd {
namespace {

constexpr uint32_t kVerdictRepeats = 10'000;

struct VerdictSetting {
  double effect;  // X_A / X_B - 1
  double cv;
  int64_t launches = 5;
};

struct Rates {
  double faster = 0, slower = 0, same = 0, undecided = 0, a_higher = 0;
};

std::vector<double> draw(double level, double cv, int64_t launches, const Philox& noise) {
  std::vector<double> x;
  for (int64_t i = 0; i < launches; ++i) x.push_back(level * std::exp(cv * noise.normal(static_cast<uint64_t>(i))));
  return x;
}

Rates simulate(const VerdictSetting& s) {
  Rates rates;
  const double one = 1.0 / kVerdictRepeats;
  for (uint32_t repeat = 0; repeat < kVerdictRepeats; ++repeat) {
    const Ratio r = ratio(draw(1 + s.effect, s.cv, s.launches, Philox(5, "a", repeat)),
                          draw(1, s.cv, s.launches, Philox(5, "b", repeat)));
    const Verdict v = verdict(r);
    rates.faster += v == Verdict::faster ? one : 0;
    rates.slower += v == Verdict::slower ? one : 0;
    rates.same += v == Verdict::same ? one : 0;
    rates.undecided += v == Verdict::undecided ? one : 0;
    rates.a_higher += direction(r) == Direction::a_higher ? one : 0;
  }
  testing::Test::RecordProperty("faster", std::to_string(rates.faster));
  testing::Test::RecordProperty("slower", std::to_string(rates.slower));
  testing::Test::RecordProperty("same", std::to_string(rates.same));
  testing::Test::RecordProperty("undecided", std::to_string(rates.undecided));
  testing::Test::RecordProperty("a_higher", std::to_string(rates.a_higher));
  return rates;
}

TEST(VerdictRates, NoChangeIsReportedAsSame) {
  const Rates r = simulate({0, 0.005});
  EXPECT_GE(r.same, 0.99);
  EXPECT_LT(r.faster + r.slower, 0.001);
}

// Of runs whose ratio lies at its bound, how many call it above: looked at after so many launches of each side, and no
// further once it is decided (docs/plans.md).
double called_above(const std::vector<int64_t>& looks) {
  constexpr uint64_t kRuns = 20'000;
  uint64_t above = 0;
  for (uint64_t run = 0; run < kRuns; ++run) {
    const std::vector<double> a = draw(1, 0.01, looks.back(), Philox(8, "a", run)),
                              b = draw(1, 0.01, looks.back(), Philox(8, "b", run));
    for (const int64_t launches : looks) {
      const auto n = static_cast<size_t>(launches);
      const Direction found = direction(ratio(Series(a).first(n), Series(b).first(n)));
      above += found == Direction::a_higher;
      if (found != Direction::none) break;
    }
  }
  return static_cast<double>(above) / kRuns;
}

TEST(VerdictRates, FurtherLooksAtWhatIsUndecidedCostCertainty) {
  EXPECT_NEAR(called_above({5}), 0.023, 0.002);
  EXPECT_NEAR(called_above({3, 5, 10, 20}), 0.068, 0.002);
}

TEST(VerdictRates, AnEffectAsLargeAsTheMarginIsSeldomFaster) { EXPECT_LE(simulate({0.02, 0.005}).faster, 0.04); }

TEST(VerdictRates, FivePercentIsFoundThroughOnePercentOfNoise) { EXPECT_GE(simulate({0.05, 0.01}).faster, 0.95); }

TEST(VerdictRates, ThreePercentIsFoundThroughThreePerMille) { EXPECT_GE(simulate({0.03, 0.003}).faster, 0.98); }

TEST(VerdictRates, ThreePercentThroughFivePerMilleIsOftenMissedWithFiveLaunches) {
  EXPECT_NEAR(simulate({0.03, 0.005}).faster, 0.76, 0.03);
}

TEST(VerdictRates, ThreePercentThroughFivePerMilleIsFoundWithNineLaunches) {
  EXPECT_GE(simulate({0.03, 0.005, 9}).faster, 0.95);
}

TEST(VerdictRates, TwoPercentIsUndecidedButItsDirectionIsFound) {
  const Rates r = simulate({0.02, 0.007});
  EXPECT_GE(r.undecided, 0.9);
  EXPECT_GE(r.a_higher, 0.9);
}

// Twenty rows of which half differ: of those called different at most 5 % do not.
TEST(VerdictRates, FalseDiscoveriesAmongManyRowsAreFew) {
  double wrong = 0, called = 0;
  for (uint32_t table = 0; table < 500; ++table) {
    std::vector<double> p_values;
    for (uint32_t row = 0; row < 20; ++row) {
      const double effect = row % 2 == 0 ? 0 : 0.06;
      const Ratio r = ratio(draw(1 + effect, 0.03, 3, Philox(7, "a", table * 20 + row)),
                            draw(1, 0.03, 3, Philox(7, "b", table * 20 + row)));
      p_values.push_back(margin_p_value(r, 0).value());
    }
    const std::vector<bool> found = discoveries(p_values);
    double wrong_here = 0, called_here = 0;
    for (size_t row = 0; row < found.size(); ++row) {
      called_here += found[row] ? 1 : 0;
      wrong_here += found[row] && row % 2 == 0 ? 1 : 0;
    }
    if (called_here > 0) wrong += wrong_here / called_here;
    called += called_here;
  }
  RecordProperty("false_discovery_rate", std::to_string(wrong / 500));
  EXPECT_GT(called, 100);
  EXPECT_LE(wrong / 500, 0.05);
}

class DetectableChange : public testing::TestWithParam<double> {};
INSTANTIATE_TEST_SUITE_P(CvPerMille, DetectableChange, testing::Values(3, 5, 7), testing::PrintToStringParamName());

TEST_P(DetectableChange, IsFoundInNineOfTen) {
  const double cv = GetParam() / 1'000;
  const double found = simulate({detectable_change(cv, 5, 5), cv}).faster;
  EXPECT_GE(found, 0.87);
  EXPECT_LE(found, 0.92);
}

// A planted op, copy or allocation is certain from one launch, however noisy the times are.
TEST(VerdictRates, CountersHaveNoFalsePositivesOrNegatives) {
  const Philox random(6, "counters");
  for (uint64_t i = 0; i < 1'000; ++i) {
    const std::vector<int64_t> base(3, random.word(2 * i) % 1'000);
    const std::vector<int64_t> planted(1, base.front() + 1 + random.word(2 * i + 1) % 3);
    ASSERT_EQ(compare_counters(base, base), CounterVerdict::unchanged);
    ASSERT_EQ(compare_counters(base, planted), CounterVerdict::changed);
  }
}

}  // namespace
}  // namespace tbd
