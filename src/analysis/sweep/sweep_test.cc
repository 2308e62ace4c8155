#include "analysis/sweep/sweep.h"

#include <gmock/gmock.h>

#include <cmath>
#include <utility>

#include "analysis/observations/sample_sweeps.h"
#include "analysis/sample_profile.h"
#include "analysis/sample_record.h"
#include "analysis/sweep/largest_batch.h"
#include "base/json.h"

namespace tbd {
namespace {

using sample::Results;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<int64_t> batches(const Sweep& sweep) {
  std::vector<int64_t> out;
  for (const SweepPoint& point : sweep.points) out.push_back(point.batch);
  return out;
}

TEST(Sweeps, GroupWorkloadsThatDifferOnlyInBatch) {
  Results results;
  results.add({.batches = {8, 4}, .throughput = {12, 10}})
      .add({.precision = Precision::kBf16, .batches = {4}, .throughput = {20}});
  results.add({.input_mode = InputMode::kPipeline, .batches = {4}, .throughput = {9}});
  results.add({.batches = {4}, .throughput = {9}, .budget = int64_t{4} << 30});
  const auto sweeps = tbd::sweeps(results.records());
  ASSERT_EQ(sweeps.size(), 4u);
  EXPECT_EQ(sweeps[0].label(), "resnet50 pytorch bf16");
  EXPECT_EQ(sweeps[1].label(), "resnet50 pytorch fp32 pipeline");
  EXPECT_EQ(sweeps[2].label(), "resnet50 pytorch fp32");
  EXPECT_EQ(sweeps[3].label(), "resnet50 pytorch fp32 budget 4.00 GiB") << "what tells it from the one before";
  EXPECT_THAT(batches(sweeps[2]), ElementsAre(4, 8));
  EXPECT_THAT(batches(sweeps[3]), ElementsAre(4)) << "with a budget, after those without";
  for (const Sweep& sweep : sweeps)
    for (const SweepPoint& point : sweep.points)
      EXPECT_EQ(point.record->run.workload.input_mode, sweep.workload.input_mode);
}

TEST(LargestBatch, IsARowOfTheRecordsThatWereSearched) {
  Record searched = sample_record(), other = sample_record();
  searched.run.environment["largest_batch"] = {{"budget", 4096},
                                               {"batch", 12},
                                               {"too_large", 13},
                                               {"probes", 5},
                                               {"predicted_bytes", 3000},
                                               {"observed_bytes", 4000},
                                               {"prediction_error", -0.25},
                                               {"closed", true}};
  const Record* records[] = {&other, &searched};
  const Table table = largest_batch_table(records);
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(std::get<int64_t>(table.rows[0][4]), 12);
  EXPECT_EQ(std::get<double>(table.rows[0][9]), -0.25);
  EXPECT_TRUE(largest_batch_table(std::span(records, 1)).rows.empty());
}

TEST(LargestBatch, AnAbortedSearchHasNoAnswer) {
  Record aborted = sample_record();
  aborted.run.environment["largest_batch"] = {
      {"budget", 4096},
      {"closed", false},
      {"tried", {{{"batch", 2}, {"fits", true}, {"seen", "trained"}}, {{"batch", 9}, {"fits", false}, {"seen", "x"}}}},
      {"fault", {{"kind", "timeout"}, {"reason", "x"}}}};
  const Record* records[] = {&aborted};
  const Table table = largest_batch_table(records);
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(std::get<int64_t>(table.rows[0][6]), 2);
  for (const size_t column : {4, 5, 7, 8, 9})
    EXPECT_TRUE(std::holds_alternative<std::monostate>(table.rows[0][column]));
  EXPECT_EQ(std::get<std::string>(table.rows[0].back()), "no answer: timeout");
}

TEST(Sweeps, MachinesAreKeptApart) {
  Results results;
  results.add({.batches = {4, 8}, .throughput = {10, 12}});
  results.add({.machine = "Other CPU", .batches = {4, 8}, .throughput = {20, 22}});
  const auto sweeps = tbd::sweeps(results.records());
  ASSERT_EQ(sweeps.size(), 2u);
  EXPECT_EQ(sweeps[0].machine, "Other CPU, 2 cores");
  EXPECT_NEAR(*sweeps[0].points[0].throughput().value, 20, 0.1);
}

TEST(Sweeps, TheOrderOfRecordsDoesNotMatter) {
  Results one, two;
  one.add({.batches = {4, 8}, .throughput = {10, 12}}).add({.model = "bert", .batches = {2}, .throughput = {1}});
  two.add({.model = "bert", .batches = {2}, .throughput = {1}}).add({.batches = {8, 4}, .throughput = {12, 10}});
  const auto a = tbd::sweeps(one.records()), b = tbd::sweeps(two.records());
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].label(), b[i].label());
    EXPECT_EQ(batches(a[i]), batches(b[i]));
  }
}

