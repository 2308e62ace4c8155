#include "record/evaluations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"

namespace tbd {
namespace {

const std::vector<EvaluationRow> kRows = {
    {.step = 0, .samples = 5, .training_loss = {}, .metrics = {{"box_ap", 0.125}}},
    {.step = 7,
     .samples = 5,
     .training_seconds = 1.5,
     .seconds = 0.25,
     .wall_seconds = 0.5,
     .judging_seconds = 0.125,
     .training_loss = 2.75,
     .metrics = {{"box_ap", 0.1}, {"loss", 1e300}}}};

class Evaluations : public testing::Test {
 protected:
  std::vector<EvaluationRow> read(const std::string& text) {
    write_file(folder_.path() / kEvaluationsFile, text);
    return read_evaluations(folder_.path());
  }
  TemporaryFolder folder_;
};

TEST_F(Evaluations, AreReadAsTheyWereWritten) { EXPECT_EQ(read(evaluation_lines(kRows)), kRows); }

TEST_F(Evaluations, AreNoneWithoutAFile) { EXPECT_TRUE(read_evaluations(folder_.path()).empty()); }

TEST_F(Evaluations, LeaveOutALineThatWasCut) {
  const std::string text = evaluation_lines(kRows);
  EXPECT_EQ(read(text.substr(0, text.size() - 3)).size(), 1U);
}

TEST_F(Evaluations, NameAMalformedLine) {
  try {
    read(evaluation_lines(kRows) + "{\"step\": \"seven\"}\n");
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("evaluations.jsonl: line 3"));
  }
}

TEST(Goals, AreReadAndReached) {
  EXPECT_TRUE(goal_from("top1=0.5").reached_by(0.5));
  EXPECT_FALSE(goal_from("top1=0.5").reached_by(0.49));
  EXPECT_TRUE(goal_from("perplexity=20").reached_by(19));
  EXPECT_FALSE(goal_from("value_error=0.2").reached_by(0.21));
  EXPECT_TRUE(goal_from("wer=0.3").reached_by(0.2));
  EXPECT_TRUE(goal_from("patch_swd=90").reached_by(80)) << "a sliced Wasserstein distance";
  EXPECT_TRUE(goal_from("answer_f1=0.3").reached_by(0.4)) << "no word error rate";
  EXPECT_EQ(to_text(goal_from("box_ap=0.02")), "box_ap=0.02");
  for (const char* text : {"top1", "=1", "top1=", "top1=high"}) EXPECT_THROW(goal_from(text), Error) << text;
}

TEST(BestRows, AreOfTheGoalsMetricOrTheLeastLoss) {
  const std::vector<EvaluationRow> rows = {{.step = 0, .metrics = {{"loss", 3}, {"top1", 0.1}}},
                                           {.step = 5, .metrics = {{"loss", 1}, {"top1", 0.2}}},
                                           {.step = 9, .metrics = {{"loss", 2}, {"top1", 0.2}}}};
  EXPECT_EQ(best_row(rows, std::nullopt)->step, 5);
  EXPECT_EQ(best_row(rows, Goal{"top1", 0.9})->step, 5) << "the first of equals";
  EXPECT_FALSE(best_row(rows, Goal{"bleu", 1}));
}

}  // namespace
}  // namespace tbd
