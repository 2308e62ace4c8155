#include "analysis/observations/decide.h"

#include <gtest/gtest.h>

namespace tbd::rules {
namespace {

RuleVerdict verdict_with(int passes, int fails, int undecided, const Quota& quota = {}) {
  std::vector<Case> cases;
  const auto add = [&](int count, Decision passed) {
    for (int i = 0; i < count; ++i) cases.push_back({.what = "a series", .passes = passed});
  };
  add(passes, true);
  add(fails, false);
  add(undecided, std::nullopt);
  return by_cases(cases, 2, quota);
}

TEST(ByCases, DecidedOnesAnswer) {
  EXPECT_EQ(verdict_with(4, 0, 1), RuleVerdict::holds);
  EXPECT_EQ(verdict_with(4, 1, 0), RuleVerdict::mostly);
  EXPECT_EQ(verdict_with(3, 1, 0), RuleVerdict::fails);
  EXPECT_EQ(verdict_with(1, 0, 0), RuleVerdict::inconclusive) << "one alone";
}

TEST(ByCases, UndecidedOnesLeaveItOpenUnlessTheyCannotTurnIt) {
  EXPECT_EQ(verdict_with(3, 0, 1), RuleVerdict::inconclusive);
  EXPECT_EQ(verdict_with(6, 2, 4), RuleVerdict::inconclusive) << "10 of 12 may pass";
  EXPECT_EQ(verdict_with(6, 5, 4), RuleVerdict::fails) << "10 of 15 at most";
  EXPECT_EQ(verdict_with(0, 1, 4), RuleVerdict::inconclusive) << "one alone";
  EXPECT_EQ(verdict_with(0, 2, 6), RuleVerdict::fails) << "6 of 8 at most";
}

TEST(Tallies, SayWhatWasCounted) {
  EXPECT_EQ(text(Tally{.passes = 3, .fails = 1, .undecided = 1}, "series"), "3 of 5 series, 1 undecided");
  EXPECT_EQ(text(Tally{.passes = 3, .fails = 1}), "3 of 4");
  EXPECT_EQ(text(Tally{}, "series"), "none");
}

TEST(ByCases, AnotherQuotaIsMetByFewer) {
  EXPECT_EQ(verdict_with(2, 1, 0, kTwoThirds), RuleVerdict::mostly);
  EXPECT_EQ(verdict_with(4, 2, 2, kTwoThirds), RuleVerdict::inconclusive) << "6 of 8 may pass, or 4";
  EXPECT_EQ(verdict_with(1, 3, 2, kTwoThirds), RuleVerdict::fails) << "3 of 6 at most";
}

}  // namespace
}  // namespace tbd::rules
