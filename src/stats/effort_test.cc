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
  EXPECT_FALSE(measured_enough(steps(54, 1), Effort::quick));
  EXPECT_TRUE(measured_enough(steps(55, 1), Effort::quick));
  EXPECT_FALSE(measured_enough(steps(900, 0.01), Effort::quick)) << "900 steps, but 9 s";
  EXPECT_TRUE(measured_enough(steps(1'100, 0.01), Effort::quick));
}

TEST(StopRule, PublishWantsTwoHundredSteps) {
  EXPECT_FALSE(measured_enough(steps(200, 1), Effort::publish));
  EXPECT_TRUE(measured_enough(steps(205, 1), Effort::publish));
}

TEST(StopRule, GoesOnWhileTheSeriesIsUnsteady) {
  std::vector<double> x = steps(240, 1);
  for (size_t i = 0; i < 180; ++i) x[i] *= 2;
  EXPECT_FALSE(measured_enough(x, Effort::quick)) << "60 stable steps are 25 % of 240";
}

TEST(StopRule, CountsFromTheEvidenceOfTheCaller) {
  EXPECT_FALSE(measured_enough(steps(60, 1), Effort::quick, {.at_least = 20}));
  EXPECT_TRUE(measured_enough(steps(70, 1), Effort::quick, {.at_least = 20}));
}

TEST(StopRule, IsAppliedAfterStepsOrTime) {
  EXPECT_FALSE(check_is_due(24, 4.9));
  EXPECT_TRUE(check_is_due(25, 0));
  EXPECT_TRUE(check_is_due(1, 5));
}

TEST(Grade, SaysWhatIsMissing) {
  const Graded g = graded(Effort::quick, {{.stable_steps = 31, .stable_seconds = 160, .elapsed_seconds = 180}});
  EXPECT_EQ(g.grade, Grade::provisional);
  EXPECT_EQ(g.reason, "31 of 50 stable steps in 180 s");
  EXPECT_EQ(graded(Effort::quick, {{60, 4, 5}}).reason, "4.00 of 10 s stable in 5.00 s");
  EXPECT_EQ(graded(Effort::quick, {}).reason, "no launch was measured");
}

TEST(Grade, FollowsFromTheData) {
  const LaunchExtent quick{50, 10, 12}, full{200, 30, 40};
  EXPECT_EQ(graded(Effort::quick, {quick}).grade, Grade::development);
  EXPECT_EQ(graded(Effort::quick, {quick}).reason, "");
  EXPECT_EQ(graded(Effort::publish, {full, full, full, full, full}).grade, Grade::published);
  EXPECT_EQ(graded(Effort::publish, {full, full, full}).reason, "3 of 5 launches");
  EXPECT_EQ(graded(Effort::publish, {full, full, quick, full, full}).grade, Grade::development);
}

TEST(Grade, OfSmokeIsAlwaysProvisional) {
  EXPECT_EQ(graded(Effort::smoke, {{500, 100, 100}}).grade, Grade::provisional);
}

}  // namespace
}  // namespace tbd
