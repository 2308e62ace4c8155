#include "stats/changes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/philox.h"

namespace tbd {
namespace {

std::vector<double> noisy(std::vector<double> levels, double noise, uint32_t seed) {
  const Philox draws(11, "changes", seed);
  for (size_t i = 0; i < levels.size(); ++i) levels[i] += noise * draws.normal(i);
  return levels;
}

// Share of 1,000 series for which `holds`.
template <class Holds>
double share(const std::vector<double>& levels, double noise, Holds holds) {
  int held = 0;
  for (uint32_t seed = 0; seed < 1'000; ++seed) held += holds(level_changes(noisy(levels, noise, seed), 0.02)) ? 1 : 0;
  testing::Test::RecordProperty("share", std::to_string(held / 1'000.0));
  return held / 1'000.0;
}

TEST(LevelChanges, AreSeldomSeenWhereThereIsNone) {
  for (const size_t length : {4, 6, 10, 20, 60})
    EXPECT_LE(share(std::vector<double>(length, 1.0), 0.02, [](const auto& changes) { return !changes.empty(); }), 0.02)
        << length;
}

TEST(LevelChanges, OfFivePercentAreFoundThroughOnePercentOfNoise) {
  std::vector<double> levels(20, 1.0);
  std::fill(levels.begin() + 12, levels.end(), 0.95);
  const double found = share(levels, 0.01, [](const std::vector<size_t>& changes) {
    return changes.size() == 1 && changes[0] >= 11 && changes[0] <= 13;
  });
  EXPECT_GE(found, 0.95);
}

TEST(LevelChanges, NameTheNewestRecordWhereItIsTheFirstBadOne) {
  std::vector<double> levels(12, 1.0);
  levels.back() = 0.9;
  EXPECT_GE(share(levels, 0.01, [](const auto& changes) { return changes == std::vector<size_t>{11}; }), 0.95);
}

TEST(LevelChanges, AreSeveralWhereTheLevelMovesTwice) {
  std::vector<double> levels(30, 1.0);
  std::fill(levels.begin() + 10, levels.end(), 0.9);
  std::fill(levels.begin() + 20, levels.end(), 0.8);
  EXPECT_GE(share(levels, 0.01, [](const auto& changes) { return changes.size() == 2; }), 0.95);
}

TEST(LevelChanges, WithinTheLeastDifferenceAreNone) {
  const std::vector<double> levels = {1, 1, 1, 1, 1.015, 1.015, 1.015, 1.015};
  EXPECT_TRUE(level_changes(levels, 0.02).empty());
  EXPECT_EQ(level_changes(levels, 0.01), std::vector<size_t>{4});
}

TEST(LevelChanges, NeedFourValues) {
  EXPECT_TRUE(level_changes(std::vector<double>{1, 1, 2}, 0).empty());
  EXPECT_TRUE(level_changes({}, 0).empty());
}

}  // namespace
}  // namespace tbd
