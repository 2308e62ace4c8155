// What the runner makes of workers that misbehave: each ends as an outcome with its reason, and the others go on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/files.h"
#include "base/json.h"
#include "measure/cores.h"
#include "processes_of.h"
#include "record/reader.h"
#include "runner/run.h"
#include "runner/step.h"

namespace tbd {
namespace {

namespace fs = std::filesystem;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class Workers : public ::testing::Test {
 protected:
  Workers() {
    settings_.environment = {{"PATH", "/usr/bin:/bin"}, {"SECRET", "x"}};
    settings_.cache = folder_.path() / "cache";
    settings_.deadlines = {.hello = 5, .load = 5, .first_step = 5, .step = 0.7, .other = 5, .grace = 0.5};
  }

  // A framework "pytorch@BEHAVIOUR".
  std::string add(const std::string& behaviour, const std::string& step_seconds = "0.002") {
    const fs::path script = folder_.path() / (behaviour + ".sh");
    write_file(script, cat("#!/bin/sh\nexec python3 ", TBD_SOURCE_DIR, "/tests/fake_worker.py ", behaviour, " ",
                           step_seconds, "\n"));
    fs::permissions(script, fs::perms::owner_all);
    const std::string key = "pytorch@" + behaviour;
    settings_.workers.push_back({.key = key, .framework = "pytorch", .version = behaviour, .worker = script});
    return key;
  }
  Workload cell(const std::string& framework) const {
    return {.model = "resnet50", .config = "tiny", .framework = framework, .batch = 2};
  }
  RunOptions smoke() const { return {.effort = Effort::smoke, .out = folder_.path() / "out", .peaks = false}; }
  std::vector<CellRun> run(const std::vector<std::string>& behaviours) {
    std::vector<Workload> cells;
    for (const std::string& behaviour : behaviours) cells.push_back(cell(add(behaviour)));
    return run_cells(cells, smoke(), settings_);
  }
  CellRun run_one(const std::string& behaviour) { return run({behaviour}).at(0); }

