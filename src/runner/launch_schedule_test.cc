#include "runner/launch_schedule.h"

#include <gtest/gtest.h>

namespace tbd {
namespace {

// Quick launches of at most 20 s, 100 s for a workload's.
LaunchSchedule three_launches(std::vector<Pass> passes = {Pass::kClean}, std::optional<double> budget = {}) {
  return {std::move(passes), Effort::quick, 3, {.launch = 20, .workload = 100, .budget = budget}, /*began=*/1000};
}

Turn clean(int64_t number) { return {.workload = 0, .pass = Pass::kClean, .number = number}; }

TEST(LaunchSchedule, CleanLaunchesTakeTurnsAndOtherPassesHaveOne) {
  const LaunchSchedule schedule = three_launches({Pass::kClean, Pass::kTrace});
  EXPECT_EQ(schedule.planned(), (LaunchCounts{{Pass::kClean, 3}, {Pass::kTrace, 1}}));
  std::vector<int> clean_launches(2), traced(2);
  const std::vector<Turn> turns = schedule.turns(2);
  ASSERT_EQ(turns.size(), 8u);
  for (size_t i = 0; i < turns.size(); ++i) {
    EXPECT_EQ(turns[i].pass, i < 6 ? Pass::kClean : Pass::kTrace);
    int& count = (i < 6 ? clean_launches : traced)[turns[i].workload];
    EXPECT_EQ(turns[i].number, ++count);
  }
  EXPECT_EQ(clean_launches, std::vector<int>({3, 3}));
  EXPECT_EQ(traced, std::vector<int>({1, 1}));
  EXPECT_NE(turns[0].workload, turns[1].workload) << "launches that are averaged lie among those of the others";
}

TEST(LaunchSchedule, WithinABudgetFurtherCleanLaunchesComeLast) {
  const LaunchSchedule schedule({Pass::kClean, Pass::kTrace, Pass::kMemory}, Effort::quick, 5,
                                {.launch = 20, .workload = 100, .budget = 600}, 0);
  const std::vector<Turn> turns = schedule.turns(2);
  ASSERT_EQ(turns.size(), 14u);
  for (size_t i = 0; i < turns.size(); ++i) {
    const Pass expected = i < 6 || i >= 10 ? Pass::kClean : i < 8 ? Pass::kMemory : Pass::kTrace;
    EXPECT_EQ(turns[i].pass, expected) << i;
    if (i >= 10) {
      EXPECT_EQ(turns[i].number, i < 12 ? 4 : 5);
    }
  }
}

TEST(LaunchSchedule, FirstTurnsWithinABudgetLeaveOutFurtherCleanLaunches) {
  const LaunchSchedule schedule({Pass::kClean, Pass::kTrace}, Effort::quick, 5,
                                {.launch = 20, .workload = 100, .budget = 600}, 0);
  EXPECT_EQ(schedule.first_turns(schedule.turns(2)), 8u) << "three clean ones and a traced one of each";
  const LaunchSchedule unlimited = three_launches();
  EXPECT_EQ(unlimited.first_turns(unlimited.turns(2)), 6u);
}

TEST(LaunchSchedule, WhatIsUndecidedGoesOnInThreeRounds) {
  const LaunchSchedule schedule({Pass::kClean}, Effort::quick, 5, {.launch = 20, .workload = 100, .budget = 600}, 0);
  EXPECT_EQ(schedule.launches_in_round(1), 5);
  EXPECT_EQ(schedule.launches_in_round(2), 10);
  EXPECT_EQ(schedule.launches_in_round(3), 20);
  EXPECT_EQ(schedule.launches_in_round(4), 0);
  EXPECT_EQ(schedule.launches_in_round(1, Pass::kTrace), 3);
  EXPECT_EQ(schedule.launches_in_round(3, Pass::kTrace), 12);
  EXPECT_EQ(schedule.launches_in_round(1, Pass::kMemory), 0);
  EXPECT_EQ(three_launches().launches_in_round(1), 0) << "without a budget each workload has what was asked for";
  const std::vector<LaunchSchedule::Further> undecided = {{4, {Pass::kClean}}, {7, {Pass::kClean}}};
  const std::vector<Turn> turns = schedule.further(undecided, 1);
  ASSERT_EQ(turns.size(), 10u);
  EXPECT_NE(turns[0].workload, turns[1].workload);
  EXPECT_EQ(turns.back().number, 5);
}

// The busy share is of traced launches: it stayed open however many clean ones came.
TEST(LaunchSchedule, WhatTracedLaunchesDecideGoesOnWithThese) {
  const LaunchSchedule schedule({Pass::kClean, Pass::kTrace}, Effort::quick, 5,
                                {.launch = 20, .workload = 100, .budget = 600}, 0);
  const std::vector<LaunchSchedule::Further> undecided = {{4, {Pass::kTrace}}, {7, {Pass::kClean, Pass::kTrace}}};
  const std::vector<Turn> turns = schedule.further(undecided, 1);
  ASSERT_EQ(turns.size(), 11u);
  for (size_t i = 0; i < turns.size(); ++i) {
    EXPECT_EQ(turns[i].pass, i < 6 ? Pass::kTrace : Pass::kClean) << i;
    if (i >= 6) {
      EXPECT_EQ(turns[i].workload, 7u);
    }
  }
  EXPECT_EQ(schedule.further(undecided, 2).front().pass, Pass::kClean) << "there were three traced ones";
}

TEST(LaunchSchedule, WithoutACleanPassOnlyTheOthersCount) {
  EXPECT_EQ(total(three_launches({Pass::kTrace, Pass::kMemory}).planned()), 2);
}

TEST(LaunchSchedule, ADisturbedLaunchIsRepeatedWhileTheWorkloadsTimeLasts) {
  const LaunchSchedule schedule = three_launches();
  EXPECT_TRUE(schedule.may_repeat(clean(1), 25, 25)) << "25 s used, three launches of 25 s to come";
  EXPECT_FALSE(schedule.may_repeat(clean(1), 26, 26));
  EXPECT_TRUE(schedule.may_repeat(clean(3), 75, 25)) << "only this one to come";
  EXPECT_FALSE(schedule.may_repeat(clean(3), 76, 25));
}

TEST(LaunchSchedule, ADisturbedTraceIsRepeatedWhileTheTimeOfItsPassLasts) {
  const Turn trace{.workload = 0, .pass = Pass::kTrace, .number = 1};
  EXPECT_TRUE(three_launches().may_repeat(trace, 50, 50));
  EXPECT_FALSE(three_launches().may_repeat(trace, 51, 51));
}

TEST(LaunchSchedule, PassMemoryAndEffortSmokeRepeatNothing) {
  EXPECT_FALSE(three_launches({Pass::kMemory}).may_repeat({.workload = 0, .pass = Pass::kMemory, .number = 1}, 1, 1));
  const LaunchSchedule smoke({Pass::kClean}, Effort::smoke, 1, {.launch = 20, .workload = 100, .budget = {}}, 0);
  EXPECT_FALSE(smoke.may_repeat(clean(1), 1, 1));
}

TEST(LaunchSchedule, LaunchLimitAlsoLimitsTheWorkload) {
  const TimeLimits named = time_limits(Effort::quick, 3, 5, {});
  EXPECT_EQ(named.launch, 5);
  EXPECT_EQ(named.workload, 15);
  EXPECT_EQ(time_limits(Effort::quick, 3, {}, {}).workload, level(Effort::quick).workload_seconds);
}

TEST(LaunchSchedule, TheOneLaunchOfAPassHasTheTimeOfAllCleanOnes) {
  EXPECT_EQ(launch_limit(Pass::kClean, Effort::quick, 5, 5), 5);
  EXPECT_EQ(launch_limit(Pass::kTrace, Effort::quick, 5, 5), 25);
  EXPECT_EQ(launch_limit(Pass::kTrace, Effort::quick, 5, 20), 60) << "as of effort quick";
  EXPECT_EQ(launch_limit(Pass::kMemory, Effort::quick, 5, 90), 90);
}

TEST(LaunchSchedule, StartsNothingThatWouldExceedTheBudget) {
  const LaunchSchedule schedule = three_launches({Pass::kClean}, 60);
  EXPECT_TRUE(schedule.in_time(1040, 20));
  EXPECT_FALSE(schedule.in_time(1041, 20));
  EXPECT_TRUE(three_launches().in_time(1e9, 20)) << "without a budget";
}

TEST(LaunchSchedule, TimeRemainsUnknownBeforeAnyFirstStep) {
  EXPECT_FALSE(three_launches().remaining(1001, {.running = 1}, {}, {}));
}

TEST(LaunchSchedule, EstimatesFutureLaunchesFromHistoryMeanOrCurrentLaunch) {
  const LaunchSchedule schedule = three_launches();
  const std::vector<double> steps(4, 1000.0);  // far beyond the limit: 20 s of steps in this launch
  const LaunchSchedule::AtHand launch{.step_seconds = steps, .stepping = 8, .running = 11};
  const std::vector<std::optional<double>> to_come = {30.0, std::nullopt};
  EXPECT_EQ(schedule.remaining(1011, launch, {}, {}), 12);
  EXPECT_EQ(schedule.remaining(1011, launch, to_come, {}), 12 + 30 + 23) << "20 s of steps after a start of 3 s";
  EXPECT_EQ(schedule.remaining(1011, launch, to_come, 10), 12 + 30 + 10);
  EXPECT_EQ(schedule.remaining(1011, {}, to_come, 10), 40) << "between launches";
}

TEST(LaunchSchedule, TimeRemainingEndsWithTheBudget) {
  const std::vector<std::optional<double>> to_come = {30.0, 30.0};
  EXPECT_EQ(three_launches({Pass::kClean}, 60).remaining(1045, {}, to_come, 30), 15);
  EXPECT_EQ(three_launches({Pass::kClean}, 60).remaining(1065, {}, to_come, 30), 0);
}

}  // namespace
}  // namespace tbd
