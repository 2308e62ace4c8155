#include "analysis/framework_groups.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "analysis/sample_record.h"
#include "analysis/scaling.h"

namespace tbd {
namespace {

using testing::HasSubstr;

CellResult row(const std::string& framework, std::optional<bool> verified, const SampleOptions& options = {}) {
  Record record = sample_record(options);
  MeasuredWorkload& w = record.run.workload;
  w.framework = framework;
  w.mode = framework == "pytorch" ? Mode::kEager : Mode::kGraph;
  w.layout = framework == "tensorflow" ? ImageLayout::kNhwc : ImageLayout::kNchw;
  record.run.verified = verified;
  return summarize(record);
}

TEST(FrameworkGroups, RowsThatPassedAreComparedToTheReference) {
  const std::vector<CellResult> rows = {row("mxnet", true, {.step_seconds = 0.5}), row("pytorch", true)};
  const std::vector<FrameworkGroup> groups = framework_groups(rows);
  ASSERT_EQ(groups.size(), 1);
  ASSERT_EQ(groups[0].compared.size(), 2);
  EXPECT_EQ(groups[0].compared[0], &rows[1]);
  const Table table = comparison_table(groups);
  const auto ratio = std::ranges::find(table.columns, "ratio", &Column::key) - table.columns.begin();
  EXPECT_NEAR(std::get<double>(table.rows[1][static_cast<size_t>(ratio)]), 0.5, 0.005);
  EXPECT_TRUE(apart_table(groups).rows.empty());
  EXPECT_THAT(mode_sentence(groups), HasSubstr("Modes: mxnet graph, pytorch eager. PyTorch's rows are eager"));
}

TEST(FrameworkGroups, RowsThatDidNotPassStandApartWithTheReason) {
  const std::vector<CellResult> rows = {row("pytorch", true), row("tensorflow", false), row("mxnet", std::nullopt)};
  const std::vector<FrameworkGroup> groups = framework_groups(rows);
  ASSERT_EQ(groups.size(), 1);
  EXPECT_EQ(groups[0].compared.size(), 1);
  ASSERT_EQ(groups[0].apart.size(), 2);
  EXPECT_THAT(groups[0].apart[0].reason, HasSubstr("does not train the same network"));
  EXPECT_THAT(groups[0].apart[1].reason, HasSubstr("never checked"));
  EXPECT_THAT(print(apart_table(groups), Format::text), HasSubstr("tensorflow 2.11.0"));
}

TEST(FrameworkGroups, FormNoGroupFromDifferentWorkloadsOrOneFramework) {
  const std::vector<CellResult> rows = {row("pytorch", true),
                                        row("pytorch", true, {.input_mode = InputMode::kPipeline}),
                                        row("mxnet", true, {.precision = Precision::kBf16})};
  EXPECT_TRUE(framework_groups(rows).empty());
}

TEST(FrameworkGroups, DoNotCompareUnsteadyOrSmokeRows) {
  const std::vector<CellResult> rows = {row("pytorch", true, {.effort = "smoke"}),
                                        row("mxnet", true, {.effort = "smoke"})};
  const std::vector<FrameworkGroup> groups = framework_groups(rows);
  ASSERT_EQ(groups.size(), 1);
  EXPECT_TRUE(groups[0].compared.empty());
  EXPECT_THAT(groups[0].apart[0].reason, HasSubstr("smoke"));
}

// A row of so many workers with a batch of 8 each, or as the options say.
struct WorkersRow {
  int64_t workers = 1, batch = 8, threads = 1;
  double step_seconds = 0.25;
  std::string framework = "pytorch", effort = "quick", link = "";
  ExchangeMode exchange = ExchangeMode::kAllReduce;
};
CellResult of_workers(const WorkersRow& row) {
  Record record = sample_record({.step_seconds = row.step_seconds, .effort = row.effort, .launches = 3});
  MeasuredWorkload& w = record.run.workload;
  w.workers = row.workers;
  w.link = Link(row.link);
  w.batch = row.batch;
  w.threads = row.threads;
  w.exchange = row.exchange;
  w.framework = row.framework;
  w.samples_per_step = row.workers * row.batch;
  for (Launch& launch : record.launches) {
    launch.info.batch_seen = row.batch;
    for (StepRow& step : launch.steps) step.units = static_cast<double>(row.workers * row.batch);
  }
  return summarize(record);
}

TEST(Scaling, OfWorkersWithTheBatchOfOneIsWeak) {
  const std::vector<CellResult> cells = {of_workers({.workers = 2, .step_seconds = 0.3}), of_workers({})};
  const std::vector<Scaling> found = scalings(cells);
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].one, &cells[1]);
  EXPECT_EQ(found[0].several, &cells[0]);
  EXPECT_FALSE(found[0].strong);
  EXPECT_EQ(found[0].undecided, "");
  EXPECT_NEAR(found[0].efficiency.value.value(), 0.25 / 0.3, 0.01);
  EXPECT_LT(found[0].efficiency.low.value(), 0.25 / 0.3);
  EXPECT_GT(found[0].efficiency.high.value(), 0.25 / 0.3);
}