  TemporaryFolder folder_{"tbd-workers"};
  RunnerSettings settings_;
};

TEST_F(Workers, MeasuresAndRecordsAWorkingWorker) {
  const CellRun result = run_one("good");
  EXPECT_EQ(result.outcome.kind, OutcomeKind::ok) << result.outcome.reason;
  const Record record = read_record(result.record);
  EXPECT_EQ(record.run.state, RunState::complete);
  EXPECT_EQ(record.run.workload.framework_version, "0.1");
  EXPECT_EQ(record.run.parameters, 130'962);
  EXPECT_FALSE(record.run.ops.empty());
  ASSERT_EQ(record.launches.size(), 1u);
  EXPECT_GE(record.launches[0].steps.size(), 6u);
  EXPECT_EQ(record.launches[0].info.batch_seen, 2);
  EXPECT_EQ(record.run.environment->at("lowering").at("native"), 1);
}

TEST_F(Workers, SayWhyTheyOfferNoPassTrace) {
  RunOptions options = smoke();
  options.passes = {Pass::kTrace};
  const CellRun result = run_cells({cell(add("good"))}, options, settings_).at(0);
  EXPECT_EQ(result.outcome.kind, OutcomeKind::unsupported);
  EXPECT_THAT(result.outcome.reason, HasSubstr("the worker offers here: clean; it has no clock"));
}

TEST_F(Workers, EachFaultBecomesARowAndOthersContinue) {
  settings_.deadlines.hello = 1;
  const std::vector<CellRun> runs =
      run({"wrong-version", "exit-at-hello", "crash-at-load", "oom-at-load", "wrong-batch", "wrong-parameters",
           "unsupported", "garbage", "nonfinite", "killed-at-step", "hang-at-step", "hang-at-hello", "good"});
  ASSERT_EQ(runs.size(), 13u);
  const auto expect = [&](size_t i, OutcomeKind kind, const std::string& words) {
    EXPECT_EQ(name(runs[i].outcome.kind), name(kind)) << runs[i].outcome.reason;
    EXPECT_THAT(runs[i].outcome.reason, HasSubstr(words));
    EXPECT_THAT(runs[i].outcome.repro, HasSubstr("tbd run resnet50 --config tiny"));
    const Record record = read_record(runs[i].record);
    EXPECT_EQ(record.run.outcome.reason, runs[i].outcome.reason);
    EXPECT_EQ(record.run.state, RunState::complete);
  };
  expect(0, OutcomeKind::failed, "speaks version 99 of the protocol, this tbd speaks 1");
  expect(1, OutcomeKind::failed, "exited with code 3 while starting; its last words: libmissing.so");
  expect(2, OutcomeKind::failed, "killed by signal 6 (Aborted) while loading the program");
  expect(3, OutcomeKind::oom, "not enough memory");
  expect(4, OutcomeKind::failed, "loaded batch 3 instead of 2");
  expect(5, OutcomeKind::failed, "loaded 130963 parameters instead of 130962");
  expect(6, OutcomeKind::unsupported, "node 'conv1' (conv2d): no kernel");
  expect(7, OutcomeKind::failed, "broke the protocol while training: message: not JSON");
  expect(8, OutcomeKind::nonfinite, "step 4 gave a value that is not finite; the first is in 'grad/fc.weight'");
  expect(9, OutcomeKind::failed, "killed by signal 9 (Killed) while training");
  expect(10, OutcomeKind::timeout, "gave no sign for 700 ms while training");
  expect(11, OutcomeKind::timeout, "gave no sign for 1.00 s while starting");
  EXPECT_EQ(runs[12].outcome.kind, OutcomeKind::ok) << runs[12].outcome.reason;
  EXPECT_EQ(exit_code(runs), 3);
  EXPECT_EQ(exit_code({runs[6], runs[12]}), 0);
  // What came before the fault is kept.
  EXPECT_GE(read_record(runs[8].record).launches.at(0).steps.size(), 4u);
  EXPECT_GE(read_record(runs[10].record).launches.at(0).steps.size(), 1u);
}

// What trains in two builds would add up what they computed in two ways.
TEST_F(Workers, RanksThatAreNotAlikeAreRefused) {
  if (usable_cores() < 2) GTEST_SKIP() << "two workers need two cores";
  const auto reason = [&](const std::string& behaviour) {
    Workload of_two = cell(add(behaviour));
    of_two.threads = 1;
    of_two.workers = 2;
    const CellRun run = run_cells({of_two}, smoke(), settings_).at(0);
    EXPECT_EQ(run.outcome.kind, behaviour == "good" ? OutcomeKind::unsupported : OutcomeKind::failed);
    return run.outcome.reason;
  };
  EXPECT_THAT(reason("good"), HasSubstr("trains on one rank alone"));
  EXPECT_THAT(reason("ranks-of-many-builds"), ContainsRegex("^rank 1 of 2 has build id [0-9]+, rank 0 has [0-9]+: "));
  EXPECT_THAT(reason("ranks-of-many-threads"), ContainsRegex("^rank 1 of 2 has threads [0-9]+, rank 0 has [0-9]+: "));
}

TEST_F(Workers, OneThatDoesNotExistIsUnavailable) {
  settings_.workers.push_back({.key = "pytorch", .framework = "pytorch", .version = "1", .worker = "/no/such/worker"});
  const std::vector<CellRun> runs = run_cells({cell("pytorch")}, smoke(), settings_);
  EXPECT_EQ(runs.at(0).outcome.kind, OutcomeKind::unavailable);
  EXPECT_THAT(runs.at(0).outcome.reason, HasSubstr("/no/such/worker: No such file"));
  EXPECT_EQ(exit_code(runs), 3);
}

// What a machine lacks makes a back-end absent: a row and a reason, no failure; the others are measured.
TEST_F(Workers, OneWhoseSharedLibraryIsMissingIsUnavailable) {
  const std::string folder = folder_.path().string();
  write_file(folder + "/part.cc", "int part() { return 1; }\n");
  write_file(folder + "/main.cc", "int part();\nint main() { return part(); }\n");
  ASSERT_EQ(std::system(cat("cd ", folder, " && c++ -shared -fPIC -o libtbd_part.so part.cc && ",
                            "c++ -o linked main.cc -L. -ltbd_part && rm libtbd_part.so")
                            .c_str()),
            0);
  settings_.workers.push_back(
      {.key = "mxnet", .framework = "mxnet", .version = "1.9.1", .worker = folder_.path() / "linked"});
  const std::vector<CellRun> runs = run_cells({cell("mxnet"), cell(add("good"))}, smoke(), settings_);
  EXPECT_EQ(runs.at(0).outcome.kind, OutcomeKind::unavailable);
  EXPECT_THAT(runs[0].outcome.reason, HasSubstr("the worker of mxnet cannot start here: libtbd_part.so: cannot open"));
  EXPECT_THAT(read_record(runs[0].record).run.flags, ::testing::Contains("retired-upstream"));
  EXPECT_EQ(runs.at(1).outcome.kind, OutcomeKind::ok) << runs[1].outcome.reason;
  EXPECT_EQ(exit_code(runs), 0);
  try {
    probe_worker(settings_.workers[0], settings_);
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("libtbd_part.so: cannot open shared object file"));
  }
}

TEST_F(Workers, OneThatTheCpuCannotRunIsUnavailable) {
  const fs::path script = folder_.path() / "old-cpu.sh";
  write_file(script, "#!/bin/sh\nkill -ILL $$\n");
  fs::permissions(script, fs::perms::owner_all);
  settings_.workers.push_back({.key = "tensorflow", .framework = "tensorflow", .version = "2", .worker = script});
  const std::vector<CellRun> runs = run_cells({cell("tensorflow"), cell(add("good"))}, smoke(), settings_);
  EXPECT_EQ(runs.at(0).outcome.kind, OutcomeKind::unavailable);
  EXPECT_THAT(runs[0].outcome.reason, HasSubstr("this CPU lacks an instruction"));
  EXPECT_EQ(runs.at(1).outcome.kind, OutcomeKind::ok) << runs[1].outcome.reason;
}

TEST_F(Workers, AnUnbuiltFrameworkIsARowAnUnknownOneAnError) {
  add("good");
  EXPECT_EQ(run_cells({cell("mxnet")}, smoke(), settings_).at(0).outcome.kind, OutcomeKind::unavailable);
  try {
    run_cells({cell("pytroch")}, smoke(), settings_);
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("did you mean 'pytorch'"));
  }
  EXPECT_FALSE(fs::exists(smoke().out / "resnet50-tiny-pytroch-fp32-b2-t2-nchw-resident"));
}

TEST_F(Workers, AMissingDataFolderIsAnErrorBeforeAnythingRuns) {
  Workload wanted = cell(add("good"));
  wanted.data = "/no/such/photos";
  try {
    run_cells({wanted}, smoke(), settings_);
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "there is no data folder /no/such/photos");
  }
  EXPECT_FALSE(fs::exists(smoke().out));
}

