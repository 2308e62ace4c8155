// Intervals of U and F against the formulas written out, and their coverage on made-up steps.
#include <gmock/gmock.h>

#include <cmath>

#include "analysis/profile/profile.h"
#include "analysis/sample_profile.h"
#include "base/philox.h"
#include "stats/distributions.h"

namespace tbd {
namespace {

using Steps = std::vector<StepUse>;

Profile of_launches(const std::vector<Steps>& launches) {
  Profile profile;
  double time = 0, busy = 0, steps = 0;
  for (const Steps& launch : launches)
    for (const StepUse& use : launch) {
      time += use.seconds;
      busy += use.busy_seconds;
      ++steps;
    }
  profile.step_use = launches;
  const double flops = 1e9 * steps;
  profile.flops.push_back({.type = "fp32",
                           .flops = flops,
                           .active = flops / (1e10 * busy),
                           .window = flops / (1e10 * time),
                           .active_of_product = {}});
  return profile;
}

Profile profile_with(const Steps& steps) { return of_launches({steps}); }

TEST(UseIntervals, MatchTheClosedFormForFewSteps) {
  const std::vector<StepUse> steps = {{1.0, 0.8}, {1.1, 0.9}, {0.9, 0.75}, {1.05, 0.8}};
  const ProfileIntervals found = intervals_of(profile_with(steps));
  const double u = 3.25 / 4.05, n = 4;
  double squares = 0;  // residuals t - busy / U add up to 0
  for (const StepUse& use : steps) squares += std::pow(use.seconds - use.busy_seconds / u, 2);
  const double h = std::sqrt(3.0) * student_t_quantile(0.975, n - 1) * std::sqrt(squares / (n - 1)) / std::sqrt(n);
  ASSERT_TRUE(found.compute);
  EXPECT_NEAR(found.compute->low, u / (1 + h / (4.05 / 4)), 1e-12);
  EXPECT_NEAR(found.compute->high, std::min(1.0, u / (1 - h / (4.05 / 4))), 1e-12);
}

TEST(UseIntervals, ContainThePointEstimate) {
  const Profile profile = profile_with({{1.0, 0.5}, {1.1, 0.6}, {0.9, 0.5}});
  const ProfileIntervals found = intervals_of(profile);
  EXPECT_TRUE(found.active->contains(*profile.flops.front().active));
  EXPECT_TRUE(found.window->contains(*profile.flops.front().window));
}

TEST(UseIntervals, AreNarrowForUtilizationAndWideForFlopRateWhenBusyTimeScalesWithStepTime) {
  const ProfileIntervals found = intervals_of(profile_with({{1.0, 0.8}, {1.5, 1.2}, {0.8, 0.64}, {1.2, 0.96}}));
  EXPECT_NEAR(found.compute->width(), 0, 1e-9);
  EXPECT_GT(found.window->width(), 0.01);
}

TEST(UseIntervals, AreAbsentOfOneStepAndWithoutARoof) {
  EXPECT_FALSE(intervals_of(profile_with({{1.0, 0.8}})).compute);
  EXPECT_FALSE(intervals_of(profile_with({})).compute);
  Profile profile = profile_with({{1.0, 0.8}, {1.01, 0.8}, {1.0, 0.81}});
  profile.flops.front().active = profile.flops.front().window = std::nullopt;
  EXPECT_TRUE(intervals_of(profile).compute);
  EXPECT_FALSE(intervals_of(profile).active);
}

TEST(UseIntervals, CoverTheTrueShare) {
  int covered = 0;
  for (uint32_t repeat = 0; repeat < 400; ++repeat) {
    const Philox noise(11, "use", repeat);
    std::vector<StepUse> steps;
    for (uint64_t i = 0; i < 12; ++i) {
      const double t = 1 + 0.03 * noise.normal(2 * i);
      steps.push_back({t, 0.7 * t + 0.01 * noise.normal(2 * i + 1)});
    }
    covered += intervals_of(profile_with(steps)).compute->contains(0.7);
  }
  EXPECT_GE(covered, 384) << "of 400: 96 %";
}

TEST(UseIntervals, OfTwoLaunchesAreOfTheirStepsTogether) {
  const Steps a = {{1.0, 0.8}, {1.1, 0.9}}, b = {{0.9, 0.75}, {1.05, 0.8}};
  const auto two = intervals_of(of_launches({a, b})).compute,
             one = intervals_of(profile_with({a[0], a[1], b[0], b[1]})).compute;
  EXPECT_DOUBLE_EQ(two->low, one->low);
  EXPECT_DOUBLE_EQ(two->high, one->high);
}

// Steps of one launch repeat each other, launches do not.
TEST(UseIntervals, OfThreeLaunchesSayHowLaunchesDiffer) {
  const auto launch = [](double share) { return Steps(5, {1.0, share}); };
  const auto found = intervals_of(of_launches({launch(0.6), launch(0.62), launch(0.64)})).compute;
  const std::vector<double> logs = {std::log(0.6), std::log(0.62), std::log(0.64)};
  const double mean = (logs[0] + logs[1] + logs[2]) / 3;
  double squares = 0;
  for (const double x : logs) squares += (x - mean) * (x - mean);
  const double half = student_t_quantile(0.975, 2) * std::sqrt(squares / 2) * std::sqrt(2.0 / 3);
  EXPECT_NEAR(found->low, 0.62 * std::exp(-half), 1e-12);
  EXPECT_NEAR(found->high, 0.62 * std::exp(half), 1e-12);
}

TEST(UseIntervals, CoverTheTrueShareOverLaunches) {
  int covered = 0;
  for (uint32_t repeat = 0; repeat < 400; ++repeat) {
    const Philox noise(12, "launches", repeat);
    std::vector<Steps> launches;
    for (uint64_t l = 0; l < 3; ++l) {
      const double share = 0.7 * std::exp(0.02 * noise.normal(100 + l));
      launches.emplace_back();
      for (uint64_t i = 0; i < 5; ++i) launches.back().push_back({1, share + 0.001 * noise.normal(10 * l + i)});
    }
    covered += intervals_of(of_launches(launches)).compute->contains(0.7);
  }
  EXPECT_GE(covered, 384) << "of 400: 96 %";
}

TEST(StepsOfAProfile, SumToWindowAndBusyTime) {
  const auto sample = sample::made();
  const Profile profile = *profile_of(sample->record);
  ASSERT_EQ(profile.step_use.size(), 1u);
  ASSERT_EQ(profile.step_use[0].size(), 2u);
  double time = 0, busy = 0;
  for (const StepUse& use : profile.step_use[0]) {
    time += use.seconds;
    busy += use.busy_seconds;
  }
  EXPECT_NEAR(time, 1e-9 * static_cast<double>(profile.window_ns), 1e-12);
  EXPECT_NEAR(busy / time, profile.compute_utilization(), 1e-12);
}

}  // namespace
}  // namespace tbd
