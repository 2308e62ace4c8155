#include "measure/clock_map.h"

#include <gtest/gtest.h>

#include "measure/clock.h"

namespace tbd {
namespace {

TEST(ClockMap, InterpolatesLinearlyBetweenReadings) {
  ClockMap clocks;
  clocks.add({1000, 0});
  clocks.add({2000, 1000});
  clocks.add({3000, 3000});
  EXPECT_EQ(clocks.raw_ns(1500), 500);
  EXPECT_EQ(clocks.raw_ns(2500), 2000);
  EXPECT_EQ(clocks.raw_ns(900), -100);
  EXPECT_EQ(clocks.raw_ns(3100), 3200);
}

TEST(ClockMap, ReadsBothClocksWithinAMicrosecond) {
  ClockMap clocks;
  clocks.add(read_clocks());
  const ClockPair between = read_clocks();
  const int64_t after = now_ns();
  while (now_ns() - after < 1'000'000) continue;
  clocks.add(read_clocks());
  EXPECT_LE(between.raw_ns, after);
  EXPECT_NEAR(static_cast<double>(clocks.raw_ns(between.epoch_ns)), static_cast<double>(between.raw_ns), 1000);
}

}  // namespace
}  // namespace tbd
