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
  EXPECT_FALSE(phase.drifting);
  EXPECT_FALSE(unsteadiness(phase));
}

TEST(StablePhase, BeginsAfterTheWarmUp) {
  const StablePhase phase = find_stable_phase(scaled(flat_series(200), 0, 40, 1.5));
  EXPECT_EQ(phase.start, 40);
  EXPECT_EQ(phase.kind, PhaseClass::warm_up);
}

TEST(StablePhase, NamesASlowDown) {
  const StablePhase phase = find_stable_phase(scaled(flat_series(200), 100, 200, 1.2));
  EXPECT_EQ(phase.start, 100);
  EXPECT_EQ(phase.kind, PhaseClass::slow_down);
  EXPECT_FALSE(unsteadiness(phase));
}

TEST(StablePhase, BridgesLevelsWithinOnePercent) {
  const StablePhase phase = find_stable_phase(scaled(synthetic::ar1(2'000, 0, 0.002, 7), 1'000, 2'000, 1.006));
  EXPECT_GE(phase.segments.size(), 2u);
  EXPECT_EQ(phase.start, 5);
}

TEST(StablePhase, IsNoneWhereTheSuffixIsShort) {
  const StablePhase phase = find_stable_phase(scaled(flat_series(200), 0, 150, 1.5));
  EXPECT_EQ(phase.kind, PhaseClass::none);
  EXPECT_EQ(unsteadiness(phase), "only 50 of 200 steps are stable");
}

TEST(StablePhase, OfFewerThanFiftyStepsMayBeAShortSuffix) {
  EXPECT_EQ(find_stable_phase(scaled(flat_series(49), 0, 37, 1.5)).kind, PhaseClass::warm_up);
}

TEST(StablePhase, DoesNotReadmitAClippedCompileStep) {
  const StablePhase phase = find_stable_phase(scaled(flat_series(200), 8, 9, 50));
  EXPECT_EQ(phase.start, 9);
  EXPECT_EQ(phase.kind, PhaseClass::warm_up);
}

TEST(StablePhase, KeepsALateOutlier) { EXPECT_EQ(find_stable_phase(scaled(flat_series(200), 100, 101, 50)).start, 5); }

TEST(StablePhase, WaitsForTheEvidenceOfTheCaller) {
  const StablePhase phase = find_stable_phase(flat_series(200), {.at_least = 60});
  EXPECT_EQ(phase.start, 60);
  EXPECT_EQ(phase.kind, PhaseClass::flat);
  const StablePhase never = find_stable_phase(flat_series(200), {.at_least = 500});
  EXPECT_EQ(never.steps(), 0);
  EXPECT_EQ(never.kind, PhaseClass::none);
}

// So slow that the noise hides it from the segmentation; a steeper one is cut into levels.
TEST(StablePhase, FlagsADriftAndItsDirection) {
  std::vector<double> x = synthetic::ar1(400, 0, 0.03, 7);
  for (size_t i = 0; i < x.size(); ++i) x[i] *= 1 - 0.03 * static_cast<double>(i) / 400;
  const StablePhase phase = find_stable_phase(x);
  EXPECT_EQ(phase.start, 5);
  ASSERT_TRUE(phase.drifting);
  EXPECT_NEAR(*phase.drift, -0.02, 0.01);
  EXPECT_NE(unsteadiness(phase)->find("falls"), std::string::npos);
}

TEST(ShortSeries, DropsAQuarterAtMostFive) {
  const int64_t expected[][2] = {{1, 0}, {2, 1}, {3, 1}, {4, 1}, {5, 2}, {8, 2}, {9, 3}, {16, 4}, {17, 5}, {19, 5}};
  for (const auto& [n, start] : expected) {
    const StablePhase phase = find_stable_phase(flat_series(n));
    EXPECT_EQ(phase.start, start) << n;
    EXPECT_EQ(phase.kind, PhaseClass::flat) << n;
    EXPECT_FALSE(phase.segmented);
    EXPECT_FALSE(phase.drift);
  }
}

TEST(ShortSeries, GoesPastStepsTwiceAsSlow) {
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
  for (size_t i = 150; i < 300; ++i) units[i] = 2, x[i] *= 2;
  EXPECT_EQ(find_stable_phase(x).start, 150);
  EXPECT_EQ(find_stable_phase(x, {.units = units}).start, 5);
}

TEST(StablePhase, OfNothingIsNone) {
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
