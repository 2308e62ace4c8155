// A run that was cut goes on where it was: nothing is lost, nothing measured twice. Time and memory budgets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/files.h"
#include "base/json.h"
#include "record/reader.h"
#include "resume_kills.h"
#include "runner/largest_batch.h"
#include "runner/prepare.h"
#include "runner/run.h"

namespace tbd {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr int64_t kMebibyte = 1 << 20;

TEST(Kills, TenKilledRunsLoseAndRepeatNoLaunch) {
  const TemporaryFolder folder("tbd-resume");
  const KillReport report = kill_and_resume({.folder = folder.path(), .kills = 10, .seed = 7});
  EXPECT_THAT(report.faults, ::testing::IsEmpty());
  EXPECT_EQ(report.kills, 10);
  EXPECT_GE(report.sets, 1);
}

class Resume : public ::testing::Test {
 protected:
  Resume() {
    settings_.environment = {{"PATH", "/usr/bin:/bin"}};
    settings_.cache = folder_.path() / "cache";
    behave("good");
    settings_.workers = {{.key = "pytorch", .framework = "pytorch", .version = "1", .worker = script()}};
  }

  fs::path script() const { return folder_.path() / "worker.sh"; }
  fs::path out() const { return folder_.path() / "out"; }
  void behave(const std::string& behaviour) const {
    write_file(script(), cat("#!/bin/sh\nexec python3 ", TBD_SOURCE_DIR, "/tests/fake_worker.py ", behaviour, "\n"));
    fs::permissions(script(), fs::perms::owner_all);
  }
  static Workload cell(int64_t batch, std::optional<int64_t> memory_budget_bytes = {}) {
    return {.model = "resnet50", .config = "tiny", .batch = batch, .memory_budget_bytes = memory_budget_bytes};
  }
  RunOptions smoke() const { return {.effort = Effort::smoke, .out = out(), .peaks = false}; }
  RunOptions resumed() const {
    RunOptions options = smoke();
    options.resume = true;
    return options;
  }
  std::vector<CellRun> run(const std::vector<Workload>& cells, const RunOptions& options) const {
    return run_cells(cells, options, settings_);
  }
  std::string refusal(const std::vector<Workload>& cells, const RunOptions& options) const {
    try {
      run(cells, options);
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::usage);
      return e.what();
    }
    return "";
  }

  // As a kill leaves it: run.json says `running`, the end of launch `cut` was never written.
  static void undo_end(const fs::path& record, const std::string& cut) {
    edit(record / "run.json", [](Json& json) {
      json["state"] = "running";
      json["outcome"]["kind"] = "ok";
    });
    if (cut.empty()) return;
    edit(record / "launches" / cut / "launch.json", [](Json& json) { json["outcome"]["kind"] = "interrupted"; });
  }
  template <class Change>
  static void edit(const fs::path& file, Change change) {
    Json json = parse_json(read_file(file), file.string());
    change(json);
    write_file(file, json.dump(1));
  }

  TemporaryFolder folder_{"tbd-resume"};
  RunnerSettings settings_;
};

TEST_F(Resume, KeepsCompleteRecordsByteForByte) {
  const std::vector<CellRun> first = run({cell(1), cell(2)}, smoke());
  const std::string before = read_file(first[0].record / "run.json");
  behave("exit-at-hello");  // nobody is asked
  const std::vector<CellRun> second = run({cell(1), cell(2)}, resumed());
  ASSERT_EQ(second.size(), 2u);
  EXPECT_EQ(second[0].outcome.kind, OutcomeKind::ok);
  EXPECT_EQ(second[0].record, first[0].record);
  EXPECT_EQ(read_file(first[0].record / "run.json"), before);
}

