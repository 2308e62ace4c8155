// The real worker on tiny ResNet, where it is built.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

#include "base/files.h"
#include "built_workers.h"
#include "graph/memory.h"
#include "record/reader.h"
#include "record/safetensors.h"
#include "runner/prepare.h"
#include "runner/run.h"
#include "runner/step.h"
#include "runner/worker_process.h"

namespace tbd {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::HasSubstr;

class EndToEnd : public ::testing::Test {
 protected:
  void SetUp() override {
    settings_ = built_settings(folder_.path() / "cache");
    if (settings_.workers.empty()) GTEST_SKIP() << "no worker is built";
    cell_.framework = settings_.workers.front().key;
  }
  // One cell for each worker and each of the precisions that it offers.
  std::vector<Workload> offered_cells(const std::vector<Precision>& precisions) const {
    std::vector<Workload> cells;
    for (const WorkerEntry& entry : settings_.workers)
      for (const Precision& precision : capabilities(entry, settings_).precisions)
        if (std::ranges::count(precisions, precision) > 0) {
          cells.push_back(cell_);
          cells.back().framework = entry.key;
          cells.back().precision = precision;
        }
    return cells;
  }
  fs::path file(const std::string& name) const { return folder_.path() / name; }
  std::vector<CellRun> smoke(const std::vector<Workload>& cells) {
    return run_cells(cells, {.effort = Effort::smoke, .out = file("out"), .peaks = false}, settings_);
  }
  StepOptions step() const { return {.cell = cell_, .out = file("out.safetensors")}; }

  TemporaryFolder folder_{"tbd-end-to-end"};
  RunnerSettings settings_;
  Workload cell_{.model = "resnet50", .config = "tiny", .batch = 4};
};

TEST_F(EndToEnd, TinyResNetTrainsAndIsRecorded) {
  const std::vector<CellRun> runs = smoke(offered_cells({Precision::kFp32, Precision::kBf16}));
  ASSERT_GE(runs.size(), settings_.workers.size());
  for (const CellRun& run : runs) {
    SCOPED_TRACE(folder_name(run.cell));
    ASSERT_EQ(run.outcome.kind, OutcomeKind::ok) << run.outcome.reason;
    const Record record = read_record(run.record);
    ASSERT_EQ(record.launches.size(), 1u);
    const Launch& launch = record.launches[0];
    EXPECT_GE(launch.steps.size(), 6u);
    EXPECT_EQ(launch.info.parameters_seen, 130'962);
    EXPECT_GT(launch.info.peak_rss_bytes.value_or(0), 50'000'000);
    EXPECT_GT(launch.info.first_step_seconds.value_or(0), launch.info.load_seconds.value_or(1e9));
    EXPECT_LT(launch.steps.back().loss.value(), launch.steps.front().loss.value());  // one batch, learnt by heart
    EXPECT_EQ(launch.steps[0].units, 4);
  }
}

TEST_F(EndToEnd, AStepOnItsOwnFilesGivesTheSameTwice) {
  StepOptions first = step();
  first.save_weights = file("w");
  first.save_inputs = file("i");
  const StepResult once = run_step(first, settings_);
  StepOptions again = step();
  again.cell.batch = 0;  // weights and inputs come from the files
  again.cell.seed = 99;
  again.weights = file("w");
  again.inputs = file("i");
  again.out = file("again.safetensors");
  const StepResult twice = run_step(again, settings_);
  EXPECT_FLOAT_EQ(static_cast<float>(once.losses.at("train")), static_cast<float>(twice.losses.at("train")));
  const TensorMap out = read_safetensors(again.out);
  EXPECT_EQ(out.at("output/logits").shape(), (Shape{4, 10}));
  EXPECT_TRUE(out.contains("grad/fc.weight"));
  EXPECT_TRUE(out.contains("param/fc.weight"));
  EXPECT_TRUE(out.contains("state/fc.weight/momentum"));
  EXPECT_TRUE(out.contains("loss"));
}

TEST_F(EndToEnd, WeightsUnderOlderNamesAreTheSameWeights) {
  StepOptions first = step();
  first.cell.model = "mask_rcnn";
  first.cell.batch = 1;
  first.save_weights = file("w");
  run_step(first, settings_);
  const TensorMap present = read_safetensors(file("w"));
  TensorMap older = present;
  const auto rename = [&](const std::string& now, const std::string& before) {
    for (const char* tensor : {".weight", ".bias"}) older[before + tensor] = older.extract(now + tensor).mapped();
  };
  rename("rpn.head.conv.0.0", "rpn.head.conv");
  rename("backbone.fpn.inner_blocks.2.0", "backbone.fpn.inner_blocks.2");
  rename("roi_heads.mask_head.1.0", "roi_heads.mask_head.mask_fcn2");
  write_safetensors(file("w"), older);
  first.weights = file("w");
  first.save_weights = file("now");
  first.cell.seed = 9;  // draws other weights
  run_step(first, settings_);
  for (const auto& [name, tensor] : read_safetensors(file("now")))
    EXPECT_EQ(as_doubles(tensor), as_doubles(present.at(name))) << name;
  older["rpn.head.conv.0.0.bias"] = older.at("rpn.head.conv.bias");
  write_safetensors(file("w"), older);
  EXPECT_THROW(run_step(first, settings_), Error) << "one tensor under two names";
}

TEST_F(EndToEnd, WeightsOfAnotherNetworkAreNamedWithBothShapes) {
  StepOptions tiny = step();
  tiny.save_weights = file("w");
  run_step(tiny, settings_);
  StepOptions large = step();
  large.cell.config = "canonical";
  large.weights = file("w");
  large.out = file("none");
  try {
    run_step(large, settings_);
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("'conv1.weight' has shape (8, 3, 7, 7), resnet50 needs (64, 3, 7, 7)"));
  }
  EXPECT_FALSE(fs::exists(large.out));
}

TEST_F(EndToEnd, WholeNumbersForAFloatParameterAreRefused) {
  StepOptions first = step();
  first.save_weights = file("w");
  run_step(first, settings_);
  TensorMap weights = read_safetensors(file("w"));
  HostTensor& bias = weights.at("fc.bias");
  bias = HostTensor(DType::i32, bias.shape());
  write_safetensors(file("w"), weights);
  StepOptions again = step();
  again.weights = file("w");
  again.out = file("none");
  try {
    run_step(again, settings_);
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("'fc.bias' is i32, resnet50 needs f32"));
  }
  EXPECT_FALSE(fs::exists(again.out));
}