TEST_F(Workers, NoWorkerProcessOutlivesTheRun) {
  settings_.deadlines.hello = 0.5;
  run({"hang-at-hello"});
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST_F(Workers, AnInterruptEndsTheRunCleanly) {
  const auto begin = std::chrono::steady_clock::now();
  settings_.interrupted = [&] { return std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(800); };
  RunOptions options = smoke();
  options.effort = Effort::quick;
  const std::vector<CellRun> runs =
      run_cells({cell(add("good", "0.02")), cell(add("chatty", "0.02"))}, options, settings_);
  ASSERT_EQ(runs.size(), 1u);  // the second was left out
  EXPECT_EQ(runs[0].outcome.kind, OutcomeKind::interrupted);
  EXPECT_THAT(runs[0].outcome.reason, HasSubstr("interrupted after"));
  const Record record = read_record(runs[0].record);
  EXPECT_EQ(record.run.state, RunState::interrupted);
  EXPECT_GE(record.launches.at(0).steps.size(), 5u);
}

TEST_F(Workers, OneThatIgnoresStopIsEndedByItsLimit) {
  RunOptions options = smoke();
  options.limit_seconds = 0.5;
  const std::vector<CellRun> runs = run_cells({cell(add("ignores-stop"))}, options, settings_);
  EXPECT_EQ(runs.at(0).outcome.kind, OutcomeKind::ok) << runs.at(0).outcome.reason;
}

TEST_F(Workers, LaunchesAreSeparateProcessesInOneRecord) {
  RunOptions options = smoke();
  options.launches = 3;
  const std::vector<CellRun> runs = run_cells({cell(add("good"))}, options, settings_);
  EXPECT_EQ(read_record(runs.at(0).record).launches.size(), 3u);
}

TEST_F(Workers, ARecordIsNeverOverwritten) {
  add("good");
  run_cells({cell("pytorch@good")}, smoke(), settings_);
  EXPECT_THROW(run_cells({cell("pytorch@good")}, smoke(), settings_), Error);
}

TEST_F(Workers, CapabilitiesAreAskedOnce) {
  add("good");
  const WorkerEntry entry = settings_.workers.back();
  const CapabilityCache cache = {.folder = settings_.cache};
  EXPECT_FALSE(cached_capabilities(entry, cache));
  EXPECT_EQ(capabilities(entry, settings_).framework_version, "0.1");
  EXPECT_EQ(cached_capabilities(entry, cache)->framework_version, "0.1");
  EXPECT_FALSE(cached_capabilities(entry, {.folder = cache.folder, .gpus = "driver 580.65.06 devices 1"}))
      << "asked before there was a driver";
  write_file(entry.worker, "#!/bin/sh\nexit 1\n# another build of the worker\n");
  EXPECT_FALSE(cached_capabilities(entry, cache));
  EXPECT_THROW(capabilities(entry, settings_), Error);
}

TEST_F(Workers, AKilledRunnerLeavesAReadableRecordAndNoWorker) {
  const std::string framework = add("good", cat("0.00", 2 + ::getpid() % 7, "1", ::getpid()));
  const std::string mark = cat("1", ::getpid());  // of this test's worker, by its step time
  const pid_t runner = ::fork();
  if (runner == 0) {
    RunOptions options = smoke();
    options.effort = Effort::quick;
    run_cells({cell(framework)}, options, settings_);
    ::_exit(0);
  }
  const fs::path steps =
      smoke().out /
      cat("resnet50-tiny-pytorch_good-fp32-b2-t", std::min(2u, std::thread::hardware_concurrency()), "-nchw-resident") /
      "launches/clean-1/steps.csv";
  for (int i = 0; i < 500 && (!fs::exists(steps) || fs::file_size(steps) < 400); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::this_thread::sleep_for(
      std::chrono::milliseconds(std::chrono::steady_clock::now().time_since_epoch().count() % 100));
  EXPECT_FALSE(processes_of(mark).empty());
  ::kill(runner, SIGKILL);
  ::waitpid(runner, nullptr, 0);

  const std::vector<fs::path> records = find_records(smoke().out);
  ASSERT_EQ(records.size(), 1u);
  const Record record = read_record(records[0]);
  EXPECT_EQ(record.run.state, RunState::interrupted);
  EXPECT_GE(record.launches.at(0).steps.size(), 3u);
  EXPECT_THAT(record.run.outcome.reason, HasSubstr("step"));
  bool gone = false;
  for (int i = 0; i < 250 && !gone; ++i) {
    gone = processes_of(mark).empty();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_TRUE(gone);
}

TEST_F(Workers, AFullDiskIsAnOutcomeAndTheRecordStaysReadable) {
  add("good");
  const pid_t runner = ::fork();
  if (runner == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{120'000, 120'000};  // run.json fits, a long series of steps does not
    ::setrlimit(RLIMIT_FSIZE, &limit);
    RunOptions options = smoke();
    options.effort = Effort::quick;
    settings_.workers.clear();
    const std::vector<CellRun> runs = run_cells({cell(add("good", "0.0001"))}, options, settings_);
    const bool as_expected = runs.at(0).outcome.kind == OutcomeKind::failed &&
                             runs.at(0).outcome.reason.find("cannot append") != std::string::npos;
    ::_exit(as_expected ? 0 : 1);
  }
  int status = 0;
  ::waitpid(runner, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  const Record record = read_record(find_records(smoke().out).at(0));
  EXPECT_GE(record.launches.at(0).steps.size(), 100u);
}

TEST_F(Workers, InheritOnlyAllowedEnvironmentVariables) {
  const auto kept = allowed_environment(
      {{"PATH", "p"}, {"OMP_X", "1"}, {"OPENBLAS_CORETYPE", "2"}, {"SECRET", "x"}, {"AWS_KEY", "y"}});
  EXPECT_EQ(kept, (std::map<std::string, std::string>{{"OMP_X", "1"}, {"OPENBLAS_CORETYPE", "2"}, {"PATH", "p"}}));
}

}  // namespace
}  // namespace tbd