TEST(Scaling, OfWorkersThatShareTheBatchOfOneIsStrong) {
  const std::vector<CellResult> cells = {of_workers({}), of_workers({.workers = 2, .batch = 4, .step_seconds = 0.125})};
  const std::vector<Scaling> found = scalings(cells);
  ASSERT_EQ(found.size(), 1);
  EXPECT_TRUE(found[0].strong);
  EXPECT_NEAR(found[0].efficiency.value.value(), 1, 0.01);
}

TEST(Scaling, IsWhatSharingTheMachineCostsTimesWhatTheExchangeCosts) {
  const std::vector<CellResult> cells = {
      of_workers({}), of_workers({.workers = 2, .step_seconds = 0.4}),
      of_workers({.workers = 2, .step_seconds = 0.3, .exchange = ExchangeMode::kNone})};
  const std::vector<Scaling> found = scalings(cells);
  ASSERT_EQ(found.size(), 2);
  EXPECT_NEAR(found[0].efficiency.value.value(), 0.25 / 0.4, 0.01);
  EXPECT_NEAR(found[0].contention.value.value(), 0.25 / 0.3, 0.01);
  EXPECT_NEAR(found[0].exchange.value.value(), 0.3 / 0.4, 0.01);
  EXPECT_FALSE(found[1].efficiency.value) << "nothing was exchanged";
  EXPECT_NEAR(found[1].contention.value.value(), 0.25 / 0.3, 0.01);
  EXPECT_FALSE(found[1].exchange.value);
}

TEST(Scaling, OverALinkIsAgainstTheOneWorkerThatHasNone) {
  const std::vector<CellResult> cells = {of_workers({.workers = 2}), of_workers({.workers = 2, .link = "1Gbit"}),
                                         of_workers({})};
  const std::vector<Scaling> found = scalings(cells);
  ASSERT_EQ(found.size(), 2);
  for (const Scaling& each : found) EXPECT_EQ(each.one, &cells[2]);
  const Table table = scaling_table(found);
  const auto link = std::ranges::find(table.columns, "link", &Column::key) - table.columns.begin();
  EXPECT_EQ(std::get<std::string>(table.rows[0][link]), "loopback");
  EXPECT_EQ(std::get<std::string>(table.rows[1][link]), "1Gbit");
  EXPECT_THAT(print(results_table(cells), Format::csv), HasSubstr("workers,link"));
}

TEST(Scaling, IsUndecidedWhereCoresPerWorkerDiffer) {
  std::vector<CellResult> cells = {of_workers({.threads = 2}), of_workers({.workers = 2})};
  const std::vector<Scaling> found = scalings(cells);
  ASSERT_EQ(found.size(), 1);
  EXPECT_FALSE(found[0].efficiency.value);
  EXPECT_EQ(found[0].undecided,
            "cores per worker differ: one worker had 2, of 2 each had 1; measure both with --threads 1");
  EXPECT_THAT(print(scaling_table(found), Format::text), HasSubstr("undecided: cores per worker differ"));
  cells.push_back(of_workers({}));  // of one worker with one thread
  ASSERT_EQ(scalings(cells).size(), 1);
  EXPECT_EQ(scalings(cells)[0].one, &cells[2]);
}

TEST(Scaling, IsOfOneWorkloadAlone) {
  const std::vector<CellResult> cells = {of_workers({.framework = "mxnet"}), of_workers({.workers = 2})};
  EXPECT_TRUE(scalings(cells).empty());
  EXPECT_TRUE(scaling_table({}).rows.empty());
}

}  // namespace
}  // namespace tbd
