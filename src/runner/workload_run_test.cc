#include "runner/workload_run.h"

#include <gtest/gtest.h>

namespace tbd {
namespace {

LaunchInfo launch(const Pass& pass, int64_t number, OutcomeKind kind, const std::string& reason = "") {
  LaunchInfo info;
  info.pass = pass;
  info.number = number;
  info.outcome = {.kind = kind, .reason = reason, .repro = ""};
  return info;
}

TEST(WorkloadRun, IsOverWhenAllItsLaunchesAreDone) {
  WorkloadRun run;
  run.settle(launch(Pass::kClean, 1, OutcomeKind::ok), 2);
  EXPECT_FALSE(run.over);
  EXPECT_FALSE(run.to_do({.workload = 0, .pass = Pass::kClean, .number = 1}));
  EXPECT_TRUE(run.to_do({.workload = 0, .pass = Pass::kClean, .number = 2}));
  run.settle(launch(Pass::kTrace, 1, OutcomeKind::ok), 2);
  EXPECT_TRUE(run.over);
  EXPECT_EQ(run.done(), 2);
  EXPECT_FALSE(run.to_do({.workload = 0, .pass = Pass::kClean, .number = 2}));
}

TEST(WorkloadRun, AFaultEndsItAndIsItsOutcome) {
  WorkloadRun run;
  run.settle(launch(Pass::kClean, 1, OutcomeKind::ok), 3);
  run.settle(launch(Pass::kClean, 2, OutcomeKind::oom, "out of memory"), 3);
  EXPECT_TRUE(run.over);
  EXPECT_EQ(run.outcome.kind, OutcomeKind::oom);
  EXPECT_EQ(run.outcome.reason, "out of memory");
}

TEST(WorkloadRun, APassThatIsNotOfferedLeavesWhatOthersMeasured) {
  WorkloadRun run;
  run.settle(launch(Pass::kClean, 1, OutcomeKind::ok), 3);
  run.settle(launch(Pass::kTrace, 1, OutcomeKind::unsupported, "no trace"), 3);
  EXPECT_FALSE(run.over);
  EXPECT_EQ(run.outcome.kind, OutcomeKind::ok);
}

TEST(WorkloadRun, AFirstLaunchThatIsNotOfferedEndsIt) {
  WorkloadRun run;
  run.settle(launch(Pass::kClean, 1, OutcomeKind::unsupported, "no bf16"), 3);
  EXPECT_TRUE(run.over);
  EXPECT_EQ(run.outcome.reason, "no bf16");
}

TEST(WorkloadRun, KeptRecordHasNoLaunchesToDo) {
  WorkloadRun run;
  run.kept = true;
  EXPECT_FALSE(run.to_do({.workload = 0, .pass = Pass::kClean, .number = 1}));
}

TEST(WorkloadRun, LearnsHowTheWorkerRan) {
  WorkloadRun run;
  run.prepared.run.workload.optimizer = "sgd";
  LaunchResult result;
  result.hello.emplace();
  result.hello->framework_version = "2.15.0";
  result.hello->modes = {Mode::kGraph, Mode::kEager};
  result.hello->build["optimizer.sgd"] = "fused";
  result.gemm_rate = 1e11;
  run.learn(result);
  run.learn(result);
  EXPECT_EQ(run.prepared.run.workload.framework_version, "2.15.0");
  EXPECT_EQ(run.prepared.run.workload.mode, Mode::kGraph) << "the worker's own, as none was named";
  EXPECT_EQ(run.prepared.run.workload.optimizer, "sgd fused");
  EXPECT_EQ(run.gemm_rate, 1e11);
}

}  // namespace
}  // namespace tbd