TEST(Sweeps, UseTheBestGradedOfDuplicateRecords) {
  Results results;
  results.add({.batches = {4}, .throughput = {10}, .effort = "quick"});  // provisional: one launch
  results.add({.batches = {4}, .throughput = {11}, .launches = 3});
  results.add({.batches = {4}, .throughput = {12}, .launches = 3});
  results.records()[2].run.created = "2026-02-01T00:00:00Z";
  const auto sweeps = tbd::sweeps(results.records());
  ASSERT_EQ(sweeps.size(), 1u);
  ASSERT_EQ(sweeps[0].points.size(), 1u);
  EXPECT_EQ(sweeps[0].points[0].record->hash, "r2") << "the later of equals";
  ASSERT_EQ(sweeps[0].duplicates.size(), 2u);
  EXPECT_EQ(sweeps[0].duplicates[0]->hash, "r1");
}

TEST(Sweeps, PreferUndisturbedOverLaterDuplicates) {
  Results results;
  results.add({.batches = {4}, .throughput = {10}}).add({.batches = {4}, .throughput = {12}});
  results.records()[1].run.created = "2026-02-01T00:00:00Z";
  for (StepRow& row : results.records()[1].launches[0].steps) row.runqueue_wait_ns = 100'000'000;
  const auto sweeps = tbd::sweeps(results.records());
  EXPECT_EQ(sweeps[0].points[0].record->hash, "r0");
}

Sweep held_up(double share, int64_t launches = 1, const std::vector<std::string>& flags = {}) {
  static Results results;
  results = Results();
  results.add({.batches = {4}, .throughput = {10}, .launches = launches});
  Record& record = results.records()[0];
  record.run.flags = flags;
  for (Launch& launch : record.launches) sample::hold_up(launch, share);
  return tbd::sweeps(results.records()).at(0);
}

TEST(Sweeps, ReachFromAllOfADisturbedWorkloadsTimeToItsFastestQuietBlock) {
  const Sweep sweep = held_up(0.9);
  const SweepPoint& point = sweep.points.at(0);
  ASSERT_EQ(point.cell.judgement.grade, "disturbed") << point.cell.judgement.grade_reason;
  EXPECT_TRUE(point.bounded);
  const Measured& x = point.throughput();
  EXPECT_LT(*x.value, 6);
  EXPECT_LE(*x.low, *x.value);
  EXPECT_NEAR(*x.high, 10, 0.3);
}

TEST(Sweeps, ReachFromTheSlowestToTheFastestQuietBlockWhereThereAreEnough) {
  const Sweep sweep = held_up(0.9, /*launches=*/2);
  const SweepPoint& point = sweep.points.at(0);
  ASSERT_EQ(point.cell.judgement.grade, "disturbed") << point.cell.judgement.grade_reason;
  const Measured& x = point.throughput();
  EXPECT_NEAR(*x.value, 10, 0.1);
  EXPECT_NEAR(*x.low, 10, 0.3);
  EXPECT_NEAR(*x.high, 10, 0.3);
}

TEST(Sweeps, AreNotBoundedWhereNothingWasQuiet) {
  EXPECT_FALSE(held_up(1).points.at(0).bounded);
  EXPECT_FALSE(held_up(0.9, 1, {"oversubscribed"}).points.at(0).bounded) << "what looks quiet is not";
  EXPECT_TRUE(held_up(0).points.at(0).bounded);
}

TEST(Sweeps, FailedCellsArePoints) {
  Results results;
  results.add({.batches = {4, 8}, .throughput = {10, 12}, .oom_at = 16});
  const auto sweeps = tbd::sweeps(results.records());
  ASSERT_EQ(sweeps.size(), 1u);
  EXPECT_THAT(batches(sweeps[0]), ElementsAre(4, 8, 16));
  EXPECT_FALSE(sweeps[0].points[2].ran());
  EXPECT_FALSE(sweeps[0].points[2].throughput().value);
  EXPECT_EQ(sweeps[0].largest()->batch, 8);
  EXPECT_TRUE(sweeps[0].memory_limited());
  EXPECT_EQ(sweeps[0].memory_limit_label(), "memory-limited");
}