TEST_F(Resume, RepeatsOnlyIncompleteLaunches) {
  RunOptions options = smoke();
  options.launches = 3;
  const fs::path record = run({cell(1)}, options).at(0).record;
  undo_end(record, "clean-2");
  fs::remove(record / "launches/clean-3/launch.json");
  write_file(record / "run.json.99.part", "half");
  const std::string first = read_file(record / "launches/clean-1/launch.json");
  const std::string cut = read_file(record / "launches/clean-2/steps.csv");
  options.resume = true;
  EXPECT_EQ(run({cell(1)}, options).at(0).outcome.kind, OutcomeKind::ok);
  const Record after = read_record(record);
  EXPECT_EQ(after.run.state, RunState::complete);
  ASSERT_EQ(after.launches.size(), 3u);
  for (const Launch& launch : after.launches) EXPECT_EQ(launch.info.outcome.kind, OutcomeKind::ok);
  EXPECT_EQ(read_file(record / "launches/clean-1/launch.json"), first);
  EXPECT_NE(read_file(record / "launches/clean-2/steps.csv"), cut);
  EXPECT_FALSE(fs::exists(record / "run.json.99.part"));
}

TEST_F(Resume, FinishesARecordOfCompleteLaunchesWithoutAWorker) {
  const fs::path record = run({cell(1)}, smoke()).at(0).record;
  undo_end(record, "");
  behave("exit-at-hello");
  EXPECT_EQ(run({cell(1)}, resumed()).at(0).outcome.kind, OutcomeKind::ok);
  const Record after = read_record(record);
  EXPECT_EQ(after.run.state, RunState::complete);
  EXPECT_EQ(after.run.workload.framework_version, "0.1");
}

TEST_F(Resume, AddsWorkloadsAndLaunches) {
  run({cell(1)}, smoke());
  RunOptions options = resumed();
  options.launches = 2;
  const std::vector<CellRun> runs = run({cell(1), cell(2)}, options);
  ASSERT_EQ(runs.size(), 2u);
  for (const CellRun& each : runs) EXPECT_EQ(read_record(each.record).launches.size(), 2u);
}

TEST_F(Resume, RefusesAnExistingRecordWithoutResume) {
  run({cell(1)}, smoke());
  EXPECT_THAT(refusal({cell(1)}, smoke()), HasSubstr("already holds a record"));
}

TEST_F(Resume, AnotherCellInTheSameFolderIsRefused) {
  run({cell(1)}, smoke());
  RunOptions options = resumed();
  options.effort = Effort::quick;
  EXPECT_THAT(refusal({cell(1)}, options), HasSubstr("holds another workload: effort smoke there, quick wanted"));
}

TEST_F(Resume, LaunchesOfAnotherMachineAreNotMixed) {
  RunOptions options = smoke();
  options.launches = 2;
  const fs::path record = run({cell(1)}, options).at(0).record;
  undo_end(record, "clean-2");
  edit(record / "run.json", [](Json& json) {
    json["environment"]["limits"]["memory_bytes"] = 1;
    json["environment"]["hash"] = "0";
  });
  options.resume = true;
  EXPECT_THAT(refusal({cell(1)}, options), HasSubstr("(limits.memory_bytes 1 there, "));
  EXPECT_TRUE(fs::exists(record / "launches/clean-2")) << "a refusal changes nothing";
  fs::remove_all(record / "launches/clean-1");  // then there is nothing to mix
  EXPECT_EQ(run({cell(1)}, options).at(0).outcome.kind, OutcomeKind::ok);
  EXPECT_EQ(read_record(record).launches.size(), 2u);
}

TEST_F(Resume, AnotherBuildOfTheFrameworkIsNotMixed) {
  settings_.workers[0].library_sha256 = "aa";
  RunOptions options = smoke();
  options.launches = 2;
  undo_end(run({cell(1)}, options).at(0).record, "clean-2");
  settings_.workers[0].library_sha256 = "bb";
  options.resume = true;
  EXPECT_THAT(refusal({cell(1)}, options), HasSubstr("another build of the framework"));
}

TEST_F(Resume, FailedCellsAreMeasuredAgainOnRequestAlone) {
  behave("crash-at-load");
  const fs::path record = run({cell(1)}, smoke()).at(0).record;
  behave("good");
  EXPECT_EQ(run({cell(1)}, resumed()).at(0).outcome.kind, OutcomeKind::failed);
  RunOptions again = resumed();
  again.again = {OutcomeKind::oom};
  EXPECT_EQ(run({cell(1)}, again).at(0).outcome.kind, OutcomeKind::failed);
  again.again = {OutcomeKind::failed, OutcomeKind::timeout};
  EXPECT_EQ(run({cell(1)}, again).at(0).outcome.kind, OutcomeKind::ok);
  EXPECT_EQ(read_record(record).launches.size(), 1u);
  EXPECT_FALSE(fs::exists(record.string() + ".old"));
}

