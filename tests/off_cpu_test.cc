// A fault of known size put into a real worker: its thread shares a processor with another one that never rests. The
// trace pass must find that time, all of it and under its own name. The measure is the kernel's, of the same steps:
// what /proc says of run-queue waits and of CPU time.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "analysis/profile/profile.h"
#include "base/files.h"
#include "built_workers.h"
#include "measure/clock.h"
#include "measure/cores.h"
#include "measure/host_sampler.h"
#include "measure/switch_recorder.h"
#include "measure/testing_competitor.h"
#include "record/reader.h"
#include "runner/run.h"

namespace tbd {
namespace {

// Of the traced steps that a profile looks at, all in nanoseconds.
struct StepSums {
  double window = 0, off_cpu = 0, step_loop_waiting = 0;  // by the trace
  double run_queue_wait = 0, cpu = 0;                     // by the kernel's accounts of the process

  double running() const { return window - off_cpu - step_loop_waiting; }
  double slack() const { return 0.05 * run_queue_wait + 0.001 * window; }
};

// Of 10 ms each, from all processors of this machine; 0 where the kernel does not say.
int64_t stolen_ticks() { return StealSampler().read_ticks(now_ns()).value_or(0); }

StepSums steps_of(const Record& record) {
  const Profile profile = profile_of(record).value();
  StepSums steps{.window = static_cast<double>(profile.window_ns),
                 .off_cpu = static_cast<double>(profile.causes[static_cast<size_t>(IdleCause::off_cpu)]),
                 .step_loop_waiting = static_cast<double>(profile.waiting_ns)};
  const Launch& launch = *last_launch(record, Pass::kTrace);
  for (const StepRow& row : launch.steps)
    for (const auto& [first, last] : *launch.info.traced)
      if (row.step > first && row.step < last) {
        steps.run_queue_wait += static_cast<double>(row.runqueue_wait_ns.value());
        steps.cpu += static_cast<double>(row.user_cpu_ns.value() + row.system_cpu_ns.value());
      }
  return steps;
}

class OffCpu : public ::testing::Test {
 protected:
  void SetUp() override {
    const SwitchRecorder recorder;
    if (!recorder.available()) GTEST_SKIP() << recorder.reason();
    settings_ = built_settings(folder_.path() / "cache");
    std::erase_if(settings_.workers, [](const WorkerEntry& entry) { return entry.key != "pytorch"; });
    if (settings_.workers.empty()) GTEST_SKIP() << "the PyTorch worker is not built";
    cpus_ = allowed_cpus();
    bind_thread({cpus_.back()});  // and with it the worker: one thread
  }
  void TearDown() override {
    if (!cpus_.empty()) bind_thread(cpus_);
  }
  StepSums traced() {
    const Workload cell{.model = "resnet50", .config = "tiny", .framework = "pytorch", .batch = 128};
    const RunOptions options{.effort = Effort::smoke,
                             .out = folder_.path() / std::to_string(++runs_),
                             .passes = {Pass::kClean, Pass::kTrace},
                             .peaks = false};
    const CellRun run = run_cells({cell}, options, settings_).at(0);
    EXPECT_EQ(run.outcome.kind, OutcomeKind::ok) << run.outcome.reason;
    return steps_of(read_record(run.record));
  }
  // Whatever waited for a processor is there, and all else that the bar shows had one. Of a busy thread; a thousandth
  // of the window is what wakes and stamps may differ by.
  static void expect_accounts_agree(const StepSums& steps) {
    EXPECT_NEAR(steps.off_cpu, steps.run_queue_wait, steps.slack());
    EXPECT_NEAR(steps.running(), steps.cpu, steps.slack());
  }

  TemporaryFolder folder_{"tbd-off-cpu"};
  RunnerSettings settings_;
  std::vector<int> cpus_;
  int runs_ = 0;
};

TEST_F(OffCpu, MeasuresTimeLostToASharedProcessor) {
  const Competitor competitor(cpus_.back());
  const StepSums steps = traced();
  EXPECT_GT(steps.run_queue_wait, 0.2 * steps.window) << "half of it, were the two alone";
  expect_accounts_agree(steps);
}

// What the host takes from a virtual machine is running time to the trace, but not CPU time to the kernel. Launches in
// which it took some are repeated until they agree; where it took none, the first one must.
TEST_F(OffCpu, AccountsAgreeWithoutLoad) {
  StepSums steps;
  for (int launch = 0; launch < 8; ++launch) {
    const int64_t before = stolen_ticks();
    steps = traced();
    if (stolen_ticks() == before || steps.running() <= steps.cpu + steps.slack()) break;
  }
  expect_accounts_agree(steps);
}

}  // namespace
}  // namespace tbd
