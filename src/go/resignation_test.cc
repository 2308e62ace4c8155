#include "go/resignation.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/error.h"

namespace tbd::go {
namespace {

TEST(Resignation, RateCountsWinnersThatWouldHaveGivenUp) {
  const std::vector<double> lowest = {-0.95, -0.9, -0.5, 0.5};
  EXPECT_EQ(false_resignation_rate(lowest, -0.9), 0.25);
  EXPECT_EQ(false_resignation_rate(lowest, -0.85), 0.5);
  EXPECT_EQ(false_resignation_rate(lowest, -0.96), 0);
  EXPECT_THROW(false_resignation_rate({}, -0.9), Error);
}

TEST(Resignation, TakesSeventyThreeGamesWithoutFailure) {
  EXPECT_EQ(resignation_threshold({}), std::nullopt);
  EXPECT_EQ(resignation_threshold(std::vector<double>(72, 0.)), std::nullopt);
  EXPECT_EQ(resignation_threshold(std::vector<double>(73, 0.)), -0.8);
}

TEST(Resignation, TakesTheLargestThresholdThatIsSafe) {
  std::vector<double> lowest(300, 0.);  // 300 games allow 7 failures
  for (size_t i = 0; i < 7; ++i) lowest[i] = -0.995;
  EXPECT_EQ(resignation_threshold(lowest), -0.8);
  lowest[7] = -0.905;
  EXPECT_EQ(resignation_threshold(lowest), -0.91);
  lowest[7] = -0.995;
  EXPECT_EQ(resignation_threshold(lowest), std::nullopt);
}

}  // namespace
}  // namespace tbd::go