TEST_F(Resume, RestoresAnOldRecordWhoseSuccessorIsIncomplete) {
  const fs::path record = run({cell(1)}, smoke()).at(0).record;
  const fs::path aside = record.string() + ".old";
  fs::rename(record, aside);
  fs::create_directories(record / "launches");  // killed before the new run.json
  EXPECT_THROW(find_records(out()), Error);
  EXPECT_THAT(refusal({cell(1)}, smoke()), HasSubstr("already holds a record"));
  behave("exit-at-hello");
  EXPECT_EQ(run({cell(1)}, resumed()).at(0).outcome.kind, OutcomeKind::ok);
  EXPECT_FALSE(fs::exists(aside));
  EXPECT_EQ(find_records(out()).size(), 1u);
}

TEST_F(Resume, ARecordAsideGoesWhenItsSuccessorIsComplete) {
  const fs::path record = run({cell(1)}, smoke()).at(0).record;
  const fs::path aside = record.string() + ".old";
  fs::copy(record, aside, fs::copy_options::recursive);
  undo_end(record, "clean-1");  // the successor was cut
  EXPECT_EQ(run({cell(1)}, resumed()).at(0).outcome.kind, OutcomeKind::ok);
  EXPECT_FALSE(fs::exists(aside));
  fs::create_directories(aside / "launches");  // killed while it was removed
  run({cell(1)}, resumed());
  EXPECT_FALSE(fs::exists(aside));
}

TEST_F(Resume, TimeBudgetStartsOnlyWhatIsPredictedToFinish) {
  behave("ignores-stop");  // a launch lasts as long as its limit
  RunOptions options = smoke();
  options.limit_seconds = 1;
  options.budget_seconds = 1.9;
  std::vector<CellRun> runs = run({cell(1), cell(2)}, options);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].outcome.kind, OutcomeKind::ok);
  EXPECT_EQ(runs[1].outcome.kind, OutcomeKind::skipped);
  EXPECT_EQ(runs[1].outcome.reason, "the time budget of 1.90 s ended before it");
  EXPECT_EQ(read_record(runs[1].record).run.state, RunState::complete);
  EXPECT_EQ(exit_code(runs), 0);
  options.resume = true;  // a further budget goes on
  runs = run({cell(1), cell(2)}, options);
  EXPECT_EQ(runs[1].outcome.kind, OutcomeKind::ok);
}

TEST_F(Resume, RemainingTimeEndsWithTheBudget) {
  RunOptions options = smoke();
  options.launches = 20;
  options.budget_seconds = 60.5;
  double most = 0;
  int told = 0;
  settings_.interrupted = [&] { return told >= 3; };
  run_cells({cell(1), cell(2)}, options, settings_, [&](const Progress& progress) {
    if (!progress.remaining_seconds) return;
    most = std::max(most, *progress.remaining_seconds + progress.elapsed_seconds);
    ++told;
  });
  EXPECT_GE(told, 3);
  EXPECT_GT(most, 0);
  EXPECT_LE(most, 60.6);
}

// Launches of 0.1 s within a budget; the record of `batch` is undecided when it is asked first, nothing later.
class Undecided : public Resume {
 protected:
  RunOptions within_budget(int64_t launches, int64_t batch, const Pass& narrowed_by = Pass::kClean) {
    RunOptions options{.out = out(), .limit_seconds = 0.1, .launches = launches, .peaks = false};
    options.budget_seconds = 120;
    options.undecided = [this, batch, narrowed_by]() -> std::vector<UndecidedRecord> {
      if (asked_++ > 0) return {};
      return {{out() / folder_name(prepare(cell(batch), Effort::quick, settings_).cell), {narrowed_by}}};
    };
    return options;
  }
  std::vector<size_t> launches_of_each(const std::vector<CellRun>& runs, const Pass& pass = Pass::kClean) const {
    std::vector<size_t> out;
    for (const CellRun& each : runs) {
      EXPECT_EQ(each.outcome.kind, OutcomeKind::ok) << each.outcome.reason;
      const Record record = read_record(each.record);
      EXPECT_EQ(record.run.state, RunState::complete);
      out.push_back(static_cast<size_t>(
          std::ranges::count_if(record.launches, [&](const Launch& launch) { return launch.info.pass == pass; })));
    }
    return out;
  }
  int asked_ = 0;
};

