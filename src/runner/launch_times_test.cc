#include "runner/launch_times.h"

#include <gtest/gtest.h>

namespace tbd {
namespace {

const Workload kSmall{.model = "resnet50", .batch = 4};

Workload with_batch(int64_t batch) {
  Workload cell = kSmall;
  cell.batch = batch;
  return cell;
}

TEST(LaunchTimes, HasNoEstimateForAnUnknownWorkload) {
  LaunchTimes times(60);
  EXPECT_FALSE(times.foreseen(kSmall, "clean"));
  EXPECT_FALSE(times.mean());
  times.add(kSmall, "clean", 10);
  EXPECT_FALSE(times.foreseen({.model = "bert", .batch = 4}, "clean"));
  EXPECT_FALSE(times.foreseen(kSmall, "trace"));
}

TEST(LaunchTimes, UsesTheLongestLaunchOfTheSameWorkload) {
  LaunchTimes times(60);
  times.add(kSmall, "clean", 10);
  times.add(kSmall, "clean", 14);
  times.add(kSmall, "clean", 12);
  EXPECT_EQ(times.foreseen(kSmall, "clean"), 14);
  EXPECT_EQ(times.mean(), 12);
}

TEST(LaunchTimes, AnotherBatchIsScaledUpAndNeverDown) {
  LaunchTimes times(60);
  times.add(kSmall, "clean", 10);
  EXPECT_EQ(times.foreseen(with_batch(8), "clean"), 20);
  EXPECT_EQ(times.foreseen(with_batch(2), "clean"), 10);
  EXPECT_EQ(times.foreseen(with_batch(64), "clean"), 70) << "a launch ends at its limit";
  times.add(with_batch(8), "clean", 11);
  EXPECT_EQ(times.foreseen(with_batch(8), "clean"), 11);
}

}  // namespace
}  // namespace tbd
