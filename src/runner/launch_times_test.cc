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
  EXPECT_FALSE(times.foreseen(kSmall, Pass::kClean));
  EXPECT_FALSE(times.mean());
  times.add(kSmall, Pass::kClean, 10);
  EXPECT_FALSE(times.foreseen({.model = "bert", .batch = 4}, Pass::kClean));
  EXPECT_FALSE(times.foreseen(kSmall, Pass::kTrace));
}

TEST(LaunchTimes, UsesTheLongestLaunchOfTheSameWorkload) {
  LaunchTimes times(60);
  times.add(kSmall, Pass::kClean, 10);
  times.add(kSmall, Pass::kClean, 14);
  times.add(kSmall, Pass::kClean, 12);
  EXPECT_EQ(times.foreseen(kSmall, Pass::kClean), 14);
  EXPECT_EQ(times.mean(), 12);
}

TEST(LaunchTimes, AnotherBatchIsScaledUpAndNeverDown) {
  LaunchTimes times(60);
  times.add(kSmall, Pass::kClean, 10);
  EXPECT_EQ(times.foreseen(with_batch(8), Pass::kClean), 20);
  EXPECT_EQ(times.foreseen(with_batch(2), Pass::kClean), 10);
  EXPECT_EQ(times.foreseen(with_batch(64), Pass::kClean), 70) << "a launch ends at its limit";
  times.add(with_batch(8), Pass::kClean, 11);
  EXPECT_EQ(times.foreseen(with_batch(8), Pass::kClean), 11);
}

}  // namespace
}  // namespace tbd