TEST_F(Undecided, GoesOnBeforeTheOthers) {
  std::vector<size_t> order;
  run_cells({cell(1), cell(2)}, within_budget(5, 2), settings_, [&](const Progress& progress) {
    if (progress.stage == "done") order.push_back(progress.cell);
  });
  ASSERT_EQ(order.size(), 10u);
  EXPECT_EQ(std::vector<size_t>(order.begin() + 6, order.end()), std::vector<size_t>({1, 1, 0, 0}));
  EXPECT_EQ(asked_, 2);
}

TEST_F(Undecided, HasTwiceTheLaunchesWhereItHadAllThatWereWanted) {
  EXPECT_EQ(launches_of_each(run({cell(1), cell(2)}, within_budget(2, 1))), std::vector<size_t>({4, 2}));
}

TEST_F(Undecided, GoesOnWithTheLaunchesThatMayDecideIt) {
  RunOptions options = within_budget(4, 1, Pass::kTrace);
  options.passes = {Pass::kClean, Pass::kTrace};  // which this worker does not offer: each is begun and says so
  const std::vector<CellRun> runs = run({cell(1), cell(2)}, options);
  EXPECT_EQ(launches_of_each(runs), std::vector<size_t>({4, 4}));
  EXPECT_EQ(launches_of_each(runs, Pass::kTrace), std::vector<size_t>({3, 1}));
}

TEST_F(Undecided, GoesOnWithThemInASetThatIsResumed) {
  RunOptions options = within_budget(4, 0);
  options.passes = {Pass::kClean, Pass::kTrace};
  run({cell(1)}, options);
  asked_ = 0;
  options = within_budget(4, 1, Pass::kTrace);
  options.passes = {Pass::kClean, Pass::kTrace};
  options.resume = true;
  EXPECT_EQ(launches_of_each(run({cell(1)}, options), Pass::kTrace), std::vector<size_t>({3}));
}

TEST_F(Undecided, IsReadAsARecordThatEnded) {
  RunOptions options = within_budget(5, 1);
  options.undecided = [this]() -> std::vector<UndecidedRecord> {
    ++asked_;
    for (const fs::path& each : find_records(out())) EXPECT_EQ(read_record(each).run.outcome.kind, OutcomeKind::ok);
    return {};
  };
  EXPECT_EQ(launches_of_each(run({cell(1), cell(2)}, options)), std::vector<size_t>({5, 5}));
  EXPECT_EQ(asked_, 2) << "after three launches of each, and when none is left";
}

TEST_F(Undecided, GoesOnInASetThatIsResumed) {
  run({cell(1), cell(2)}, within_budget(2, 0));
  asked_ = 0;
  RunOptions options = within_budget(2, 2);
  options.resume = true;
  EXPECT_EQ(launches_of_each(run({cell(1), cell(2)}, options)), std::vector<size_t>({2, 4}));
}

TEST_F(Undecided, AnInterruptLeavesWhatHadAllThatWereWanted) {
  RunOptions options = within_budget(2, 1);
  settings_.interrupted = [this] { return asked_ > 0; };
  EXPECT_EQ(launches_of_each(run({cell(1), cell(2)}, options)), std::vector<size_t>({2, 2}));
}

TEST_F(Undecided, IsNotAskedForWithoutABudget) {
  RunOptions options = within_budget(2, 1);
  options.budget_seconds = std::nullopt;
  EXPECT_EQ(launches_of_each(run({cell(1)}, options)), std::vector<size_t>({2}));
  EXPECT_EQ(asked_, 0);
}

