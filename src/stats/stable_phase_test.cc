#include "stats/stable_phase.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "stats/synthetic.h"

namespace tbd {
namespace {

std::vector<double> flat_series(int64_t n) { return synthetic::ar1(n, 0, 0.01, 7); }
std::vector<double> scaled(std::vector<double> x, size_t begin, size_t end, double factor) {
  for (size_t i = begin; i < end; ++i) x[i] *= factor;
  return x;
}

TEST(StablePhase, OfAFlatSeriesStartsAtStepFive) {
  const StablePhase phase = find_stable_phase(flat_series(200));
  EXPECT_EQ(phase.start, 5);
  EXPECT_EQ(phase.end, 200);
  EXPECT_EQ(phase.kind, PhaseClass::flat);
}

TEST(StablePhase, BeginsAfterTheWarmUp) {
  const StablePhase phase = find_stable_phase(scaled(flat_series(200), 0, 40, 1.5));
  EXPECT_EQ(phase.start, 40);
  EXPECT_EQ(phase.kind, PhaseClass::warm_up);
}

TEST(StablePhase, KeepsALaterLevelFasterOrSlower) {
  for (const double factor : {0.7, 1.2}) {
    const StablePhase phase = find_stable_phase(scaled(flat_series(200), 100, 200, factor));
    EXPECT_EQ(phase.start, 5) << factor;
    EXPECT_EQ(phase.kind, PhaseClass::flat) << factor;
  }
}

TEST(StablePhase, DoesNotCutAFasterStart) {
  EXPECT_EQ(find_stable_phase(scaled(flat_series(200), 0, 40, 0.7)).start, 5);
}

TEST(StablePhase, BridgesLevelsWithinOnePercent) {
  const StablePhase phase = find_stable_phase(scaled(synthetic::ar1(2'000, 0, 0.002, 7), 1'000, 2'000, 1.006));
  EXPECT_GE(phase.segments.size(), 2u);
  EXPECT_EQ(phase.start, 5);
}

TEST(StablePhase, TakesNoMoreThanAThirdForWarmingUp) {
  const StablePhase phase = find_stable_phase(scaled(flat_series(200), 0, 150, 1.5));
  EXPECT_EQ(phase.kind, PhaseClass::flat);
  EXPECT_EQ(phase.start, 5);
}

// Segments of other work in the thousands once left 47 of 34,839 steps: more steps gave less.
TEST(StablePhase, OfALongSeriesWithManyLevelsIsNearlyAllOfIt) {
  std::vector<double> x = synthetic::ar1(20'000, 0.5, 0.05, 7);
  for (size_t i = 0; i < x.size(); ++i) x[i] *= i / 700 % 3 == 1 ? 1.4 : 1;
  EXPECT_GT(find_stable_phase(x).steps(), 13'000);
}

TEST(StablePhase, DoesNotReadmitAClippedCompileStep) {
  const StablePhase phase = find_stable_phase(scaled(flat_series(200), 8, 9, 50));
  EXPECT_EQ(phase.start, 9);
  EXPECT_EQ(phase.kind, PhaseClass::warm_up);
}

TEST(StablePhase, KeepsALateOutlier) { EXPECT_EQ(find_stable_phase(scaled(flat_series(200), 100, 101, 50)).start, 5); }

TEST(StablePhase, StartsNoEarlierThanTheCallersLowerBound) {
  const StablePhase phase = find_stable_phase(flat_series(200), {.at_least = 60});
  EXPECT_EQ(phase.start, 60);
  EXPECT_EQ(phase.kind, PhaseClass::flat);
  const StablePhase never = find_stable_phase(flat_series(200), {.at_least = 500});
  EXPECT_EQ(never.steps(), 0);
  EXPECT_EQ(never.kind, PhaseClass::none);
}

TEST(Shift, IsADriftWithItsDirection) {
  std::vector<double> x = synthetic::ar1(400, 0, 0.03, 7);
  for (size_t i = 0; i < x.size(); ++i) x[i] *= 1 - 0.03 * static_cast<double>(i) / 400;
  const Shift slight = shift_of(x);
  EXPECT_TRUE(slight.beyond_chance);
  EXPECT_NEAR(*slight.drift, -0.02, 0.01);
  EXPECT_FALSE(shift_reason(slight)) << "below the cap";
  for (size_t i = 0; i < x.size(); ++i) x[i] *= 1 - 0.20 * static_cast<double>(i) / 400;
  EXPECT_NE(shift_reason(shift_of(x)).value().find("falls"), std::string::npos);
}

TEST(Shift, IsALevelThatComesAndGoes) {
  const Shift shift = shift_of(scaled(flat_series(300), 100, 200, 1.4));
  EXPECT_LT(std::abs(*shift.drift), 0.01);
  EXPECT_NEAR(*shift.levels, 0.4, 0.02);
  EXPECT_EQ(shift_reason(shift).value().find("the step time has levels that differ by "), 0u);
}

TEST(Shift, FindsLevelsOnTheGridOfALongSeries) {
  const Shift shift = shift_of(scaled(flat_series(15'000), 5'003, 8'009, 1.4));
  EXPECT_NEAR(*shift.levels, 0.4, 0.01);
}

TEST(Shift, JudgesTheTimePerUnitWhereUnitsVary) {
  std::vector<double> x = flat_series(300), units(300, 10.0);
  for (size_t i = 150; i < 300; ++i) {
    x[i] *= 2;
    units[i] = 20;
  }
  EXPECT_TRUE(shift_reason(shift_of(x)));
  EXPECT_FALSE(shift_reason(shift_of(x, units))) << "longer sentences, not a slower machine";
}

TEST(Shift, OfAFlatSeriesIsNone) {
  EXPECT_FALSE(shift_reason(shift_of(flat_series(300))));
  EXPECT_FALSE(shift_of(flat_series(2)).drift);
}

TEST(ShortSeries, DropsAQuarterAtMostFive) {
  const int64_t expected[][2] = {{1, 0}, {2, 1}, {3, 1}, {4, 1}, {5, 2}, {8, 2}, {9, 3}, {16, 4}, {17, 5}, {19, 5}};
  for (const auto& [n, start] : expected) {
    const StablePhase phase = find_stable_phase(flat_series(n));
    EXPECT_EQ(phase.start, start) << n;
    EXPECT_EQ(phase.kind, PhaseClass::flat) << n;
    EXPECT_FALSE(phase.segmented);
  }
}

TEST(ShortSeries, SkipsStepsTwiceAsSlow) {
  const StablePhase phase = find_stable_phase(scaled(flat_series(12), 0, 6, 3));
  EXPECT_EQ(phase.start, 6);
  EXPECT_EQ(phase.kind, PhaseClass::warm_up);
}

TEST(ShortSeries, NeverDropsItsLastStep) { EXPECT_EQ(find_stable_phase(scaled(flat_series(3), 2, 3, 50)).steps(), 2); }

TEST(PeriodicWork, IsJudgedByWholePeriods) {
  std::vector<double> x = scaled(flat_series(403), 0, 41, 2);
  for (size_t i = 0; i < x.size(); ++i) x[i] *= i % 4 == 0 ? 5 : 1;
  const StablePhase phase = find_stable_phase(x, {.period = 4});
  EXPECT_NEAR(static_cast<double>(phase.start), 40, 4);
  EXPECT_EQ(phase.start % 4, 0);
  EXPECT_EQ(phase.end, 403);
  EXPECT_EQ(phase.segments.back().end, 403);
}

TEST(VaryingWork, IsJudgedByItsTimePerUnit) {
  std::vector<double> x = flat_series(300), units(300, 1.0);
  for (size_t i = 0; i < 80; ++i) {
    units[i] = 2;
    x[i] *= 2;
  }
  EXPECT_EQ(find_stable_phase(x).start, 80);
  EXPECT_EQ(find_stable_phase(x, {.units = units}).start, 5);
}

TEST(StablePhase, IsNoneForAnEmptySeries) {
  EXPECT_EQ(find_stable_phase({}).kind, PhaseClass::none);
  EXPECT_EQ(find_stable_phase({}).steps(), 0);
}

TEST(StablePhase, RefusesTimesThatCannotBe) {
  EXPECT_THROW(find_stable_phase(std::vector<double>{1, -1}), Error);
  EXPECT_THROW(find_stable_phase(std::vector<double>{1, NAN}), Error);
  EXPECT_THROW(find_stable_phase(std::vector<double>{1, 1}, {.units = std::vector<double>{1}}), Error);
  EXPECT_THROW(find_stable_phase(std::vector<double>{1, 1}, {.period = 0}), Error);
}

}  // namespace
}  // namespace tbd
