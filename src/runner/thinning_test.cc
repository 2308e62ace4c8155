#include "runner/thinning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "base/error.h"

namespace tbd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Thinning, APlanThatFitsIsKeptWhole) {
  const Thinned all = thin({1, 2, 3}, {}, 6);
  EXPECT_THAT(all.kept, ElementsAre(0, 1, 2));
  EXPECT_THAT(all.left_out, IsEmpty());
  EXPECT_EQ(all.seconds, 6);
}

TEST(Thinning, AGroupIsTakenWholeOrNotForItsQuestion) {
  // The sweep of 0..3 answers one question; 4 and 5 answer nothing, though they are cheaper.
  const std::vector<PlanQuestion> questions = {{"observation 1", {{0, 1, 2, 3}}}};
  EXPECT_THAT(thin({2, 2, 2, 2, 1, 1}, questions, 8).kept, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(thin({2, 2, 2, 2, 1, 1}, questions, 9).kept, ElementsAre(0, 1, 2, 3, 4));
  // Where it does not fit, cells are taken one by one, those of a question first.
  EXPECT_THAT(thin({2, 2, 2, 2, 1, 1}, questions, 7).kept, ElementsAre(0, 1, 2, 4));
}

TEST(Thinning, PrefersMostObservationsPerSecond) {
  const std::vector<PlanQuestion> questions = {{"a", {{0, 1}, {2, 3}}}, {"b", {{2, 3}}}, {"c", {{4}}}};
  EXPECT_THAT(thin({1, 1, 1, 1, 5}, questions, 2).kept, ElementsAre(2, 3));
  EXPECT_THAT(thin({1, 1, 1, 1, 0.5}, questions, 2).kept, ElementsAre(2, 4));  // c first; then a cell of the rest
}

TEST(Thinning, PrefersAFirstCaseOverASecondOfAnotherObservation) {
  const std::vector<PlanQuestion> questions = {{"a", {{0}, {1}}}, {"b", {{2}}}};
  EXPECT_THAT(thin({1, 1, 1.5}, questions, 2.5).kept, ElementsAre(0, 2));
  EXPECT_THAT(thin({1, 1, 3}, questions, 3).kept, ElementsAre(0, 1));  // which does not fit
}

TEST(Thinning, PrefersWorkloadsThatDecideOverFurtherCases) {
  const std::vector<PlanQuestion> cases = {{"a", {{0}, {1}, {2}}}, {"b", {{0}, {1}}}};
  EXPECT_THAT(thin({1, 1, 1, 2}, cases, 3).kept, ElementsAre(0, 1, 2));
  std::vector<PlanQuestion> with_decision = cases;
  with_decision.push_back({"a whole", {{2, 3}}, true});
  EXPECT_THAT(thin({1, 1, 1, 2}, with_decision, 3).kept, ElementsAre(2, 3));
}

TEST(Thinning, ExistingRecordsCostNoTime) {
  const std::vector<PlanQuestion> questions = {{"a", {{0, 1, 2}}}, {"b", {{0, 1, 2, 3}}}, {"c", {{4, 5}}}};
  EXPECT_THAT(thin({1, 1, 1, 2, 2, 2}, questions, 5).kept, ElementsAre(0, 1, 2, 3));
}

TEST(Thinning, TakesAnUninformativeWorkloadOnlyWithItsGroup) {
  const std::vector<PlanQuestion> questions = {{"a", {{0, 1, 2}}}, {"b", {{3, 4}}}};
  const std::vector<bool> alone = {true, true, false, true, false};
  EXPECT_THAT(thin({1, 1, 1, 9, 1}, questions, 4, alone).kept, ElementsAre(0, 1, 2));
  EXPECT_THAT(thin({1, 1, 1, 9, 1}, questions, 13, alone).kept, ElementsAre(0, 1, 2, 3, 4)) << "the whole plan fits";
}

TEST(Thinning, EachThatIsLeftOutHasItsReason) {
  const Thinned some = thin({1, 100}, {{"a", {{1}}}}, 2);
  ASSERT_EQ(some.left_out.size(), 1u);
  EXPECT_EQ(some.left_out[0].cell, 1u);
  EXPECT_THAT(some.left_out[0].reason, HasSubstr("evidence for 1 observation"));
}

TEST(Thinning, ExplainsAWorkloadThatFitsButIsUninformativeAlone) {
  const Thinned thinned = thin({1, 5, 2}, {{"a", {{0}}}, {"b", {{1, 2}}}}, 4, {true, true, false});
  ASSERT_THAT(thinned.kept, ElementsAre(0));
  EXPECT_THAT(thinned.left_out[1].reason,
              HasSubstr("predicted to take 2.00 s, 3.00 s of the budget of 4.00 s are left"));
  EXPECT_THAT(thinned.left_out[1].reason, HasSubstr("alone it tells nothing"));
  EXPECT_THAT(thinned.left_out[1].reason, HasSubstr("that make a case with it take 7.00 s"));
  EXPECT_THAT(thinned.left_out[0].reason, HasSubstr("others bring more for their time"));
}

TEST(Thinning, RejectsAnUnknownWorkloadIndex) { EXPECT_THROW(thin({1}, {{"a", {{1}}}}, 1), Error); }

TEST(Thinning, RandomPlansStayWithinTheirBudgetAndComeOutTheSame) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<double> seconds(30);
    for (double& each : seconds) each = 1 + static_cast<double>(random() % 100);
    std::vector<PlanQuestion> questions(5);
    for (PlanQuestion& question : questions)
      for (int g = 0; g < 4; ++g) question.groups.push_back({random() % 30, random() % 30, random() % 30});
    const double budget = static_cast<double>(random() % 1500);
    const Thinned once = thin(seconds, questions, budget), twice = thin(seconds, questions, budget);
    EXPECT_LE(once.seconds, budget);
    EXPECT_EQ(once.kept, twice.kept);
    EXPECT_EQ(once.kept.size() + once.left_out.size(), seconds.size());
    for (const auto& each : once.left_out) EXPECT_GT(once.seconds + seconds[each.cell], budget);  // none fits any more
  }
}

