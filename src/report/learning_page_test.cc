#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/sample_record.h"
#include "base/files.h"
#include "record/evaluations.h"
#include "report/page.h"

namespace tbd {
namespace {

using ::testing::ElementsAre;

Launch training_launch(int64_t number, int64_t first, std::vector<std::optional<double>> losses) {
  Launch launch;
  launch.info.pass = Pass::kTrain;
  launch.info.number = number;
  for (const std::optional<double>& loss : losses) {
    launch.steps.push_back({.step = first++, .completed_ns = first});
    launch.steps.back().loss = loss;
  }
  return launch;
}

// Interrupted in step 4 and resumed after step 2; the loss of step 5 is not known.
class LearningPage : public testing::Test {
 protected:
  LearningPage() : record_(sample_record()) {
    record_.folder = folder_.path();
    record_.launches = {training_launch(1, 1, {8, 7, 60, 50}), training_launch(2, 3, {6, 5, std::nullopt, 4})};
    make_folder(folder_.path() / "launches/train-2");
    const std::vector<EvaluationRow> rows = {{.step = 2, .training_seconds = 1.5, .metrics = {{"top1", 0.25}}},
                                             {.step = 6, .training_seconds = 3.5, .metrics = {{"top1", 0.75}}}};
    write_file(folder_.path() / "launches/train-2" / kEvaluationsFile, evaluation_lines(rows));
  }
  Page page() const { return learning_page(report_cells(std::span(&record_, 1), {})); }

  TemporaryFolder folder_;
  Record record_;
};

TEST_F(LearningPage, TakesLossesThatStandAndLeavesOutUnknownOnes) {
  const Page made = page();
  ASSERT_EQ(made.charts.size(), 3U) << "the loss, and one metric against steps and time";
  const ChartSeries& loss = made.charts[0].series.at(0);
  EXPECT_THAT(loss.x, ElementsAre(1, 2, 3, 4, 6));
  EXPECT_THAT(loss.y, ElementsAre(8, 7, 6, 5, 4));
}

TEST_F(LearningPage, DrawsAMetricAgainstStepsAndTrainingTime) {
  const Page made = page();
  EXPECT_THAT(made.charts.at(1).series.at(0).x, ElementsAre(2, 6));
  EXPECT_THAT(made.charts.at(2).series.at(0).x, ElementsAre(1.5, 3.5));
  EXPECT_THAT(made.charts.at(2).series.at(0).y, ElementsAre(0.25, 0.75));
  EXPECT_EQ(made.tables.at(0).rows.size(), 2U);
}

TEST_F(LearningPage, IsEmptyWithoutATraining) {
  const Record timed = sample_record();
  EXPECT_TRUE(learning_page(report_cells(std::span(&timed, 1), {})).charts.empty());
}

}  // namespace
}  // namespace tbd