// Faults of real workers, of every framework that is built.
class RealFaults : public EndToEnd {
 protected:
  void SetUp() override {
    EndToEnd::SetUp();
    fs::create_directory(scratch_);
    ::setenv("TMPDIR", scratch_.c_str(), 1);
    settings_.environment["TMPDIR"] = scratch_;
    settings_.deadlines.step = 1;
    settings_.deadlines.grace = 0.5;
  }
  void TearDown() override { ::unsetenv("TMPDIR"); }

  static std::vector<pid_t> children() {
    std::vector<pid_t> found;
    for (const auto& entry : fs::directory_iterator("/proc/self/task"))
      for (const std::string& child : split(trim(read_file(entry.path() / "children")), ' '))
        if (const auto pid = parse_int(child)) found.push_back(static_cast<pid_t>(*pid));
    return found;
  }

  // The row of a cell whose worker gets `signal` after its first steps.
  CellRun signalled(int signal) {
    RunOptions options{.effort = Effort::quick, .out = file(cat("out-", cell_.framework, "-", signal)), .peaks = false};
    const std::vector<CellRun> runs = run_cells({cell_}, options, settings_, [&](const Progress& progress) {
      if (progress.stage != "steps" || !group_.empty()) return;
      group_ = children();
      for (const pid_t child : group_) ::kill(child, signal);
    });
    EXPECT_EQ(group_.size(), 1u);
    return runs.at(0);
  }

  // A row with its command line; its record holds the steps before; nothing of the worker is left.
  void expect_row(const CellRun& run) {
    EXPECT_THAT(run.outcome.repro, HasSubstr(cat("tbd run resnet50 --config ", run.cell.config, " --framework ")));
    EXPECT_EQ(read_record(run.record).run.outcome.reason, run.outcome.reason);
    EXPECT_EQ(exit_code({run}), 3);
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);  // neither orphan nor zombie
    EXPECT_EQ(errno, ECHILD);
    for (const pid_t leader : std::exchange(group_, {})) EXPECT_EQ(::kill(-leader, 0), -1) << "its group lives on";
    EXPECT_TRUE(fs::is_empty(scratch_)) << fs::directory_iterator(scratch_)->path();
  }

  fs::path scratch_ = file("tmp");
  std::vector<pid_t> group_;  // the workers that got the signal: each leads its process group
};

