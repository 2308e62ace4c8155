#include "backends/tensorflow/run_record.h"

#include <gtest/gtest.h>

#include "measure/clock.h"

namespace tbd::tensorflow {
namespace {

TEST(OwnClock, InterpolatesLinearlyBetweenClockPairs) {
  const RunRecord run = {.before = {1'000'000'000, 500, 40}, .after = {2'000'100'000, 1'000'000'500, 60}};
  const OwnClock clock(run);  // the wall clock ran 1e-4 too fast
  EXPECT_FALSE(clock.was_set());
  EXPECT_EQ(clock.at(run.before.wall_ns), run.before.own_ns);
  EXPECT_NEAR(static_cast<double>(clock.at(run.after.wall_ns)), static_cast<double>(run.after.own_ns), 1);
  EXPECT_NEAR(static_cast<double>(clock.at(1'500'050'000)), 500'000'500, 1);
  EXPECT_EQ(clock.error_ns(), 31);
}

TEST(OwnClock, DetectsAWallClockAdjustment) {
  const RunRecord run = {.before = {5'000'000'000, 500, 40}, .after = {2'000'000'000, 1'000'000'500, 40}};
  const OwnClock clock(run);
  EXPECT_TRUE(clock.was_set());
  EXPECT_EQ(clock.at(5'000'000'100), 600);
}

TEST(OwnClock, ReadsBothClocksWithinAMillisecond) {
  const int64_t begin = now_ns();
  const ClockPair pair = read_clocks();
  EXPECT_GE(pair.own_ns, begin);
  EXPECT_LE(pair.own_ns, now_ns());
  EXPECT_LT(pair.width_ns, 1'000'000);
}

}  // namespace
}  // namespace tbd::tensorflow