TEST(Shard, TogetherTheyAreThePlanAndSweepsStayWhole) {
  std::mt19937 random(11);
  for (int round = 0; round < 100; ++round) {
    std::vector<std::string> sweeps(1 + random() % 40);
    for (std::string& each : sweeps) each = std::string(1, static_cast<char>('a' + random() % 8));
    const size_t count = 1 + random() % 12;
    std::vector<size_t> all;
    std::map<std::string, std::vector<size_t>> homes;
    for (size_t i = 1; i <= count; ++i)
      for (const size_t cell : shard(sweeps, i, count)) {
        all.push_back(cell);
        homes[sweeps[cell]].push_back(i);
      }
    std::ranges::sort(all);
    ASSERT_EQ(all.size(), sweeps.size());
    for (size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], i);
    if (homes.size() < count) continue;
    for (const auto& [sweep, shards] : homes) EXPECT_EQ(std::ranges::count(shards, shards[0]), std::ssize(shards));
  }
}

TEST(Shard, NoneIsEmptyWhereThereAreCellsForAll) {
  const std::vector<std::string> one_sweep(5, "a");
  for (size_t i = 1; i <= 5; ++i) EXPECT_EQ(shard(one_sweep, i, 5).size(), 1u);
  EXPECT_THAT(shard({"a", "b", "a", "a"}, 1, 2), ElementsAre(0, 2, 3));
  EXPECT_THAT(shard({"a", "b", "a", "a"}, 2, 2), ElementsAre(1));
  EXPECT_THROW(shard(one_sweep, 3, 2), Error);
  EXPECT_THROW(shard(one_sweep, 0, 2), Error);
}

}  // namespace
}  // namespace tbd
