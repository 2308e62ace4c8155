#include "analysis/cell.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/flags.h"
#include "analysis/input_verdict.h"
#include "analysis/sample_record.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "stats/effort.h"

namespace tbd {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST(CellRow, MetricsMatchTheGeneratedSeries) {
  const CellResult cell = summarize(sample_record({.launches = 3}));
  EXPECT_EQ(cell.judgement.outcome.kind, OutcomeKind::ok) << cell.judgement.outcome.reason;
  EXPECT_NEAR(cell["throughput"].value.value(), 8 / 0.25, 0.05);
  EXPECT_LT(cell["throughput"].low.value(), 32.05);
  EXPECT_GT(cell["throughput"].high.value(), 31.95);
  EXPECT_NEAR(cell["step_time_median"].value.value(), 0.25, 0.001);
  EXPECT_GT(cell["step_time_p95"].value.value(), cell["step_time_median"].value.value());
  EXPECT_NEAR(cell["cpu_utilization"].value.value(), 0.95, 1e-6);
  EXPECT_EQ(cell["peak_rss_bytes"].value, 1010.0 * (1 << 20));
  EXPECT_NEAR(cell["flop_rate"].value.value(), 24'299'077'632.0 * 32, 1e10);
  EXPECT_NEAR(cell["mfu"].value.value(), 24'299'077'632.0 * 32 / 1.2e12, 0.01);
  EXPECT_GE(cell["stable_from_step"].value.value(), 6);
  EXPECT_EQ(cell.judgement.grade, "development");
}

TEST(CellRow, ATrainingToAResultIsNoFailureToMeasure) {
  Record record = sample_record({.launches = 1});
  record.launches[0].info.pass = Pass::kTrain;
  const CellResult cell = summarize(record);
  EXPECT_EQ(cell.judgement.outcome.kind, OutcomeKind::ok);
  EXPECT_THAT(cell.judgement.withheld.value(), HasSubstr("not timed: the record is of pass train"));
  EXPECT_FALSE(cell["throughput"].value);
}

// A network with ragged rows does the work of those that its data gave it: fixed + rows x per row.
TEST(CellRow, FlopsAreThoseOfTheRowsThatAStepHad) {
  Record record = sample_record({.launches = 2});
  const double all = summarize(record)["flop_rate"].value.value(), share = summarize(record)["mfu"].value.value(),
               in_use = summarize(record)["flop_utilization"].value.value();
  OpRow& op = record.run.ops.front();
  op.row = RowCost{.most = 256, .forward = {.flop_model = 7'000'000}, .backward = {.flop_model = 5'000'000}};
  EXPECT_EQ(summarize(record)["flop_rate"].value.value(), all) << "a record whose steps do not say";
  for (Launch& launch : record.launches)
    for (StepRow& step : launch.steps) step.rows = 40 + 8 * (step.step % 2);
  const CellResult cell = summarize(record);
  const double of_a_step = 8 * 24'299'077'632.0, without = (256 - 44) * 12'000'000.0;
  EXPECT_NEAR(cell["flop_rate"].value.value() / all, 1 - without / of_a_step, 1e-4);
  EXPECT_NEAR(cell["mfu"].value.value() / share, 1 - without / of_a_step, 1e-4);
  EXPECT_LT(cell["flop_utilization"].value.value(), 0.8 * in_use);
}

TEST(CellRow, SlowerCoresThanEarlierMarkARecordDisturbedFromItsFirstStep) {
  Record record = sample_record({.launches = 3});
  const auto seen = [](double change) {
    return Json{{"holds", false}, {"disturbed", false}, {"drift", std::abs(change)}, {"arithmetic_change", change}};
  };
  Json& kept = record.run.peaks["kept"] = seen(-0.30);
  EXPECT_EQ(summarize(record).judgement.grade, "disturbed");
  EXPECT_THAT(summarize(record).judgement.grade_reason, HasSubstr("computed 30.0 % less"));
  kept["disturbed"] = true;  // other work while the check ran: it may be over
  EXPECT_EQ(summarize(record).judgement.grade, "development");
  kept = seen(0.30);
  EXPECT_EQ(summarize(record).judgement.grade, "development") << "faster than before";
  kept = seen(-0.30);
  record.run.workload.device = Device("cuda:0");
  EXPECT_THAT(summarize(record).judgement.grade_reason, HasSubstr("the GPU computed 30.0 % less"));
  kept.erase("arithmetic_change");  // a record of an earlier program: its drift has no direction
  EXPECT_EQ(summarize(record).judgement.grade, "development");
}

TEST(CellRow, ThroughputTimesMeanStepTimeIsTheBatch) {
  const CellResult cell = summarize(sample_record());
  EXPECT_NEAR(*cell["throughput"].value * *cell["step_time_mean"].value, 8, 1e-9);
}

TEST(CellRow, RowHasTheKeysOfTheInterfaceInTheirOrder) {
  const Json json = to_json(summarize(sample_record()));
  const std::vector<std::string> expected = {"model",
                                             "config",
                                             "model_hash",
                                             "framework",
                                             "framework_version",
                                             "mode",
                                             "device",
                                             "threads",
                                             "precision",
                                             "layout",
                                             "input_mode",
                                             "batch",
                                             "unit",
                                             "throughput",
                                             "throughput_low",
                                             "throughput_high",
                                             "basis",
                                             "grade",
                                             "step_time_median",
                                             "step_time_p95",
                                             "stable_from_step",
                                             "steps",
                                             "launches",
                                             "cpu_utilization",
                                             "peak_rss_bytes",
                                             "flop_rate",
                                             "outcome",
                                             "reason",
                                             "flags",
                                             "record"};
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  ASSERT_GT(keys.size(), expected.size());
  keys.resize(expected.size());
  EXPECT_EQ(keys, expected);
}

TEST(CellRow, EveryNullHasItsReason) {
  Record record = sample_record({.steps = 1});
  record.run.peaks = Json::object();
  const Json json = to_json(summarize(record));
  for (const auto& [key, value] : json.items()) {
    if (!value.is_null()) continue;
    EXPECT_TRUE(json["reasons"].contains(key)) << key;
    EXPECT_NE(json["reasons"][key], "") << key;
  }
}

TEST(CellRow, ReportsPaddingShareAndValidRates) {
  Record record = sample_record();
  EXPECT_THAT(summarize(record)["padding_share"].reason, HasSubstr("count no tokens"));
  for (Launch& launch : record.launches)
    for (StepRow& row : launch.steps) {
      row.units = 60;
      row.samples = 4;
      row.valid = 150;
      row.padded = 200;
    }
  const CellResult cell = summarize(record);
  EXPECT_NEAR(cell["padding_share"].value.value(), 0.25, 1e-12);
  const double steps_per_second = cell["throughput"].value.value() / 60;
  EXPECT_NEAR(cell["samples_per_second"].value.value(), 4 * steps_per_second, 1e-9);
  EXPECT_NEAR(cell["valid_per_second"].value.value(), 150 * steps_per_second, 1e-9);
  EXPECT_NEAR(cell["padded_per_second"].value.value(), 200 * steps_per_second, 1e-9);
  const std::vector<CellResult> cells = {cell};
  EXPECT_THAT(results_table(cells).notes, Contains(HasSubstr("token slots/s")));
  record.run.workload.unit = "seconds of audio";
  const std::vector<CellResult> speech = {summarize(record)};
  EXPECT_THAT(results_table(speech).notes, Contains(HasSubstr("frame slots/s")));
}

TEST(CellRow, DataThatCountNoUnitsGiveNoThroughput) {
  Record record = sample_record();
  for (Launch& launch : record.launches)
    for (StepRow& row : launch.steps) row.units = 0;
  EXPECT_THAT(summarize(record)["throughput"].reason, HasSubstr("counted no units"));
}

TEST(Tables, ShowTheUnitColumnOnlyWhenUnitsDiffer) {
  Record record = sample_record();
  std::vector<CellResult> cells = {summarize(record)};
  EXPECT_EQ(std::ranges::count(results_table(cells).columns, "unit", &Column::key), 0);
  record.run.workload.unit = "tokens";
  cells.push_back(summarize(record));
  const Table table = results_table(cells);
  const auto column = std::ranges::find(table.columns, "unit", &Column::key) - table.columns.begin();
  ASSERT_LT(column, std::ssize(table.columns));
  EXPECT_EQ(std::get<std::string>(table.rows[1].at(static_cast<size_t>(column))), "tokens");
}

TEST(CellRow, UnknownIsNullNeverZero) {
  Record record = sample_record();
  for (StepRow& row : record.launches[0].steps) row.user_cpu_ns = {};
  EXPECT_TRUE(to_json(summarize(record))["cpu_utilization"].is_null());
}

TEST(CellRow, FallsBackToLaunchTotalsWhenStepColumnsAreMissing) {
  Record record = sample_record();
  for (StepRow& row : record.launches[0].steps) row.user_cpu_ns = {};
  *record.launches[0].info.host = {{"use", {{"util_cpu", 0.5}}}};
  EXPECT_DOUBLE_EQ(summarize(record)["cpu_utilization"].value.value(), 0.5);
}

TEST(Gates, AnotherBatchThanPlannedFails) {
  Record record = sample_record();
  record.launches[0].info.batch_seen = 4;
  const CellResult cell = summarize(record);
  EXPECT_EQ(cell.judgement.outcome.kind, OutcomeKind::failed);
  EXPECT_THAT(cell.judgement.outcome.reason, HasSubstr("batch 4"));
  EXPECT_FALSE(cell["throughput"].value);
  EXPECT_EQ(cell.judgement.grade, "");
}

TEST(Gates, ALossThatIsNotFiniteIsNamedByItsStep) {
  Record record = sample_record();
  record.launches[0].steps[40].loss = std::numeric_limits<double>::quiet_NaN();
  const CellResult cell = summarize(record);
  EXPECT_EQ(cell.judgement.outcome.kind, OutcomeKind::nonfinite);
  EXPECT_THAT(cell.judgement.outcome.reason, HasSubstr("step 41"));
}

TEST(Gates, ADriftingSeriesIsDisturbedAndHasItsNumbers) {
  Record record = sample_record();
  std::vector<StepRow>& steps = record.launches[0].steps;
  int64_t now = 1'500'000'000;
  for (size_t i = 0; i < steps.size(); ++i)
    steps[i].completed_ns = now += 250'000'000 + static_cast<int64_t>(i * i) * 40'000;
  const CellResult cell = summarize(record);
  EXPECT_EQ(cell.judgement.outcome.kind, OutcomeKind::ok);
  EXPECT_EQ(cell.judgement.grade, "disturbed");
  EXPECT_THAT(cell.judgement.grade_reason, HasSubstr("rises by"));
  EXPECT_THAT(cell.judgement.flags, Contains("level-shift"));
  for (const char* id : {"throughput", "step_time_min", "step_time_floor", "step_time_q1", "step_time_median",
                         "step_time_q3", "cpu_time_per_step"})
    EXPECT_TRUE(cell[id].value) << id;
}

TEST(Gates, StealIsFlaggedAndDisturbsTheRow) {
  EXPECT_THAT(summarize(sample_record({.steal = 0.03})).judgement.flags, Contains("disturbed-steal"));
  const CellResult stolen = summarize(sample_record({.steal = 0.08}));
  EXPECT_EQ(stolen.judgement.grade, "disturbed");
  EXPECT_EQ(stolen.judgement.grade_reason, "less than 1 % of the time was undisturbed: steal 6.92 %");
  EXPECT_EQ(stolen.basis, Basis::total);
  EXPECT_TRUE(stolen["throughput"].value);
  EXPECT_THAT(summarize(sample_record()).judgement.flags, Not(Contains("disturbed-steal")));
}

TEST(Gates, WithholdUtilizationAboveTheRoof) {
  Record record = sample_record();
  record.run.peaks["isa"]["fp32"] = 7e11;
  const CellResult cell = summarize(record);
  EXPECT_THAT(cell.judgement.flags, Contains("over-roof"));
  EXPECT_FALSE(cell["mfu"].value);
  EXPECT_TRUE(cell["flop_rate"].value);
}

// One arithmetic kernel of each type, whose median was so many times as high afterwards.
Json peaks_that_moved(double fp32, double fp64) {
  const auto kernels = [](double single, double twice) {
    const auto row = [](const char* type, double median) {
      return Json{{"kernel", "fma256"}, {"type", type}, {"all_threads", {{"median", median}}}};
    };
    return Json{{"kernels", {row("fp32", single), row("fp64", twice)}}};
  };
  return {{"isa", {{"fp32", 1.2e12}, {"fp64", 0.6e12}}},
          {"drift", std::max(std::abs(fp32 - 1), std::abs(fp64 - 1))},
          {"before", kernels(1.2e12, 0.6e12)},
          {"after", kernels(1.2e12 * fp32, 0.6e12 * fp64)}};
}

TEST(Gates, DriftOfAnotherMathTypeWithholdsNothing) {
  const auto judged = [](const Json& peaks) {
    Record record = sample_record();
    record.run.peaks = peaks;
    return summarize(record).judgement;
  };
  EXPECT_FALSE(judged(peaks_that_moved(1.01, 2)).utilization_withheld);
  EXPECT_THAT(judged(peaks_that_moved(1.01, 2)).flags, Not(Contains("peaks-drift")));
  EXPECT_THAT(judged(peaks_that_moved(1.05, 1)).flags, Contains("peaks-drift"));
  EXPECT_THAT(judged(peaks_that_moved(0.8, 1)).utilization_withheld.value_or(""), HasSubstr("drifted by 20"));
  EXPECT_THAT(judged({{"drift", 0.2}}).utilization_withheld.value_or(""), HasSubstr("drifted by 20"))
      << "a record that does not say which";
}

TEST(Gates, AnInterruptedRunKeepsItsNumber) {
  Record record = sample_record();
  record.run.outcome = {.kind = OutcomeKind::interrupted, .reason = "SIGINT"};
  const CellResult cell = summarize(record);
  EXPECT_EQ(cell.judgement.outcome.kind, OutcomeKind::interrupted);
  EXPECT_TRUE(cell["throughput"].value);
}

// Records that an earlier program withheld for their series are judged by what they hold.
TEST(Gates, JudgeAnUnsteadyRecordAgain) {
  Record record = sample_record({.launches = 3});
  record.run.outcome = {.kind = OutcomeKind::unsteady, .reason = "only 47 of 34839 steps are stable"};
  const CellResult cell = summarize(record);
  EXPECT_EQ(cell.judgement.outcome.kind, OutcomeKind::ok);
  EXPECT_EQ(cell.judgement.grade, "development");
}

TEST(Gates, OneLaunchIsProvisionalWithTheReason) {
  const CellResult cell = summarize(sample_record({.steps = 30}));
  EXPECT_EQ(cell.judgement.outcome.kind, OutcomeKind::ok);
  EXPECT_EQ(cell.judgement.grade, "provisional");
  EXPECT_THAT(cell.judgement.grade_reason, HasSubstr("within one process"));
  EXPECT_TRUE(cell["throughput"].value);
}

TEST(Gates, EqualStampsAreInconsistent) {
  Record record = sample_record();
  record.launches[0].steps[50].completed_ns = record.launches[0].steps[49].completed_ns;
  EXPECT_EQ(summarize(record).judgement.outcome.kind, OutcomeKind::inconsistent);
}

// A record of one pass alone, whose launch ended so.
CellResult of_pass(const char* pass, OutcomeKind kind) {
  Record record = sample_record();
  record.launches[0].info.pass = Pass(pass);
  record.launches[0].info.outcome.kind = kind;
  return summarize(record);
}

TEST(Gates, JudgeAnUntimedRecordByItsPass) {
  for (const char* pass : {"memory", "trace"}) {
    const CellResult cell = of_pass(pass, OutcomeKind::ok);
    EXPECT_EQ(cell.judgement.outcome.kind, OutcomeKind::ok) << pass;
    EXPECT_EQ(cell.judgement.withheld, cat("not timed: the record is of pass ", pass));
    EXPECT_FALSE(cell["throughput"].value);
    EXPECT_EQ(of_pass(pass, OutcomeKind::failed).judgement.outcome.kind, OutcomeKind::failed);
  }
  EXPECT_EQ(of_pass("disturbed", OutcomeKind::ok).judgement.outcome.kind, OutcomeKind::failed);
}

TEST(Gates, ARecordWithoutStepsFails) {
  Record record = sample_record();
  record.launches.clear();
  EXPECT_EQ(summarize(record).judgement.outcome.kind, OutcomeKind::failed);
}

TEST(Launches, FiveLaunchesAtPublishEffortGradePublished) {
  const CellResult cell = summarize(sample_record({.steps = 220, .effort = "publish", .launches = 5}));
  EXPECT_EQ(cell.launches, 5);
  EXPECT_EQ(cell.judgement.grade, "published");
}

// Launches whose seconds a step are these, each begun so many seconds after 12:00.
CellResult launched(const std::vector<double>& step_seconds, const std::vector<int>& begun) {
  Record record = sample_record({.launches = static_cast<int64_t>(step_seconds.size())});
  for (size_t i = 0; i < step_seconds.size(); ++i) {
    record.launches[i].steps = sample_steps({.step_seconds = step_seconds[i]}, i);
    record.launches[i].info.start = cat("2026-01-31T12:00:", begun[i] < 10 ? "0" : "", begun[i], "Z");
  }
  return summarize(record);
}

TEST(Launches, MeasuredInTurnsAreComparedByPairs) {
  const std::vector<double> slowing = {0.2, 0.25, 0.3, 0.35}, slowing_too = {0.22, 0.275, 0.33, 0.385};
  const CellResult a = launched(slowing, {0, 15, 30, 45}), b = launched(slowing_too, {10, 20, 40, 50});
  const Comparison paired = *compare_launches(a, b);
  EXPECT_TRUE(paired.ratio.paired);
  EXPECT_EQ(paired.verdict, Verdict::faster);
  EXPECT_NEAR(speed_ratio(a, b).low.value(), 1.1, 0.01);

  const CellResult later = launched(slowing_too, {46, 50, 55, 58}), fewer = launched({0.22, 0.275, 0.33}, {10, 20, 40});
  EXPECT_FALSE(launches_in_turns(a.timed, later.timed)) << "one after the other";
  EXPECT_FALSE(compare_launches(a, later)->ratio.paired);
  EXPECT_EQ(compare_launches(a, later)->verdict, Verdict::undecided);
  EXPECT_FALSE(launches_in_turns(a.timed, fewer.timed));
  EXPECT_FALSE(launches_in_turns(fewer.timed, fewer.timed)) << "two groups of three say more than three pairs";
}

// Two workloads without like evidence: launches of neither have a step of the basis.
TEST(Launches, OfDisturbedRowsThatTookTurnsCountWithAllOfTheirTime) {
  const auto disturbed = [](const std::vector<double>& step_seconds, const std::vector<int>& begun) {
    CellResult cell = launched(step_seconds, begun);
    cell.judgement.grade = name(Grade::disturbed);
    cell.timed = {};
    return cell;
  };
  const std::vector<double> slower = {0.22, 0.275, 0.33, 0.385};
  const CellResult a = disturbed({0.2, 0.25, 0.3, 0.35}, {0, 15, 30, 45}), b = disturbed(slower, {10, 20, 40, 50});
  EXPECT_EQ(compare_launches(a, b).value().verdict, Verdict::faster);
  EXPECT_NEAR(speed_ratio(a, b).value.value(), 1.1, 0.01);
  EXPECT_NEAR(speed_ratio(a, b).low.value(), 1.1, 0.01) << "each pair has the same ratio";
  EXPECT_EQ(why_no_ratio(a, b), "");
  EXPECT_NE(why_no_ratio(a, disturbed(slower, {46, 50, 55, 58})), "");
  EXPECT_FALSE(compare_launches(a, disturbed(slower, {46, 50, 55, 58}))) << "one after the other";
  EXPECT_EQ(compare_launches(disturbed({0.2, 0.25, 0.3}, {0, 15, 30}), b)->ratio.launches_b, 3) << "no other way";
  const CellResult made_up = disturbed({0.2, 0.25, 0.3, 0.35}, {0, 15, 30, 32});
  EXPECT_EQ(compare_launches(made_up, disturbed({0.22, 0.275, 0.33, 0.385}, {10, 20, 40, 50}))->ratio.launches_a, 3)
      << "its fourth began before the third of the other";
  CellResult shared = b;
  shared.judgement.flags = {"oversubscribed"};
  EXPECT_NE(why_no_ratio(a, shared), "") << "every launch had a core too few";
  EXPECT_FALSE(compare_launches(a, shared));
  const CellResult further = disturbed({0.22, 0.275, 0.33, 0.385, 0.3, 0.2}, {10, 20, 40, 50, 52, 54});
  EXPECT_EQ(compare_launches(a, further).value().ratio.launches_a, 4) << "more launches of one side take nothing away";
}

TEST(Launches, AreTwoGroupsWhereOneSideHasManyMore) {
  const CellResult a = launched({0.2, 0.2, 0.21, 0.2}, {0, 10, 20, 30});
  const CellResult b = launched({0.22, 0.22, 0.23, 0.22, 0.22, 0.22}, {5, 15, 25, 35, 45, 55});
  ASSERT_TRUE(launches_in_turns(a.timed, b.timed));
  EXPECT_EQ(compare_launches(a, b).value().ratio.launches_b, 6);
}

TEST(Launches, ArePairedByNumberWhereOneIsMissing) {
  const std::vector<int> begun = {0, 10, 20, 30, 40};
  const CellResult a = launched({0.2, 0.25, 0.3, 0.35, 0.4}, begun);
  CellResult b = launched({0.22, 0.275, 0.33, 0.385, 0.44}, {5, 15, 25, 35, 45});
  const auto drop = [&](size_t i) {
    b.timed.numbers.erase(b.timed.numbers.begin() + static_cast<std::ptrdiff_t>(i));
    b.timed.starts.erase(b.timed.starts.begin() + static_cast<std::ptrdiff_t>(i));
    b.timed.rates.erase(b.timed.rates.begin() + static_cast<std::ptrdiff_t>(i));
  };
  drop(1);
  const Comparison paired = *compare_launches(a, b);
  EXPECT_EQ(paired.ratio.launches_a, 4);
  EXPECT_NEAR(paired.ratio.value, 1.1, 0.01);
  EXPECT_NEAR(paired.ratio.interval.value().low, 1.1, 0.01);
  drop(0);
  EXPECT_FALSE(launches_in_turns(a.timed, b.timed)) << "three of five";
}

InputVerdict verdict_on_input(const SampleOptions& pipeline) {
  const CellResult cells[] = {summarize(sample_record()), summarize(sample_record(pipeline))};
  const std::vector<InputPair> pairs = input_pairs(cells);
  EXPECT_EQ(pairs.size(), 1u);
  return pairs.at(0).verdict;
}

TEST(InputVerdicts, FollowWaitAndRatio) {
  EXPECT_EQ(verdict_on_input({.input_wait = 0.03, .input_mode = InputMode::kPipeline}), InputVerdict::input_bound);
  EXPECT_EQ(verdict_on_input({.step_seconds = 0.28, .input_wait = 0.001, .input_mode = InputMode::kPipeline}),
            InputVerdict::cores_shared);
  EXPECT_EQ(verdict_on_input({.input_wait = 0.001, .input_mode = InputMode::kPipeline}), InputVerdict::not_input_bound);
  EXPECT_EQ(verdict_on_input({.steps = 12, .step_seconds = 0.255, .noise = 0.05, .input_mode = InputMode::kPipeline}),
            InputVerdict::undecided);
}

TEST(InputVerdicts, AnUndecidedOneSaysWhatIsMissing) {
  const auto said = [](const Record& resident, const Record& pipeline) {
    const CellResult cells[] = {summarize(resident), summarize(pipeline)};
    return sentence(input_pairs(cells).at(0));
  };
  const SampleOptions slow{.steps = 12, .step_seconds = 0.255, .noise = 0.05, .input_mode = InputMode::kPipeline};
  EXPECT_THAT(said(sample_record(), sample_record(slow)), HasSubstr("the intervals are too wide"));
  Record failed = sample_record({.input_mode = InputMode::kPipeline});
  failed.run.outcome = {.kind = OutcomeKind::failed, .reason = "12 class folders", .repro = ""};
  failed.launches.clear();
  const std::string why = said(sample_record(), failed);
  EXPECT_THAT(why, HasSubstr("the pipeline input gave no throughput (failed: "));
  EXPECT_THAT(why, HasSubstr("12 class folders"));
}

TEST(InputVerdicts, DoNotPairWorkloadsThatDifferInPrecision) {
  const CellResult cells[] = {
      summarize(sample_record()),
      summarize(sample_record({.input_mode = InputMode::kPipeline, .precision = Precision::kBf16}))};
  EXPECT_TRUE(input_pairs(cells).empty());
}

TEST(Tables, SayTheGradeAndItsReason) {
  const CellResult cells[] = {summarize(sample_record({.steps = 30}))};
  EXPECT_THAT(print_cells(cells, Format::text), HasSubstr("provisional"));
  EXPECT_THAT(print_cells(cells, Format::text), HasSubstr("images/s"));
  EXPECT_EQ(parse_json(print_cells(cells, Format::json), "row")["grade"], "provisional");
  EXPECT_THAT(print_cells(cells, Format::csv), HasSubstr("model,config,model_hash"));
}

TEST(Metrics, AndFlagsAreDocumentedInTheMetricsPage) {
  const std::string page = read_file(std::string(TBD_SOURCE_DIR) + "/docs/metrics.md");
  for (const Metric& m : metrics()) EXPECT_NE(page.find(cat("| `", m.id, "` |")), std::string::npos) << m.id;
  for (const Metric& m : metrics()) EXPECT_NE(page.find(m.what), std::string::npos) << m.id;
  for (const Flag& flag : known_flags())
    EXPECT_NE(page.find(cat("| `", flag.name, "` | ", flag.meaning)), std::string::npos) << flag.name;
}

TEST(Metrics, AreListedByGroupFromTheThroughputOn) {
  EXPECT_TRUE(std::ranges::is_sorted(metrics(), {}, &Metric::group));
  EXPECT_EQ(metrics().front().id, "throughput");
}

TEST(Metrics, DescribeMeaningMethodAndLimits) {
  for (const Metric& m : metrics())
    for (const std::string_view text : {m.title, m.what, m.formula, m.counts, m.how, m.limits})
      EXPECT_FALSE(text.empty()) << m.id;
}

TEST(Metrics, HaveUniqueIdsAndAreFoundByThem) {
  for (const Metric& m : metrics()) EXPECT_EQ(&metric(m.id), &m) << m.id;
  EXPECT_THROW(metric("troughput"), Error);
}

}  // namespace
}  // namespace tbd