TEST_F(RealFaults, KilledWorkerBecomesAFailedRow) {
  for (const WorkerEntry& entry : settings_.workers) {
    cell_.framework = entry.key;
    for (const int signal : {SIGKILL, SIGSEGV, SIGABRT}) {
      SCOPED_TRACE(cat(entry.key, " ", strsignal(signal)));
      const CellRun run = signalled(signal);
      EXPECT_EQ(run.outcome.kind, OutcomeKind::failed);
      EXPECT_THAT(run.outcome.reason, HasSubstr(cat("killed by signal ", signal)));
      EXPECT_THAT(run.outcome.reason, HasSubstr("while training"));
      EXPECT_GE(read_record(run.record).launches.at(0).steps.size(), 1u);
      expect_row(run);
    }
  }
}

TEST_F(RealFaults, AStoppedWorkerIsATimeout) {
  for (const WorkerEntry& entry : settings_.workers) {
    SCOPED_TRACE(entry.key);
    cell_.framework = entry.key;
    const CellRun run = signalled(SIGSTOP);
    EXPECT_EQ(run.outcome.kind, OutcomeKind::timeout);
    EXPECT_THAT(run.outcome.reason, HasSubstr("gave no sign for 1.00 s while training"));
    expect_row(run);
  }
}

// The address space that the worker uses on a small batch, and 256 MB more: a batch that needs a GiB does not fit.
// TensorFlow tries each allocation again for 10 s before it gives up.
TEST_F(RealFaults, OutOfMemoryBecomesARow) {
  const std::vector<WorkerEntry> built = settings_.workers;
  for (const WorkerEntry& entry : built) {
    SCOPED_TRACE(entry.key);
    settings_.workers = {entry};
    cell_ = {.model = "resnet50", .config = "tiny", .framework = entry.key, .batch = 2};
    const PreparedCell tiny = prepare(cell_, Effort::smoke, settings_);
    int64_t used_kib = 0;
    {
      WorkerProcess worker(entry, settings_, worker_environment(tiny, settings_), tiny.threads.cores, file("log"));
      worker.hello();
      worker.ask<protocol::LoadReply>(load_request(tiny, false), "loading the program", settings_.deadlines.load);
      worker.run({.steps = 2}, [](std::span<const StepRow>) { return false; });
      for (const std::string& line : split(read_file(cat("/proc/", worker.pid(), "/status")), '\n'))
        if (line.starts_with("VmPeak:")) used_kib = std::strtoll(line.c_str() + 7, nullptr, 10);
      worker.bye();
    }
    ASSERT_GT(used_kib, 10'000);
    const fs::path limited = file("limited-" + entry.framework);
    write_file(limited, cat("#!/bin/sh\nulimit -v ", used_kib + 262'144, "\nexec ", entry.worker.string(), "\n"));
    fs::permissions(limited, fs::perms::owner_all);
    settings_.workers[0].worker = limited;
    const auto bytes_of = [&](int64_t batch) { return predict_memory(tiny.program, {{"N", batch}}).peak().value; };
    while (bytes_of(cell_.batch) < int64_t{1} << 30) cell_.batch *= 2;
    settings_.deadlines.step = 60;
    const CellRun run =
        run_cells({cell_}, {.effort = Effort::smoke, .out = file("out-" + entry.key), .peaks = false}, settings_).at(0);
    EXPECT_THAT((std::vector{OutcomeKind::oom, OutcomeKind::failed}), ::testing::Contains(run.outcome.kind))
        << run.outcome.reason;
    // The second are the words of an OpenMP runtime that finds no room for the stack of a thread. The third are the C
    // library's: MXNet 1.9.1 breaks the heap now and then when it is refused memory, and the text of its error, the
    // next that is allocated, ends the process. MLX 0.32 writes to the block that it did not get.
    const char* own = entry.key == "mxnet" ? "malloc()" : entry.key == "mlx" ? "signal 11" : "memory";
    EXPECT_THAT(run.outcome.reason,
                AnyOf(HasSubstr("memory"), HasSubstr("Resource temporarily unavailable"), HasSubstr(own)));
    expect_row(run);
  }
}

TEST_F(EndToEnd, AnAbsurdBatchIsSkippedBeforeItIsTried) {
  cell_.batch = 1 << 20;
  const std::vector<CellRun> runs = smoke({cell_});
  EXPECT_EQ(runs.at(0).outcome.kind, OutcomeKind::skipped);
  EXPECT_THAT(runs.at(0).outcome.reason, HasSubstr("predicted to need"));
}

}  // namespace
}  // namespace tbd
