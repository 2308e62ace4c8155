// Workers of this build with settings of speed: each allocator that is installed here must be the one that answers, in
// the record too; ops run at once where a framework can; what cannot be had is a row with the reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"
#include "base/json.h"
#include "built_workers.h"
#include "record/reader.h"
#include "runner/allocators.h"
#include "runner/prepare.h"
#include "runner/run.h"
#include "runner/worker_process.h"

namespace tbd {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

class WorkersSettings : public ::testing::Test {
 protected:
  WorkersSettings() : settings_(built_settings(folder_.path() / "cache")) {}
  void SetUp() override {
    if (settings_.workers.empty()) GTEST_SKIP() << "no worker is built";
  }
  Workload cell(const Allocator& allocator, const std::string& framework) const {
    Workload cell{.model = "resnet50", .config = "tiny", .framework = framework, .batch = 2};
    cell.allocator = allocator;
    return cell;
  }
  CellRun run(const Workload& cell, const Pass& pass = Pass::kClean) {
    return run_cells({cell},
                     {.effort = Effort::smoke,
                      .out = folder_.path() / cat("out-", ++runs_),
                      .passes = {pass},
                      .peaks = false},
                     settings_)
        .at(0);
  }
  // The memory map of a worker that was only asked who it is.
  std::string maps_of(const WorkerEntry& entry, const Allocator& allocator) {
    const PreparedCell prepared = prepare(cell(allocator, entry.key), Effort::smoke, settings_);
    WorkerProcess worker(entry, settings_, worker_environment(prepared, settings_), prepared.threads.cores, {});
    worker.hello();
    std::string maps = read_file(cat("/proc/", worker.pid(), "/maps"));
    worker.bye();
    return maps;
  }

