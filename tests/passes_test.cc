// Passes trace and memory of every worker that is built, through the runner, on tiny ResNet: what they leave adds up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "analysis/memory/memory_report.h"
#include "analysis/profile/profile.h"
#include "base/files.h"
#include "built_workers.h"
#include "record/reader.h"
#include "runner/run.h"

namespace tbd {
namespace {

namespace fs = std::filesystem;

class Passes : public ::testing::Test {
 protected:
  void SetUp() override {
    settings_ = built_settings(folder_.path() / "cache");
    if (settings_.workers.empty()) GTEST_SKIP() << "no worker is built";
  }
  // A record for each worker that offers these.
  std::vector<Record> measured(const std::vector<Pass>& passes) {
    std::vector<Workload> cells;
    for (const WorkerEntry& entry : settings_.workers)
      if (offers(entry, passes, settings_))
        cells.push_back({.model = "resnet50", .config = "tiny", .framework = entry.key, .batch = 4});
    std::vector<Record> records;
    const RunOptions options{.effort = Effort::smoke, .out = folder_.path() / "out", .passes = passes, .peaks = false};
    for (const CellRun& run : run_cells(cells, options, settings_)) {
      EXPECT_EQ(run.outcome.kind, OutcomeKind::ok) << folder_name(run.cell) << ": " << run.outcome.reason;
      records.push_back(read_record(run.record));
    }
    return records;
  }

  TemporaryFolder folder_{"tbd-passes"};
  RunnerSettings settings_;
};

TEST_F(Passes, TracedStepsAddUp) {
  for (const Record& record : measured({Pass::kClean, Pass::kTrace})) {
    SCOPED_TRACE(record.run.workload.framework);
    const std::optional<Profile> profile = profile_of(record);
    ASSERT_TRUE(profile);
    EXPECT_EQ(profile->steps, 2);
    EXPECT_EQ(profile->masks.window(), profile->window_ns);
    int64_t lost = 0, flops = 0, needed = 0, away = 0;
    for (const LossPart& part : profile->loss) {
      lost += part.ns;
      if (part.cause == "off-CPU") away += part.ns;
    }
    EXPECT_EQ(lost, profile->window_ns) << "to the nanosecond";
    EXPECT_EQ(total(profile->causes), profile->masks.idle());
    // Other work of the machine may take these few steps' cores for longer than they last.
    EXPECT_GT(profile->masks.busy(kComputeBits), (profile->window_ns - away) / 5);
    EXPECT_LE(profile->compute_utilization(), 1);
    for (const ProfileOp& op : profile->ops) flops += op.flop_model;
    for (const OpRow& row : record.run.ops)
      needed += profile->steps * (row.forward.flop_model + row.backward.flop_model);
    EXPECT_EQ(flops, needed) << "every node that multiplies has its time in both directions";
    const auto backward = [](const ProfileOp& op) { return op.op == "conv2d" && op.direction == "backward"; };
    EXPECT_TRUE(std::ranges::any_of(profile->ops, backward));
    EXPECT_TRUE(std::ranges::any_of(profile->ops, [](const ProfileOp& op) { return op.direction == "update"; }));
    ASSERT_TRUE(profile->overhead);
    EXPECT_GT(profile->overhead->value, 0);
    EXPECT_GT(profile->overhead->interval.value().high, 0.3)
        << "of two steps beside three, on a machine with other work";
    EXPECT_EQ(profile->timeline.parts.size(), 72u);
  }
}

TEST_F(Passes, MemoryAddsUp) {
  for (const Record& record : measured({Pass::kMemory})) {
    SCOPED_TRACE(record.run.workload.framework);
    const std::optional<MemoryReport> report = memory_report(record);
    ASSERT_TRUE(report);
    const MemoryBytes& peak = report->study.peak.requested;
    const auto of = [&](MemoryClass kind) { return peak[static_cast<size_t>(kind)]; };
    const int64_t weights = 4 * record.run.parameters.value_or(0);
    EXPECT_EQ(of(MemoryClass::weight), weights);
    EXPECT_EQ(of(MemoryClass::optimizer_state), weights) << "momentum";
    // At their own peak: on a processor without AVX-512 TensorFlow's step is largest in backward, by a workspace.
    const auto most = [&](MemoryClass kind) { return report->study.class_peaks[static_cast<size_t>(kind)]; };
    EXPECT_GT(most(MemoryClass::feature_map) + most(MemoryClass::planned), weights);
    EXPECT_EQ(of(MemoryClass::unexplained), 0);
    EXPECT_EQ(report->study.growth_since(2).value_or(0), 0) << "a leak";
    if (record.run.workload.framework != "pytorch") continue;
    EXPECT_EQ(report->log.evidence, MemoryEvidence::exact);
    EXPECT_EQ(report->difference(), 0) << "the allocator's own count, to the byte";
    EXPECT_EQ(report->study.held_peak, report->allocator_peak);
  }
}

TEST_F(Passes, APassThatIsNotOfferedIsSaid) {
  settings_.workers.resize(1);
  const RunOptions options{
      .effort = Effort::smoke, .out = folder_.path() / "out", .passes = {Pass("counters")}, .peaks = false};
  const std::vector<CellRun> runs = run_cells(
      {{.model = "resnet50", .config = "tiny", .framework = settings_.workers[0].key, .batch = 4}}, options, settings_);
  EXPECT_EQ(runs.at(0).outcome.kind, OutcomeKind::unsupported);
  EXPECT_THAT(runs[0].outcome.reason, testing::HasSubstr("counters"));
}

}  // namespace
}  // namespace tbd
