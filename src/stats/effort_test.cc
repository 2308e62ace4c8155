#include "stats/effort.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "stats/synthetic.h"

namespace tbd {
namespace {

std::vector<double> steps(int64_t n, double seconds) {
  std::vector<double> x = synthetic::ar1(n, 0, 0.01, 1);
  for (double& t : x) t *= seconds;
  return x;
}

TEST(Effort, NamesRoundTripAndNearOnesAreOffered) {
  for (const Effort e : {Effort::smoke, Effort::quick, Effort::publish}) EXPECT_EQ(effort_of(name(e)), e);
  EXPECT_THROW(effort_of("quik"), Error);
}

TEST(StopRule, SmokeWantsFiveStepsAndNoSteadiness) {
  EXPECT_FALSE(measured_enough(steps(6, 1), Effort::smoke));
  EXPECT_TRUE(measured_enough(steps(7, 1), Effort::smoke));
}

TEST(StopRule, QuickWantsBothStepsAndTime) {
  EXPECT_FALSE(measured_enough(steps(19, 1), Effort::quick)) << "15 s need 15 steps after 5";
  EXPECT_TRUE(measured_enough(steps(21, 1), Effort::quick));
  EXPECT_FALSE(measured_enough(steps(9, 5), Effort::quick)) << "30 s, but 6 steps";
  EXPECT_TRUE(measured_enough(steps(1'600, 0.01), Effort::quick));
}

TEST(StopRule, PublishWantsTwoHundredSteps) {
  EXPECT_FALSE(measured_enough(steps(200, 1), Effort::publish));
  EXPECT_TRUE(measured_enough(steps(205, 1), Effort::publish));
}

// To go on while a series moves withheld what was repeatable and took three minutes for it.
TEST(StopRule, DoesNotLookAtTheLevelOfTheSteps) {
  std::vector<double> x = steps(1'000, 0.02);
  for (size_t i = 400; i < 700; ++i) x[i] *= 2;
  EXPECT_TRUE(measured_enough(x, Effort::quick));
}

TEST(StopRule, CountsStepsAfterTheCallersLowerBound) {
  EXPECT_FALSE(measured_enough(steps(30, 1), Effort::quick, {.at_least = 20}));
  EXPECT_TRUE(measured_enough(steps(36, 1), Effort::quick, {.at_least = 20}));
}

TEST(StopRule, IsAppliedAfterStepsOrTime) {
  EXPECT_FALSE(check_is_due(24, 4.9));
  EXPECT_TRUE(check_is_due(25, 0));
  EXPECT_TRUE(check_is_due(1, 5));
}

TEST(Grade, FollowsFromLaunchesWidthAndDisturbance) {
  EXPECT_EQ(graded(Effort::quick, {.launches = 3, .half_width = 0.04}).grade, Grade::development);
  EXPECT_EQ(graded(Effort::quick, {.launches = 3, .half_width = 0.04}).reason, "");
  EXPECT_EQ(graded(Effort::quick, {.launches = 3, .half_width = 0.30}).grade, Grade::provisional);
  EXPECT_EQ(graded(Effort::publish, {.launches = 5, .half_width = 0.015}).grade, Grade::published);
  EXPECT_EQ(graded(Effort::publish, {.launches = 5, .half_width = 0.03}).grade, Grade::development);
  EXPECT_EQ(graded(Effort::quick, {.launches = 9, .half_width = 0.001}).grade, Grade::development)
      << "effort quick aims no higher";
  EXPECT_EQ(graded(Effort::publish, {.launches = 5, .half_width = 0.001, .disturbance = "steal 20 %"}).grade,
            Grade::disturbed);
}

TEST(Grade, SaysWhatIsMissing) {
  EXPECT_EQ(graded(Effort::quick, {.launches = 1, .half_width = 0.01}).reason,
            "one of 3 launches: the interval is within one process");
  EXPECT_EQ(graded(Effort::quick, {.launches = 2, .half_width = 0.01}).reason, "2 of 3 launches");
  EXPECT_EQ(graded(Effort::quick, {.launches = 3, .half_width = 0.08}).reason,
            "the interval is ±8.00 %, development wants ±5.00 %");
  EXPECT_EQ(graded(Effort::quick, {.launches = 3}).reason, "too few steps for an interval");
  EXPECT_EQ(graded(Effort::publish, {.launches = 3, .half_width = 0.01}).reason, "3 of 5 launches");
  EXPECT_EQ(graded(Effort::quick, {.disturbance = "steal 20 %"}).reason, "steal 20 %");
}

TEST(Grade, OfSmokeIsAlwaysProvisional) {
  EXPECT_EQ(graded(Effort::smoke, {.launches = 9, .half_width = 0.001}).grade, Grade::provisional);
}

}  // namespace
}  // namespace tbd
