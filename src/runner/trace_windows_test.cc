#include "runner/trace_windows.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tbd {
namespace {

std::vector<double> steady(size_t steps, double seconds) {
  std::vector<double> times(steps, seconds);
  for (size_t i = 0; i < steps; ++i) times[i] *= 1 + 0.002 * std::sin(static_cast<double>(i * i));
  return times;
}

TEST(TraceWindows, FitTheLimit) {
  EXPECT_EQ(trace_windows(steady(20, 0.1), Effort::quick, 180).steps, 12);
  EXPECT_EQ(trace_windows(steady(20, 4), Effort::quick, 180).steps, 7) << "6 times 7 of 4 s are 168 s";
  EXPECT_EQ(trace_windows(steady(20, 10), Effort::quick, 180).count, 2) << "three would take 240 s";
  EXPECT_EQ(trace_windows(steady(20, 10), Effort::quick, 180).steps, 4);
  EXPECT_EQ(trace_windows(steady(20, 60), Effort::quick, 180).steps, 6) << "four of them are looked at";
  EXPECT_EQ(trace_windows(steady(20, 60), Effort::quick, 180).count, 1);
  EXPECT_EQ(trace_windows(steady(20, 60), Effort::smoke, 180).steps, 4);
  EXPECT_EQ(trace_windows({}, Effort::publish, 900).steps, 22);
}

TEST(TraceWindows, BeginWhereStepsAreSteady) {
  EXPECT_FALSE(warmed_up(steady(11, 1), Effort::quick));
  EXPECT_TRUE(warmed_up(steady(30, 1), Effort::quick));
  std::vector<double> warming = steady(25, 1);
  for (size_t i = 0; i < 20; ++i) warming[i] *= 3;
  EXPECT_FALSE(warmed_up(warming, Effort::quick));
  for (int i = 0; i < 20; ++i) warming.push_back(1 + 0.001 * (i % 3));
  EXPECT_TRUE(warmed_up(warming, Effort::quick));
}

}  // namespace
}  // namespace tbd