TEST(Sweeps, IncludeWorkloadsThatReachedNoWorker) {
  Results results;
  results.add({.framework = "tensorflow", .batches = {4}, .throughput = {10}, .oom_at = 8});
  results.records()[0].run.workload.mode = Mode::kGraph;
  Record& skipped = results.records()[1];
  skipped.launches.clear();
  skipped.run.environment = Json::object();
  skipped.run.workload.optimizer = "sgd";
  const auto sweeps = tbd::sweeps(results.records());
  ASSERT_EQ(sweeps.size(), 1u);
  EXPECT_THAT(batches(sweeps[0]), ElementsAre(4, 8));
  EXPECT_EQ(sweeps[0].workload.mode, Mode::kGraph);
}

TEST(Sweeps, OneStepGivesAValueWithoutInterval) {
  Results results;
  results.add({.batches = {4}, .throughput = {10}, .effort = "smoke"});
  results.records()[0].launches[0].steps.resize(1);
  const auto sweeps = tbd::sweeps(results.records());
  const SweepPoint& point = sweeps[0].points[0];
  ASSERT_TRUE(point.throughput().value) << point.throughput().reason;
  EXPECT_FALSE(point.throughput().low);
  EXPECT_THAT(point.notes, testing::Contains(HasSubstr("too few steps for an interval")));
}

TEST(Sweeps, NonFiniteUnitsAreAbsentWithAReason) {
  Results results;
  results.add({.batches = {4, 8}, .throughput = {10, 12}});
  for (StepRow& row : results.records()[1].launches[0].steps) row.units = std::nan("");
  const auto sweeps = tbd::sweeps(results.records());
  EXPECT_FALSE(sweeps[0].points[1].ran());
  EXPECT_EQ(sweeps[0].largest()->batch, 4);
}

TEST(Sweeps, WithoutATraceUtilizationSaysWhy) {
  Results results;
  results.add({.batches = {4}, .throughput = {10}});
  const auto sweeps = tbd::sweeps(results.records());
  EXPECT_FALSE(sweeps[0].points[0].compute_utilization.value);
  EXPECT_EQ(sweeps[0].points[0].compute_utilization.reason, "the trace pass was not measured");
}

