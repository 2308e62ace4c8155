#include "analysis/framework_groups.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "analysis/answers.h"
#include "analysis/sample_record.h"
#include "analysis/scaling.h"
#include "stats/effort.h"

namespace tbd {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

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

// Made records whose answer is known: launches of step times with a known ratio and spread.
struct MadeRow {
  std::string framework = "pytorch";
  std::vector<double> step_seconds = {0.25};  // of each launch
  std::optional<bool> verified = true;
  int64_t batch = 8;
  std::string effort = "quick";
};

CellResult cell_made(const MadeRow& row) {
  Record record = sample_record({.effort = row.effort, .launches = static_cast<int64_t>(row.step_seconds.size())});
  MeasuredWorkload& w = record.run.workload;
  w.framework = row.framework;
  w.batch = w.samples_per_step = row.batch;
  w.repro = cat("tbd run resnet50 --framework ", row.framework, " --batch ", row.batch, " --effort ", row.effort);
  record.run.verified = row.verified;
  for (size_t i = 0; i < row.step_seconds.size(); ++i) {
    record.launches[i].steps = sample_steps({.step_seconds = row.step_seconds[i]}, i);
    for (StepRow& step : record.launches[i].steps) step.units = static_cast<double>(row.batch);
    record.launches[i].info.batch_seen = row.batch;
  }
  return summarize(record);
}

std::vector<Answer> answers_of(const std::vector<MadeRow>& rows) {
  std::vector<CellResult> cells;
  for (const MadeRow& row : rows) cells.push_back(cell_made(row));
  std::vector<AnswerRow> given;
  for (const CellResult& cell : cells) given.push_back({.cell = &cell});
  return answers(given);
}

TEST(Answers, NameTheFastestWhereEveryIntervalDecides) {
  const std::vector<Answer> out = answers_of({{.framework = "pytorch", .step_seconds = {0.25, 0.2502, 0.2498}},
                                              {.framework = "tensorflow", .step_seconds = {0.125, 0.1251, 0.1249}}});
  EXPECT_THAT(out[0].text, HasSubstr("resnet50 in fp32, batch 8: tensorflow is the fastest, 63.99 images/s (95 %: "));
  EXPECT_THAT(out[0].text, HasSubstr(": 2.00 times pytorch (1.99"));
  EXPECT_EQ(out[1].command, "tbd profile resnet50 --framework tensorflow --batch 8 --effort quick");
  EXPECT_EQ(out[2].command, "tbd tune resnet50 --framework tensorflow --batch 8");
  EXPECT_EQ(out.size(), 3);
}

TEST(Answers, CallAWideIntervalUndecidedAndSayWhatWouldDecide) {
  const std::vector<Answer> out = answers_of({{.framework = "pytorch", .step_seconds = {0.25, 0.27, 0.23}},
                                              {.framework = "tensorflow", .step_seconds = {0.24, 0.26, 0.22}}});
  EXPECT_THAT(out[0].text, HasSubstr("which is the fastest is undecided; tensorflow had the highest rate"));
  EXPECT_THAT(out[0].text, Not(HasSubstr("is the fastest,")));
  EXPECT_THAT(out[1].text, HasSubstr("Undecided: tensorflow over pytorch, 0.8"));
  EXPECT_THAT(out[1].text, HasSubstr("launches of each, about "));
  EXPECT_THAT(out[1].text, HasSubstr("would decide a difference of 10.0 %."));
  const std::vector<double> rates = {1 / 0.25, 1 / 0.27, 1 / 0.23}, others = {1 / 0.24, 1 / 0.26, 1 / 0.22};
  const double sd = ratio(others, rates).sd.value();
  const int64_t launches = parse_int(out[1].command.substr(out[1].command.rfind(' ') + 1)).value();
  EXPECT_THAT(out[1].command, HasSubstr("tbd run resnet50 --framework tensorflow,pytorch --batch 8"));
  EXPECT_LE(detectable_change(sd, launches, launches), 0.105);
  EXPECT_GT(detectable_change(sd, launches - 1, launches - 1), 0.095) << "the fewest that do";
}

TEST(Answers, OfOneLaunchEachDecideNothing) {
  const std::vector<Answer> out = answers_of({{.framework = "pytorch"}, {.framework = "mxnet", .step_seconds = {0.5}}});
  EXPECT_THAT(out[0].text, HasSubstr("undecided"));
  EXPECT_THAT(out[1].text, HasSubstr("one launch, which does not tell how much launches differ; 3 of each, about "));
  EXPECT_THAT(out[1].command, HasSubstr("--launches 3"));
}

TEST(Answers, CallEqualRowsEquallyFast) {
  const std::vector<double> steps = {0.25, 0.2501, 0.2499};
  const std::vector<Answer> out = answers_of({{.step_seconds = steps}, {.framework = "mxnet", .step_seconds = steps}});
  EXPECT_THAT(out[0].text, HasSubstr("is among the fastest"));
  EXPECT_THAT(out[0].text, HasSubstr("equally fast within 2.00 %"));
}

TEST(Answers, SayWhyRowsAreNotRanked) {
  const std::vector<Answer> out = answers_of(
      {{}, {.framework = "tensorflow", .verified = std::nullopt}, {.framework = "mxnet", .verified = std::nullopt}});
  EXPECT_EQ(out[1].text, "Not ranked: tensorflow and mxnet (never checked against the reference: tbd check).");
}

TEST(Answers, OfDisturbedRowsAreUndecidedWithTheirInterval) {
  std::vector<CellResult> cells = {cell_made({.step_seconds = {0.25, 0.26, 0.24}}),
                                   cell_made({.framework = "mxnet", .step_seconds = {0.2, 0.21, 0.19}})};
  for (CellResult& cell : cells) {
    cell.judgement.grade = name(Grade::disturbed);
    cell.judgement.grade_reason = "other work 60 %";
  }
  const std::vector<AnswerRow> given = {{.cell = &cells[0]}, {.cell = &cells[1]}};
  const std::vector<Answer> out = answers(given);
  EXPECT_THAT(out[0].text, HasSubstr("resnet50 in fp32, batch 8: Undecided: mxnet over pytorch, 1."));
  EXPECT_THAT(out[0].text, HasSubstr("mxnet was disturbed (other work 60 %): measure both again"));
  EXPECT_EQ(out[0].command, "tbd ab resnet50 --framework mxnet --batch 8 --b framework=pytorch");
}

// Of four launches that took turns with those of other such rows.
CellResult disturbed_in_turns(const MadeRow& row) {
  CellResult cell = cell_made(row);
  cell.judgement.grade = name(Grade::disturbed);
  cell.judgement.grade_reason = "other work 60 %";
  cell.whole.starts = {"12:01", "12:02", "12:03", "12:04"};
  return cell;
}

TEST(Answers, OfDisturbedRowsThatTookTurnsSayWhichIsFaster) {
  std::vector<CellResult> cells = {disturbed_in_turns({.step_seconds = {0.25, 0.5, 0.3, 0.35}}),
                                   disturbed_in_turns({.framework = "mxnet", .step_seconds = {0.2, 0.4, 0.24, 0.28}})};
  const std::vector<AnswerRow> given = {{.cell = &cells[0]}, {.cell = &cells[1]}};
  EXPECT_THAT(answers(given)[0].text, StartsWith("resnet50 in fp32, batch 8: mxnet is the fastest, "));
  EXPECT_THAT(answers(given)[0].text, HasSubstr(": 1.25 times pytorch (1.25"));
  EXPECT_THAT(answers(given)[0].text,
              EndsWith("), by launches that took turns, disturbed as they were (other work 60 %)."));
  cells[0]["throughput"].value = 100;  // who had the highest rate in total need not be the faster of the pairs
  EXPECT_THAT(answers(given)[0].text, StartsWith("resnet50 in fp32, batch 8: mxnet is the fastest, "));
}

TEST(Answers, OfAQuietAndADisturbedRowThatTookTurnsRankBoth) {
  std::vector<CellResult> cells = {disturbed_in_turns({.step_seconds = {0.25, 0.5, 0.3, 0.35}}),
                                   disturbed_in_turns({.framework = "mxnet", .step_seconds = {0.2, 0.4, 0.24, 0.28}})};
  cells[0].judgement.grade = name(Grade::development);
  cells.push_back(cell_made({.framework = "tensorflow"}));
  cells[2].judgement.grade = name(Grade::disturbed);
  cells[2].judgement.grade_reason = "other work 70 %";
  std::vector<AnswerRow> given;
  for (const CellResult& cell : cells) given.push_back({.cell = &cell});
  const std::vector<Answer> out = answers(given);
  EXPECT_THAT(out[0].text, HasSubstr(": 1.25 times pytorch (1.25"));
  EXPECT_THAT(out[1].text, StartsWith("Not ranked: tensorflow at "));
  EXPECT_THAT(out[1].text, EndsWith(" images/s (disturbed: other work 70 %)."));
}

TEST(FrameworkGroups, CompareDisturbedRowsThatTookTurns) {
  std::vector<CellResult> cells = {disturbed_in_turns({.framework = "mxnet", .step_seconds = {0.2, 0.4, 0.24, 0.28}}),
                                   disturbed_in_turns({.step_seconds = {0.25, 0.5, 0.3, 0.35}})};
  const std::vector<FrameworkGroup> groups = framework_groups(cells);
  ASSERT_EQ(groups[0].compared.size(), 2);
  const Table table = comparison_table(groups);
  EXPECT_NEAR(std::get<double>(table.rows[1][table.columns.size() - 2]), 1.25, 0.01);
  EXPECT_THAT(table.notes, ElementsAre(StartsWith("2 of 2 rows were disturbed; their ratios are those of launches")));
  cells[0].verified = std::nullopt;
  EXPECT_THAT(framework_groups(cells)[0].apart[0].reason, StartsWith("never checked")) << "whatever disturbed it";
  EXPECT_THAT(framework_groups(cells)[0].apart[1].reason, StartsWith("disturbed: "))
      << "there is no other to pair with";
}

TEST(Scaling, OfDisturbedWorkersThatTookTurnsIsThatOfTheirPairs) {
  std::vector<CellResult> cells = {of_workers({}), of_workers({.workers = 2, .step_seconds = 0.4})};
  for (CellResult& cell : cells) cell.judgement.grade = name(Grade::disturbed);
  EXPECT_THAT(scalings(cells)[0].undecided, HasSubstr("was disturbed"));
  cells[0].whole = {.rates = {4, 2, 3, 2.5}, .numbers = {1, 2, 3, 4}, .starts = {"1", "2", "3", "4"}, .clocks = {}};
  cells[1].whole = {.rates = {6, 3, 4.5, 3.75}, .numbers = {1, 2, 3, 4}, .starts = {"1", "2", "3", "4"}, .clocks = {}};
  const std::vector<Scaling> found = scalings(cells);
  EXPECT_EQ(found[0].undecided, "");
  EXPECT_NEAR(found[0].efficiency.value.value(), 0.75, 1e-9);
  EXPECT_NEAR(found[0].efficiency.low.value(), 0.75, 1e-9);
}

TEST(Answers, OfOneDisturbedRowSayHowFastItWas) {
  CellResult cell = cell_made({.step_seconds = {0.25, 0.26, 0.24}});
  cell.judgement.grade = name(Grade::disturbed);
  cell.judgement.grade_reason = "other work 60 %";
  const std::vector<Answer> out = answers(std::vector<AnswerRow>{{.cell = &cell}});
  ASSERT_EQ(out.size(), 3);
  EXPECT_THAT(out[0].text, StartsWith("resnet50 in fp32, batch 8: pytorch trains 32.01 images/s (95 %: "));
  EXPECT_THAT(out[0].text, EndsWith("), disturbed: other work 60 %."));
  EXPECT_THAT(out[1].command, StartsWith("tbd profile resnet50 "));
  EXPECT_THAT(out[2].command, StartsWith("tbd tune resnet50 "));
}

TEST(Answers, ShowTheRateOfADisturbedRowBesideRankedOnes) {
  std::vector<CellResult> cells = {cell_made({}), cell_made({.framework = "mxnet", .step_seconds = {0.5}})};
  cells[1].judgement.grade = name(Grade::disturbed);
  cells[1].judgement.grade_reason = "other work 60 %";
  const std::vector<AnswerRow> given = {{.cell = &cells[0]}, {.cell = &cells[1]}};
  const std::vector<Answer> out = answers(given);
  EXPECT_EQ(out[1].text, "Not ranked: mxnet at 15.985 to 16.026 images/s (disturbed: other work 60 %).");
}

TEST(Answers, SayOnceWhatHoldsOfSeveralWorkloads) {
  std::vector<MadeRow> rows;
  for (const int64_t batch : {2, 4, 8})
    for (const char* framework : {"pytorch", "mxnet"})
      rows.push_back({.framework = framework, .verified = std::nullopt, .batch = batch});
  const std::vector<Answer> out = answers_of(rows);
  ASSERT_EQ(out.size(), 1);
  EXPECT_EQ(out[0].text,
            "resnet50 in fp32, batch 2 and 2 more: nothing is ranked. Not ranked: pytorch and mxnet (never checked "
            "against the reference: tbd check).");
}

TEST(Answers, OfManyWorkloadsBeginWithWhoLeadsInHowMany) {
  std::vector<MadeRow> rows;
  for (const int64_t batch : {1, 2, 4, 8, 16}) {
    const bool is_small = batch < 4;
    const std::vector<double> fast = {0.1, 0.1001, 0.0999}, slow = {0.2, 0.2001, 0.1999}, once = {0.15};
    rows.push_back({.step_seconds = is_small ? fast : slow, .batch = batch});
    rows.push_back({.framework = "mxnet", .step_seconds = batch == 16 ? once : is_small ? slow : fast, .batch = batch});
  }
  const std::vector<Answer> out = answers_of(rows);
  EXPECT_THAT(out[0].text,
              HasSubstr("5 workloads in several frameworks. The fastest is mxnet in 2 and pytorch in 2. "
                        "The highest rate is that of mxnet in 1, but not decided. One launch does not tell"));
  EXPECT_THAT(out[1].text, HasSubstr("resnet50 in fp32, batch 1: pytorch is the fastest"));
  EXPECT_EQ(out.back().text, "The table has all 10 rows; this is the first of them.");
}

TEST(Answers, OfEffortSmokeRankNothingAndSayWhatDoes) {
  const std::vector<Answer> out =
      answers_of({{.effort = "smoke"}, {.framework = "tensorflow", .step_seconds = {0.1}, .effort = "smoke"}});
  EXPECT_EQ(out[0].text,
            "resnet50 in fp32, batch 8: pytorch and tensorflow run. Effort smoke does not tell how fast; effort quick "
            "does.");
  EXPECT_EQ(out[0].command, "tbd run resnet50 --framework pytorch,tensorflow --batch 8 --effort quick");
  EXPECT_EQ(out.size(), 1);
}

TEST(Answers, LeaveEachFrameworkItsOwnLayout) {
  std::vector<CellResult> cells = {row("pytorch", true, {.effort = "smoke"}),
                                   row("tensorflow", true, {.effort = "smoke"})};
  for (CellResult& cell : cells) cell.workload.repro = cat("tbd run resnet50 --layout ", cell.workload.layout);
  const std::vector<AnswerRow> given = {{.cell = &cells[0]}, {.cell = &cells[1]}};
  EXPECT_EQ(answers(given)[0].command, "tbd run resnet50 --effort quick --framework pytorch,tensorflow");
}

TEST(Answers, OfOneFrameworkCompareTheAxisThatWasVaried) {
  const std::vector<double> steps = {0.25, 0.2501, 0.2499};
  const std::vector<Answer> out =
      answers_of({{.step_seconds = steps, .batch = 4}, {.step_seconds = steps, .batch = 8}});
  EXPECT_THAT(out[0].text, HasSubstr("resnet50 in fp32: batch 8 is the fastest"));
  EXPECT_THAT(out[0].text, HasSubstr("2.00 times batch 4"));
}

TEST(Answers, OfOneFrameworkCompareAllocators) {
  std::vector<CellResult> cells = {cell_made({.step_seconds = {0.25, 0.2501, 0.2499}}),
                                   cell_made({.step_seconds = {0.2, 0.2001, 0.1999}})};
  cells[1].workload.allocator = Allocator::kKept;
  const std::vector<AnswerRow> given = {{.cell = &cells[0]}, {.cell = &cells[1]}};
  EXPECT_THAT(answers(given)[0].text, HasSubstr("resnet50 in fp32, batch 8: allocator kept is the fastest"));
  EXPECT_THAT(answers(given)[0].text, HasSubstr("1.25 times allocator stock"));
}

TEST(Answers, OfOneRowGiveItsRateAndTheNextQuestion) {
  const std::vector<Answer> out = answers_of({{.step_seconds = {0.25, 0.2501, 0.2499}}});
  EXPECT_THAT(out[0].text, HasSubstr("resnet50 in fp32, batch 8: pytorch trains 32.0"));
  EXPECT_THAT(out[1].command, HasSubstr("tbd profile resnet50"));
}

// Its precision, batch and input are unknown.
TEST(Answers, OfAForeignProgramSayWhatIsKnown) {
  CellResult cell = cell_made({.step_seconds = {0.25, 0.2501, 0.2499}});
  MeasuredWorkload& w = cell.workload;
  w.model = "train.py";
  w.precision = Precision();
  w.input_mode = InputMode();
  w.mode = Mode::kExternal;
  w.batch = 0;
  w.repro = "tbd exec --effort smoke --launches 2 --units 8 -- python train.py --launches 7";
  const std::vector<AnswerRow> given = {{.cell = &cell}};
  EXPECT_THAT(answers(given)[0].text, StartsWith("train.py: pytorch trains 32.0"));
  EXPECT_EQ(answers(given)[1].command, "tbd profile --exec --units 8 -- python train.py --launches 7");
  w.device = Device("cuda:0");
  EXPECT_THAT(answers(given)[0].text, StartsWith("train.py, cuda:0: pytorch trains 32.0"));
  w.framework = "external";
  EXPECT_EQ(answers(given).size(), 1u) << "it has no profiler that could be started";
}

TEST(Answers, NameTheLargestLossAndWhatToTry) {
  Profile profile;
  profile.window_ns = 1'000;
  profile.loss = {{"ideal", 200}, {"kernel inefficiency", 281}, {"off-CPU", 519}};
  profile.ideal_share = 0.2;
  MeasuredWorkload w;
  w.framework = "pytorch";
  w.threads = 2;
  w.effort = "smoke";
  w.repro = "tbd run resnet50 --batch 4 --effort smoke --launches 3";
  const std::vector<Answer> out = time_answers(profile, w);
  ASSERT_EQ(out.size(), 3);
  EXPECT_THAT(out[0].text, HasSubstr("In 51.9 % of a step of pytorch the cores do other work"));
  EXPECT_THAT(out[0].text, HasSubstr("In 28.1 % ops compute"));
  EXPECT_THAT(out[0].text, HasSubstr("would need 20.0 % of the time"));
  EXPECT_EQ(out[1].command, "tbd run resnet50 --batch 4 --effort quick --launches 3 --threads 1,2");
  EXPECT_EQ(out[2].command, "tbd tune resnet50 --batch 4");
  w.repro = "tbd exec -- python train.py";
  w.mode = Mode::kExternal;
  profile.loss = {{"compute", 481}, {"off-CPU", 519}};  // nobody knows how fast its ops could be
  profile.ideal_share = std::nullopt;
  const std::vector<Answer> foreign = time_answers(profile, w);
  ASSERT_EQ(foreign.size(), 2) << "another's program has no settings of tbd's";
  EXPECT_THAT(foreign[0].text, Not(HasSubstr("ops compute"))) << "that they do is no loss";
  EXPECT_EQ(foreign[1].command, "");
  w.mode = Mode();
  profile.loss = {{"ideal", 200}, {"kernel inefficiency", 281}, {"off-CPU", 519}};
  w.repro = "tbd run resnet50 --batch 4 --effort smoke --launches 3";
  profile.overhead = Ratio{.value = 1.5};
  EXPECT_THAT(time_answers(profile, w)[0].text, HasSubstr("tracing made a step 1.50 times as long"));
  EXPECT_THAT(time_answers(Profile{}, w), IsEmpty());
}

TEST(Answers, CommandsKeepTheirOtherOptions) {
  EXPECT_EQ(with_option("tbd run a --batch 4 --seed 1", "batch", "4,8"), "tbd run a --batch 4,8 --seed 1");
  EXPECT_EQ(with_option("tbd run a", "batch", "8"), "tbd run a --batch 8");
  EXPECT_EQ(with_option("tbd run a --batch 4", "batch", ""), "tbd run a");
}

TEST(Answers, WrapSentencesAndNeverCommands) {
  const std::vector<Answer> given = {{"one two three", "a command that is longer than the screen"}};
  EXPECT_EQ(to_text(given, 9), "one two\n  three\n    a command that is longer than the screen\n");
  EXPECT_EQ(print(given, Format::markdown, 9), "- one two three `a command that is longer than the screen`\n");
  EXPECT_EQ(print(given, Format::csv, 9), "");
}

}  // namespace
}  // namespace tbd