TEST_F(Resume, AMemoryBudgetIsEnforcedAndNamed) {
  for (const char* behaviour : {"hungry", "hungry-crash"}) {
    behave(behaviour);
    RunOptions options = smoke();
    options.out = folder_.path() / behaviour;
    const std::vector<CellRun> runs = run({cell(4, 300 * kMebibyte), cell(64, 300 * kMebibyte)}, options);
    EXPECT_EQ(runs.at(0).outcome.kind, OutcomeKind::ok) << runs[0].outcome.reason;
    EXPECT_EQ(runs.at(1).outcome.kind, OutcomeKind::oom) << runs[1].outcome.reason;
    EXPECT_THAT(runs[1].outcome.reason, HasSubstr("(memory budget 300 MiB, enforced)"));
    EXPECT_EQ(read_record(runs[1].record).run.workload.memory_budget_bytes, 300 * kMebibyte);
    EXPECT_EQ(exit_code(runs), 0) << "the sweep is closed";
    EXPECT_EQ(exit_code({runs[1]}), 3);
  }
}

TEST_F(Resume, AMemoryBudgetOfAGpuIsKeptByItsAllocator) {
  behave("budget-gpu");
  const auto on_gpu = [](int64_t batch) {
    Workload made = cell(batch, 100 * kMebibyte);
    made.device = Device("cuda:0");
    return made;
  };
  const std::vector<CellRun> runs = run({on_gpu(4), on_gpu(8), on_gpu(kLargestThatFits)}, smoke());
  EXPECT_EQ(runs.at(0).outcome.kind, OutcomeKind::ok) << runs[0].outcome.reason;
  EXPECT_EQ(runs.at(1).outcome.kind, OutcomeKind::oom) << runs[1].outcome.reason;
  EXPECT_THAT(runs[1].outcome.reason, HasSubstr("(memory budget 100 MiB, enforced)"));
  ASSERT_EQ(runs.at(2).outcome.kind, OutcomeKind::ok) << runs[2].outcome.reason;
  EXPECT_EQ(runs[2].cell.batch, 6) << "16 MiB each in 98 % of the budget";
  const LargestBatch found = largest_batch_from(read_record(runs[2].record).run.environment->at("largest_batch"));
  EXPECT_EQ(found.observed_bytes, 96 * kMebibyte);

  behave("on-gpu");
  RunOptions elsewhere = smoke();
  elsewhere.out = folder_.path() / "unkept";
  const std::vector<CellRun> unkept = run({on_gpu(4)}, elsewhere);
  EXPECT_EQ(unkept.at(0).outcome.kind, OutcomeKind::unsupported);
  EXPECT_THAT(unkept[0].outcome.reason, HasSubstr("does not limit the memory of device cuda:0"));
}

TEST_F(Resume, SkipsAWorkloadFarAboveTheMemoryBudget) {
  const std::vector<CellRun> runs =
      run({{.model = "resnet50", .batch = 8, .memory_budget_bytes = 300 * kMebibyte}}, smoke());
  EXPECT_EQ(runs.at(0).outcome.kind, OutcomeKind::skipped);
  EXPECT_THAT(runs[0].outcome.reason, HasSubstr("more than 1.5 times the memory budget of 300 MiB"));
}

TEST_F(Resume, AnOomBelowABatchThatRanIsAFault) {
  const auto made = [](int64_t batch, OutcomeKind kind) {
    return CellRun{.cell = cell(batch), .outcome = {.kind = kind, .reason = "", .repro = ""}, .record = {}};
  };
  EXPECT_EQ(exit_code({made(1, OutcomeKind::ok), made(2, OutcomeKind::oom), made(4, OutcomeKind::oom)}), 0);
  EXPECT_EQ(exit_code({made(1, OutcomeKind::ok), made(2, OutcomeKind::oom), made(4, OutcomeKind::ok)}), 3);
  EXPECT_EQ(exit_code({made(1, OutcomeKind::ok), made(2, OutcomeKind::failed)}), 3);
}

