#include "analysis/time_to_quality.h"

#include <gtest/gtest.h>

namespace tbd {
namespace {

Attempt attempt(uint64_t seed, std::vector<double> top1, std::optional<Goal> goal = Goal{"top1", 0.5}) {
  Attempt out{
      .network = "n", .setting = "pytorch, fp32", .seed = seed, .samples_per_step = 8, .goal = goal, .rows = {}};
  for (const double value : top1) {
    const auto i = static_cast<int64_t>(out.rows.size());
    out.rows.push_back(
        {.step = 10 * i, .training_seconds = 2.0 * static_cast<double>(i), .metrics = {{"top1", value}}});
  }
  return out;
}
double seconds_in(const TableCell& cell) { return std::get<double>(cell); }

TEST(TimeToQuality, IsTakenAtTheFirstEvaluationThatReachesTheGoal) {
  const Attempt one = attempt(1, {0.1, 0.5, 0.4, 0.9});
  ASSERT_NE(one.reached(), nullptr);
  EXPECT_EQ(one.reached()->step, 10);
  EXPECT_EQ(attempt(1, {0.1, 0.49}).reached(), nullptr);
  EXPECT_EQ(attempt(1, {0.9}, std::nullopt).reached(), nullptr) << "no goal";
  EXPECT_EQ(attempt(1, {0.9}, Goal{"top5", 0.1}).reached(), nullptr) << "no such metric";
}

TEST(TimeToQuality, OfSeedsIsTheirGeometricMeanWithAnInterval) {
  const std::vector<Attempt> seeds = {attempt(1, {0, 0.6}), attempt(2, {0, 0, 0, 0, 0.6})};
  const Table table = time_to_quality_table(seeds);
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(std::get<std::string>(table.rows[0][3]), "2 of 2");
  EXPECT_NEAR(seconds_in(table.rows[0][4]), 4, 1e-12);  // sqrt(2 x 8)
  EXPECT_LT(seconds_in(table.rows[0][5]), 4);
  EXPECT_GT(seconds_in(table.rows[0][6]), 4);
}

TEST(TimeToQuality, SaysWhereSomeOrAllNeverReachedIt) {
  const std::vector<Attempt> some = {attempt(1, {0, 0.6}), attempt(2, {0, 0.3})};
  EXPECT_NE(std::get<std::string>(time_to_quality_table(some).rows.at(0)[7]).find("lower bound"), std::string::npos);
  const std::vector<Attempt> none = {attempt(1, {0, 0.2})};
  const Table table = time_to_quality_table(none);
  EXPECT_EQ(std::get<std::string>(table.rows.at(0)[7]), "not reached");
  EXPECT_TRUE(std::holds_alternative<std::monostate>(table.rows[0][4]));
}

TEST(TimeToQuality, HasNoMeanWhereAGoalWasReachedBeforeTheFirstStep) {
  const std::vector<Attempt> seeds = {attempt(1, {0.6}), attempt(2, {0, 0.6})};
  const Table table = time_to_quality_table(seeds);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(table.rows.at(0)[4]));
  EXPECT_EQ(std::get<std::string>(table.rows[0][7]), "reached before the first step");
}

TEST(TimeToQuality, KeepsGoalsApartAndLeavesOutTrainingsWithoutOne) {
  const std::vector<Attempt> all = {attempt(1, {0.6}), attempt(2, {0.6}, Goal{"top1", 0.6}),
                                    attempt(3, {0.6}, std::nullopt)};
  EXPECT_EQ(time_to_quality_table(all).rows.size(), 2U);
}

TEST(Attempts, HaveTheirBestValueAndWhereTheyEnded) {
  const std::vector<Attempt> all = {attempt(7, {0.1, 0.6, 0.2}), attempt(8, {0.1, 0.3, 0.2})};
  const Table table = attempts_table("t", all);
  EXPECT_EQ(std::get<int64_t>(table.rows.at(0)[2]), 7);
  EXPECT_EQ(seconds_in(table.rows[0][4]), 0.6);
  EXPECT_TRUE(std::get<bool>(table.rows[0][5]));
  EXPECT_EQ(std::get<int64_t>(table.rows[0][7]), 10);
  EXPECT_EQ(std::get<int64_t>(table.rows[0][8]), 80);
  EXPECT_FALSE(std::get<bool>(table.rows.at(1)[5]));
  EXPECT_EQ(std::get<int64_t>(table.rows[1][7]), 20) << "never reached: the last";
  EXPECT_EQ(seconds_in(table.rows[1][4]), 0.3);
}

}  // namespace
}  // namespace tbd