  TemporaryFolder folder_{"tbd-settings"};
  RunnerSettings settings_;
  int runs_ = 0;
};

struct Case {
  Allocator allocator;
  const char* part;  // of its library's name
};
class EachAllocator : public WorkersSettings, public ::testing::WithParamInterface<Case> {
 protected:
  void SetUp() override {
    WorkersSettings::SetUp();
    const std::string absence =
        allocator_absence(GetParam().allocator, library_folders(settings_.environment, settings_.cache.string()));
    if (!absence.empty()) GTEST_SKIP() << absence;
  }
};

TEST_P(EachAllocator, GivesEveryWorkerItsMemory) {
  for (const WorkerEntry& entry : settings_.workers) {
    SCOPED_TRACE(entry.key);
    const std::string maps = maps_of(entry, GetParam().allocator);
    EXPECT_THAT(maps, HasSubstr(GetParam().part));
    const CellRun result = run(cell(GetParam().allocator, entry.key));
    ASSERT_EQ(result.outcome.kind, OutcomeKind::ok) << result.outcome.reason;
    const Record record = read_record(result.record);
    EXPECT_EQ(record.run.workload.allocator, GetParam().allocator);
    const std::string said = record.run.environment->at("process").at("allocator").dump();
    EXPECT_THAT(said, HasSubstr(*GetParam().part ? GetParam().part : "libc"));
  }
}

// A count of the C library's heap would say nothing of another one.
TEST_P(EachAllocator, NoHeapIsCountedThatIsNotInUse) {
  for (const WorkerEntry& entry : settings_.workers) {
    if (!offers(entry, {Pass::kMemory}, settings_)) continue;
    SCOPED_TRACE(entry.key);
    const CellRun result = run(cell(GetParam().allocator, entry.key), Pass::kMemory);
    const bool counts_c_heap = entry.framework == "mxnet" || entry.framework == "cntk";
    if (counts_c_heap && *GetParam().part) {
      EXPECT_EQ(result.outcome.kind, OutcomeKind::unsupported) << result.outcome.reason;
      EXPECT_THAT(result.outcome.reason, HasSubstr("measure it with allocator stock or kept"));
      continue;
    }
    ASSERT_EQ(result.outcome.kind, OutcomeKind::ok) << result.outcome.reason;
    const Record record = read_record(result.record);
    const Json& memory = record.launches.at(0).info.host->at("memory");
    EXPECT_EQ(memory.contains("heap_free_bytes"), !*GetParam().part) << memory.dump();
    EXPECT_EQ(memory.contains("runtime_bytes"), !*GetParam().part) << memory.dump();
  }
}

INSTANTIATE_TEST_SUITE_P(Workers, EachAllocator,
                         ::testing::Values(Case{Allocator::kKept, ""}, Case{Allocator::kHuge, ""},
                                           Case{Allocator::kJemalloc, "libjemalloc"},
                                           Case{Allocator::kMimalloc, "libmimalloc"},
                                           Case{Allocator::kTcmalloc, "libtcmalloc"}),
                         [](const auto& one) { return one.param.allocator.text(); });

// The loader says so in the log, and goes on without it.
TEST_F(WorkersSettings, ALibraryThatTheLoaderDoesNotTakeIsAFault) {
  const fs::path planted = folder_.path() / "lib" / "libjemalloc.so.2";
  fs::create_directory(planted.parent_path());
  write_file(planted, "no library");
  settings_.environment["LD_LIBRARY_PATH"] = planted.parent_path().string();
  const CellRun result = run(cell(Allocator::kJemalloc, settings_.workers.front().key));
  EXPECT_EQ(result.outcome.kind, OutcomeKind::failed);
  EXPECT_THAT(result.outcome.reason,
              AllOf(HasSubstr("allocator jemalloc was wanted"), HasSubstr("that of the C library")));
  EXPECT_FALSE(read_record(result.record).launches.at(0).steps.empty()) << "what came before is kept";
}

TEST_F(WorkersSettings, AnAbsentAllocatorIsARowWithTheCommandThatInstallsIt) {
  for (const Allocator& allocator : {Allocator::kJemalloc, Allocator::kMimalloc, Allocator::kTcmalloc}) {
    const std::string absence =
        allocator_absence(allocator, library_folders(settings_.environment, settings_.cache.string()));
    if (absence.empty()) continue;
    const CellRun result = run(cell(allocator, settings_.workers.front().key));
    EXPECT_EQ(result.outcome.kind, OutcomeKind::unavailable);
    EXPECT_EQ(result.outcome.reason, absence);
    EXPECT_TRUE(read_record(result.record).launches.empty());
    return;
  }
  GTEST_SKIP() << "all allocators are installed here";
}

// The worker is told by the variable, so the record must say the same bytes.
TEST_F(WorkersSettings, LaunchesToPublishEachDrawALayoutOfTheHeap) {
  WorkerEntry& entry = settings_.workers.front();
  const fs::path told = folder_.path() / "told", script = folder_.path() / "worker.sh";
  write_file(script,
             cat("#!/bin/sh\necho ${#TBD_HEAP_PADDING} >>", told.string(), "\nexec ", entry.worker.string(), "\n"));
  fs::permissions(script, fs::perms::owner_all);
  entry.worker = script;
  RunOptions options{.effort = Effort::publish,
                     .out = folder_.path() / "out",
                     .limit_seconds = 0.5,
                     .launches = 2,
                     .peaks = false,
                     .budget_seconds = std::nullopt};
  const Record record = read_record(run_cells({cell(Allocator::kStock, entry.key)}, options, settings_).at(0).record);
  std::string recorded;
  for (const Launch& launch : record.launches) recorded += cat(launch.info.host->at("heap_padding").dump(), "\n");
  EXPECT_EQ(recorded, cat(drawn_heap_padding(0, 1), "\n", drawn_heap_padding(0, 2), "\n"));
  EXPECT_THAT(read_file(told), HasSubstr(recorded));
  options.effort = Effort::quick;
  options.out = folder_.path() / "quick";
  options.launches = 1;
  const Record quick = read_record(run_cells({cell(Allocator::kStock, entry.key)}, options, settings_).at(0).record);
  EXPECT_FALSE(quick.launches.at(0).info.host->contains("heap_padding"));
  options.out = folder_.path() / "pair";
  options.pair_seed = 7;
  const Record pair = read_record(run_cells({cell(Allocator::kStock, entry.key)}, options, settings_).at(0).record);
  EXPECT_EQ(pair.launches.at(0).info.host->at("heap_padding"), drawn_heap_padding(7, 1)) << "of rounds other ones";
}

// The same numbers, whatever runs beside what.
TEST_F(WorkersSettings, OpsRunAtOnceWhereTheFrameworkCan) {
  for (const WorkerEntry& entry : settings_.workers) {
    SCOPED_TRACE(entry.key);
    Workload two = cell(Allocator::kStock, entry.key);
    const Record one_by_one = read_record(run(two).record);
    two.interop = 2;
    const CellRun result = run(two);
    if (entry.framework != "tensorflow" && entry.framework != "mxnet") {
      EXPECT_EQ(result.outcome.kind, OutcomeKind::unsupported);
      EXPECT_THAT(result.outcome.reason, HasSubstr(entry.framework + "'s ops run one after the other"));
      continue;
    }
    ASSERT_EQ(result.outcome.kind, OutcomeKind::ok) << result.outcome.reason;
    const Record at_once = read_record(result.record);
    EXPECT_THAT(at_once.run.flags, ::testing::Contains("tuned"));
    EXPECT_NEAR(*at_once.launches.at(0).steps.at(0).loss, *one_by_one.launches.at(0).steps.at(0).loss, 1e-5);
  }
}

}  // namespace
}  // namespace tbd
