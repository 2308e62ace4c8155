#include "analysis/observations/spearman.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/error.h"
#include "base/philox.h"

namespace tbd {
namespace {

using testing::ElementsAre;

// By counting: a value's rank is one more than those below it, plus half of the others that equal it.
std::vector<double> counted_ranks(const std::vector<double>& values) {
  std::vector<double> out;
  for (const double v : values) {
    double below = 0, equal = 0;
    for (const double w : values) {
      below += w < v;
      equal += w == v;
    }
    out.push_back(below + (equal + 1) / 2);
  }
  return out;
}

// The correlation of all pairs' differences: sum of (a_i - a_j)(b_i - b_j) over the root of both sums of squares.
double by_pairs(const std::vector<double>& a, const std::vector<double>& b) {
  double both = 0, of_a = 0, of_b = 0;
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      const double x = a[i] - a[j], y = b[i] - b[j];
      both += x * y;
      of_a += x * x;
      of_b += y * y;
    }
  return of_a > 0 && of_b > 0 ? both / std::sqrt(of_a * of_b) : 0;
}

TEST(Spearman, EqualsTheBruteForceOnRandomSeriesWithTies) {
  for (uint32_t repeat = 0; repeat < 500; ++repeat) {
    const Philox random(7, "spearman", repeat);
    const auto n = static_cast<size_t>(2 + 9 * random.uniform(0));
    std::vector<double> x, y;
    for (size_t i = 0; i < n; ++i) {
      x.push_back(std::floor(6 * random.uniform(2 * i + 1)));
      y.push_back(std::floor(6 * random.uniform(2 * i + 2)));
    }
    EXPECT_NEAR(spearman(x, y), by_pairs(counted_ranks(x), counted_ranks(y)), 1e-12) << "repeat " << repeat;
  }
}

TEST(Spearman, IsOneWhereEachIsLarger) {
  const std::vector<double> x = {1, 2, 4, 8}, up = {0.1, 0.2, 0.8, 0.81}, down = {4, 3, 2, 1};
  EXPECT_DOUBLE_EQ(spearman(x, up), 1);
  EXPECT_DOUBLE_EQ(spearman(x, down), -1);
}

TEST(Spearman, IsPointNineFiveWithOneTieOfFour) {
  const std::vector<double> x = {1, 2, 4, 8}, y = {0.50, 0.70, 0.90, 0.91};
  EXPECT_DOUBLE_EQ(spearman(x, y), 1);
  EXPECT_NEAR(spearman(x, y, 0.02), 0.9486832980505138, 1e-12);
}

TEST(Spearman, IsPointEightWithOneSwapOfFour) {
  const std::vector<double> x = {1, 2, 4, 8}, y = {0.5, 0.9, 0.7, 0.95};
  EXPECT_NEAR(spearman(x, y), 0.8, 1e-12);
}

TEST(Spearman, IsZeroWhereAllTie) {
  const std::vector<double> x = {1, 2, 4, 8}, y = {0.99, 1.0, 0.995, 0.992};
  EXPECT_EQ(spearman(x, y, 0.02), 0);
}

TEST(Ranks, GroupsDoNotChain) {
  const std::vector<double> y = {1.00, 1.015, 1.03, 1.045};
  EXPECT_THAT(ranks(y, 0.02), ElementsAre(1.5, 1.5, 3.5, 3.5));
}

TEST(Spearman, RefusesUnequalLengths) {
  const std::vector<double> x = {1, 2}, y = {1};
  EXPECT_THROW(spearman(x, y), Error);
  EXPECT_THROW(spearman(y, y), Error);
}

}  // namespace
}  // namespace tbd