TEST_F(Resume, TheLargestBatchIsFoundOnceAndMeasured) {
  behave("hungry");
  std::vector<CellRun> runs = run({cell(kLargestThatFits, 300 * kMebibyte)}, smoke());
  ASSERT_EQ(runs.size(), 1u);
  ASSERT_EQ(runs[0].outcome.kind, OutcomeKind::ok) << runs[0].outcome.reason;
  EXPECT_GE(runs[0].cell.batch, 12);  // 16 MiB each, and the interpreter
  EXPECT_LE(runs[0].cell.batch, 18);
  const LargestBatch found = largest_batch_from(read_record(runs[0].record).run.environment->at("largest_batch"));
  EXPECT_EQ(found.batch, runs[0].cell.batch);
  EXPECT_EQ(found.budget, 300 * kMebibyte);
  EXPECT_EQ(found.too_large, found.batch + 1);
  EXPECT_TRUE(found.closed);
  EXPECT_GE(found.observed_bytes.value_or(0), found.batch * 16 * kMebibyte);
  EXPECT_TRUE(found.prediction_error);

  const std::string before = read_file(runs[0].record / "run.json");
  behave("exit-at-hello");
  runs = run({cell(kLargestThatFits, 300 * kMebibyte)}, resumed());
  EXPECT_EQ(runs.at(0).outcome.kind, OutcomeKind::ok);
  EXPECT_EQ(read_file(runs[0].record / "run.json"), before);
}

TEST_F(Resume, AProbeThatASignalEndsDoesNotFit) {
  behave("hungry-segfault");
  const std::vector<CellRun> runs = run({cell(kLargestThatFits, 300 * kMebibyte)}, smoke());
  ASSERT_EQ(runs.size(), 1u);
  ASSERT_EQ(runs[0].outcome.kind, OutcomeKind::ok) << runs[0].outcome.reason;
  EXPECT_GE(runs[0].cell.batch, 12);
  const LargestBatch found = largest_batch_from(read_record(runs[0].record).run.environment->at("largest_batch"));
  EXPECT_TRUE(found.closed);
  const auto refused = std::ranges::find(found.tried, false, &TriedBatch::fits);
  ASSERT_NE(refused, found.tried.end());
  EXPECT_THAT(refused->seen, HasSubstr("killed by signal 11"));
  EXPECT_THAT(refused->seen, HasSubstr("memory budget 294 MiB, enforced"));
}

TEST_F(Resume, AbortedSearchGivesNoBatch) {
  behave("hungry-exit");
  std::vector<CellRun> runs = run({cell(kLargestThatFits, 300 * kMebibyte)}, smoke());
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].outcome.kind, OutcomeKind::failed);
  EXPECT_THAT(runs[0].outcome.reason, HasSubstr("the search for the largest batch has no answer: at batch "));
  EXPECT_THAT(runs[0].outcome.reason, HasSubstr("exited with code 5"));
  const Json found = read_record(runs[0].record).run.environment->at("largest_batch");
  EXPECT_FALSE(found.contains("batch"));
  EXPECT_FALSE(found.contains("prediction_error"));

  behave("hungry");
  EXPECT_EQ(run({cell(kLargestThatFits, 300 * kMebibyte)}, resumed()).at(0).outcome.kind, OutcomeKind::failed);
  RunOptions again = resumed();
  again.again = {OutcomeKind::failed};
  runs = run({cell(kLargestThatFits, 300 * kMebibyte)}, again);
  EXPECT_EQ(runs.at(0).outcome.kind, OutcomeKind::ok) << runs[0].outcome.reason;
  EXPECT_GE(runs[0].cell.batch, 12);
}

TEST_F(Resume, WhereNotEvenOneSampleFitsARowSaysSo) {
  behave("hungry");
  const std::vector<CellRun> runs = run({cell(kLargestThatFits, 18 * kMebibyte)}, smoke());
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].outcome.kind, OutcomeKind::oom) << runs[0].outcome.reason;
  EXPECT_THAT(runs[0].outcome.reason, HasSubstr("not even one sample fits into the memory budget of 18.0 MiB"));
}

TEST_F(Resume, TheLargestBatchNeedsABudget) {
  EXPECT_THAT(refusal({cell(kLargestThatFits)}, smoke()), HasSubstr("needs a memory budget"));
}

}  // namespace
}  // namespace tbd