TEST(Sweeps, ReadTracesAndMemory) {
  const auto made = sample::made();
  sample::add_memory(made->record);
  const auto sweeps = tbd::sweeps(std::span(&made->record, 1));
  ASSERT_EQ(sweeps.size(), 1u);
  const SweepPoint& point = sweeps[0].points[0];
  EXPECT_DOUBLE_EQ(*point.compute_utilization.value, 0.85);
  EXPECT_NEAR(*point.compute_utilization.low, 0.85, 1e-9) << "both steps are alike";
  EXPECT_DOUBLE_EQ(*point.flop_active.value, 602'000 / (1e9 * 1.7e-3));
  ASSERT_TRUE(point.memory);
  EXPECT_EQ(point.peak_bytes, 180);
  EXPECT_EQ(point.peak_source, "ledger");
  const auto quick = tbd::sweeps(std::span(&made->record, 1), {.traces = false, .memory = false});
  EXPECT_FALSE(quick[0].points[0].profile);
  EXPECT_FALSE(quick[0].points[0].memory);
}

TEST(Sweeps, ATraceThatCannotBeReadIsANote) {
  const auto made = sample::made();
  write_file(made->record.folder / "launches/trace-1/trace.tbdt", "no trace");
  const auto sweeps = tbd::sweeps(std::span(&made->record, 1));
  const SweepPoint& point = sweeps[0].points[0];
  EXPECT_FALSE(point.compute_utilization.value);
  ASSERT_FALSE(point.notes.empty());
  EXPECT_THAT(point.notes.front(), testing::StartsWith("trace: "));
  EXPECT_EQ(point.compute_utilization.reason, point.notes.front());
}

TEST(Sweeps, APassIsTakenFromADuplicate) {
  const auto made = sample::made();
  std::vector<Record> records = {made->record, made->record};
  records[0].hash = "traced";
  records[1].hash = "clean";
  records[1].launches = sample_record().launches;
  for (Launch& launch : records[1].launches) {
    launch.info.batch_seen = {};
    launch.info.parameters_seen = {};
  }
  const auto sweeps = tbd::sweeps(records);
  ASSERT_EQ(sweeps.size(), 1u);
  const SweepPoint& point = sweeps[0].points[0];
  EXPECT_EQ(point.record->hash, "clean");
  EXPECT_TRUE(point.compute_utilization.value);
  EXPECT_THAT(point.notes, testing::Contains("trace: of record traced."));
}

TEST(Sweeps, DescribeTheNetwork) {
  Results results;
  results.add({.model = "a", .op = "lstm_cell", .batches = {4}, .throughput = {10}});
  results.add({.model = "b", .op = "gru", .batches = {4}, .throughput = {10}});
  results.add({.model = "minigo", .domain = "reinforcement learning", .batches = {4}, .throughput = {10}});
  results.add({.model = "resnet50", .batches = {4}, .throughput = {10}});
  const auto sweeps = tbd::sweeps(results.records());
  EXPECT_TRUE(sweeps[0].kind.lstm && sweeps[0].kind.recurrent && !sweeps[0].kind.convolutional);
  EXPECT_TRUE(!sweeps[1].kind.lstm && sweeps[1].kind.recurrent);
  EXPECT_TRUE(sweeps[2].kind.reinforcement && !sweeps[2].kind.convolutional);
  EXPECT_TRUE(sweeps[3].kind.convolutional && !sweeps[3].kind.recurrent);
}

TEST(Machine, IdentityContainsProcessorCoresAndMemory) {
  Record record;
  EXPECT_EQ(machine_of(record), "unknown machine");
  *record.run.environment = {
      {"cpu", {{"model", "Some CPU"}}},
      {"limits", {{"usable_cores", 2}, {"memory_bytes", int64_t{16} << 30}, {"memory_limit_bytes", int64_t{8} << 30}}}};
  EXPECT_EQ(machine_of(record), "Some CPU, 2 cores, 8 GiB");
}

TEST(Machine, OfAWorkloadOnAGpuNamesIt) {
  Results results;
  for (const char* gpu : {"NVIDIA T4", "NVIDIA H100"}) {
    const size_t first = results.records().size();
    results.add({.device = Device("cuda:0"), .batches = {4, 8}, .throughput = {10, 18}, .oom_at = 16});
    for (size_t i = first; i < results.records().size(); ++i) {
      Record& record = results.records()[i];
      if (record.launches.front().steps.empty()) continue;  // it ended before the device was looked at
      for (Launch& launch : record.launches) launch.info.gpu.emplace(Json{{"name", gpu}});
    }
  }
  const auto sweeps = results.sweeps();
  ASSERT_EQ(sweeps.size(), 2U) << "two GPUs are no one series";
  EXPECT_EQ(sweeps[0].machine, "Sample CPU, 2 cores, NVIDIA H100");
  EXPECT_EQ(sweeps[0].points.size(), 2U);
  EXPECT_EQ(sweeps[1].machine, "Sample CPU, 2 cores, NVIDIA T4");
  EXPECT_EQ(sweeps[1].points.size(), 3U) << "the first that it may belong to has what ran out of memory";
}

std::optional<Knee> knee_of(std::vector<double> throughput, double noise = 0.0005) {
  Results results;
  std::vector<int64_t> batches;
  for (size_t i = 0; i < throughput.size(); ++i) batches.push_back(int64_t{1} << i);
  results.add({.batches = batches, .throughput = throughput, .noise = noise});
  const auto sweeps = tbd::sweeps(results.records());
  return knee(sweeps[0]);
}

TEST(KneeOfASweep, IsTheFirstBatchNearTheBest) {
  EXPECT_EQ(knee_of({10, 18, 19.5, 20})->batch, 4);
  EXPECT_EQ(knee_of({10, 18, 19.5, 20})->low, 4);
  EXPECT_EQ(knee_of({1, 2, 3, 4})->batch, 8);
  EXPECT_EQ(knee_of({20, 20, 20, 20})->batch, 1);
}

TEST(KneeOfASweep, IsNotMovedByAFallAfterTheBest) { EXPECT_EQ(knee_of({10, 19.5, 20, 15})->batch, 2); }

TEST(KneeOfASweep, HasAnIntervalWhereThroughputsAreUnsure) {
  const Knee knee = *knee_of({10, 18.95, 19.05, 20}, 0.05);
  EXPECT_LE(knee.low, 2);
  EXPECT_EQ(knee.high, 8);
}

TEST(KneeOfASweep, NeedsThreePoints) { EXPECT_FALSE(knee_of({10, 20})); }

TEST(Budgets, PrintInBinaryUnits) {
  EXPECT_EQ(budget_text(int64_t{4} << 30), "4 GiB");
  EXPECT_EQ(budget_text(int64_t{1536} << 20, ""), "1.5GiB");
  EXPECT_EQ(budget_text(int64_t{700} << 20), "700 MiB");
  EXPECT_EQ(budget_text(1000), "1000 B");
}

}  // namespace
}  // namespace tbd
