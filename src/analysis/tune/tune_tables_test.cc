#include "analysis/tune/tune_tables.h"

#include <gtest/gtest.h>

namespace tbd {
namespace {

Candidate won_setting(const std::string& axis, const std::string& value, const std::string& own = "") {
  return {.axis = axis, .value = value, .own = own, .cause = ""};
}

Tuned won() {
  Tuned tuned;
  tuned.winner = {won_setting("mode", "eager-onednn"), won_setting("wait", "active", "OMP_WAIT_POLICY=ACTIVE")};
  tuned.remedies = {
      {.candidate = won_setting("layout", "nhwc"),
       .state = RemedyState::failed,
       .round = 1,
       .reason = "oom: no memory"},
      {.candidate = tuned.winner[1],
       .state = RemedyState::won,
       .gain = Ratio{.value = 1.1, .interval = Interval{1.05, 1.15}, .launches_a = 4}},
      {.candidate = tuned.winner[0], .state = RemedyState::won, .gain = Ratio{.value = 1.3, .launches_a = 4}}};
  return tuned;
}

FinalComparison final_of(Verdict verdict) {
  return {.of_winner = {.ratio = {.value = 1.26, .interval = Interval{1.2, 1.33}}, .verdict = verdict}, .pairs = 8};
}

TEST(TuneTables, ASentenceAnswers) {
  EXPECT_EQ(tune_sentence("llama in pytorch", won(), final_of(Verdict::faster)),
            "llama in pytorch trains 1.26 times as fast (1.20 to 1.33) with mode eager-onednn and wait active.");
  FinalComparison open = final_of(Verdict::undecided);
  open.of_winner.power.launches_needed = 20;
  EXPECT_EQ(tune_sentence("llama in pytorch", won(), open),
            "Whether llama in pytorch trains faster with mode eager-onednn and wait active is undecided: 1.26 times as "
            "fast (1.20 to 1.33). --pairs 20 would decide it at this noise.");
  Tuned none = won();
  none.winner.clear();
  EXPECT_EQ(tune_sentence("llama in pytorch", none, {}),
            "Of 2 remedies that were tried, none was seen to make llama in pytorch faster by 2.00 % or more.");
  none.remedies[0].state = RemedyState::untried;
  none.remedies[1].state = RemedyState::undecided;
  EXPECT_EQ(tune_sentence("llama in pytorch", none, {}),
            "Of 2 remedies that were tried, none was seen to make llama in pytorch faster by 2.00 % or more. 1 is "
            "undecided: launches differed too much. 1 was not tried: --budget was too short.");
  EXPECT_EQ(tune_sentence("llama in pytorch", {}, {}),
            "No remedy for llama in pytorch could be tried: the table says why.");
}

TEST(TuneTables, SayWhatToWriteInOnesOwnProgram) {
  const std::vector<std::string> said = own_sentences(won());
  ASSERT_EQ(said.size(), 2u);
  EXPECT_EQ(said[0], "mode eager-onednn: tbd only.");
  EXPECT_EQ(said[1], "wait active is usable in your program: OMP_WAIT_POLICY=ACTIVE");
}

TEST(TuneTables, RemediesAreSortedByGain) {
  const Table table = remedies_table(won());
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_EQ(table.rows[0][0], TableCell("mode=eager-onednn"));
  EXPECT_EQ(table.rows[0][2], TableCell()) << "one round has no interval";
  EXPECT_EQ(table.rows[1][5], TableCell("won"));
  EXPECT_EQ(table.rows[2][5], TableCell("failed, round 1"));
  EXPECT_EQ(table.rows[2][6], TableCell("oom: no memory"));
}

TEST(TuneTables, LossesThatShrankMostComeFirst) {
  const Table table = losses_table({{"ideal", 0.1}, {"system time", 0.05}, {"input", 0}, {"alloc", 0.02}},
                                   {{"ideal", 0.1}, {"system time", 0.01}, {"off-CPU", 0.03}});
  ASSERT_EQ(table.rows.size(), 4u);
  EXPECT_EQ(table.rows[0][0], TableCell("system time"));
  EXPECT_EQ(table.rows[1][0], TableCell("alloc"));
  EXPECT_EQ(table.rows[2][0], TableCell("ideal"));
  EXPECT_EQ(table.rows[3][0], TableCell("off-CPU"));
}

TEST(TuneTables, TheWinnersRowHasTheCommandThatMeasuresItAgain) {
  const Table table = winner_table(won(), final_of(Verdict::faster), "tbd run --like tuned/final/x");
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0][0], TableCell("mode=eager-onednn,wait=active"));
  EXPECT_EQ(table.rows[0][6], TableCell("tbd run --like tuned/final/x"));
  EXPECT_TRUE(winner_table({}, {}, "").rows.empty());
}

}  // namespace
}  // namespace tbd
