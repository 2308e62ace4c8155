#include "runner/workload_run.h"

#include <gtest/gtest.h>

#include "base/json.h"

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
  run.wanted = {{Pass::kClean, 1}, {Pass::kTrace, 1}};
  run.settle(launch(Pass::kClean, 1, OutcomeKind::ok));
  EXPECT_FALSE(run.over);
  EXPECT_FALSE(run.to_do({.workload = 0, .pass = Pass::kMemory, .number = 1})) << "it has no memory pass";
  EXPECT_FALSE(run.to_do({.workload = 0, .pass = Pass::kClean, .number = 1}));
  EXPECT_TRUE(run.to_do({.workload = 0, .pass = Pass::kTrace, .number = 1}));
  run.settle(launch(Pass::kTrace, 1, OutcomeKind::ok));
  EXPECT_TRUE(run.over);
  EXPECT_EQ(run.done(), 2);
  EXPECT_FALSE(run.to_do({.workload = 0, .pass = Pass::kClean, .number = 2}));
}

TEST(WorkloadRun, AFaultEndsItAndIsItsOutcome) {
  WorkloadRun run;
  run.wanted = {{Pass::kClean, 2}, {Pass::kTrace, 1}};
  run.settle(launch(Pass::kClean, 1, OutcomeKind::ok));
  run.settle(launch(Pass::kClean, 2, OutcomeKind::oom, "out of memory"));
  EXPECT_TRUE(run.over);
  EXPECT_EQ(run.outcome.kind, OutcomeKind::oom);
  EXPECT_EQ(run.outcome.reason, "out of memory");
}

TEST(WorkloadRun, APassThatIsNotOfferedLeavesWhatOthersMeasured) {
  WorkloadRun run;
  run.wanted = {{Pass::kClean, 2}, {Pass::kTrace, 1}};
  run.settle(launch(Pass::kClean, 1, OutcomeKind::ok));
  run.settle(launch(Pass::kTrace, 1, OutcomeKind::unsupported, "no trace"));
  EXPECT_FALSE(run.over);
  EXPECT_EQ(run.outcome.kind, OutcomeKind::ok);
}

TEST(WorkloadRun, AFirstLaunchThatIsNotOfferedEndsIt) {
  WorkloadRun run;
  run.wanted = {{Pass::kClean, 2}, {Pass::kTrace, 1}};
  run.settle(launch(Pass::kClean, 1, OutcomeKind::unsupported, "no bf16"));
  EXPECT_TRUE(run.over);
  EXPECT_EQ(run.outcome.reason, "no bf16");
}

TEST(WorkloadRun, GoesOnToFurtherLaunchesAfterGoodOnes) {
  WorkloadRun run;
  run.settle(launch(Pass::kClean, 1, OutcomeKind::ok));
  ASSERT_TRUE(run.over);
  run.go_on_to({{Pass::kClean, 2}});
  EXPECT_TRUE(run.to_do({.workload = 0, .pass = Pass::kClean, .number = 2}));
  run.settle(launch(Pass::kClean, 2, OutcomeKind::ok));
  EXPECT_TRUE(run.over);
  run.go_on_to({{Pass::kClean, 1}});
  EXPECT_TRUE(run.over) << "both are done";
}

// Launches of one pass do not stand for those of another.
TEST(WorkloadRun, LacksCleanLaunchesHoweverManyAreTraced) {
  WorkloadRun run;
  const LaunchCounts planned = {{Pass::kClean, 2}, {Pass::kTrace, 1}};
  run.wanted = {{Pass::kClean, 2}, {Pass::kTrace, 3}};
  run.settle(launch(Pass::kClean, 1, OutcomeKind::ok));
  for (int64_t number = 1; number <= 3; ++number) run.settle(launch(Pass::kTrace, number, OutcomeKind::ok));
  EXPECT_TRUE(run.lacks(planned));
  EXPECT_EQ(run.done(planned), 2);
  EXPECT_FALSE(run.over);
  EXPECT_TRUE(run.to_do({.workload = 0, .pass = Pass::kClean, .number = 2}));
}

TEST(WorkloadRun, DoesNotGoOnAfterAFault) {
  WorkloadRun run;
  run.settle(launch(Pass::kClean, 1, OutcomeKind::oom));
  run.go_on_to({{Pass::kClean, 2}});
  EXPECT_TRUE(run.over);
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

TEST(LaunchOfAWorld, IsTheSumOfWhatEachUsesAndTheMeanOfShares) {
  const auto facts = [](double busy, double foreign, bool repeat) -> Json {
    return {{"cores", 2.0},
            {"peak_rss_bytes", 100},
            {"first_step_seconds", busy},
            {"energy_joules", 7},
            {"host",
             {{"use", {{"busy_cores", busy}, {"util_cpu", busy / 2}, {"foreign_fraction", foreign}}},
              {"delta", {{"major_faults", 1}, {"throttled_time_s", busy}, {"threads", {{{"thread", busy}}}}}},
              {"disturbed", repeat ? Json::array({"steal 9 %"}) : Json::array()},
              {"repeat", repeat}}}};
  };
  const Json ranks[] = {facts(1, 0.1, false), facts(2, 0.3, true)};
  const Json world = launch_of_world(ranks);
  EXPECT_EQ(world["cores"], 4);
  EXPECT_EQ(world["peak_rss_bytes"], 200);
  EXPECT_EQ(world["first_step_seconds"], 1) << "of rank 0, whose clock it is";
  EXPECT_EQ(world["energy_joules"], 7) << "the counter is the machine's";
  EXPECT_EQ(world["host"]["use"]["busy_cores"], 3);
  EXPECT_EQ(world["host"]["use"]["util_cpu"], 0.75);
  EXPECT_EQ(world["host"]["use"]["foreign_fraction"], 0.2);
  EXPECT_EQ(world["host"]["delta"]["major_faults"], 2);
  EXPECT_EQ(world["host"]["delta"]["throttled_time_s"], 2) << "one group has one quota";
  EXPECT_EQ(world["host"]["delta"]["threads"].size(), 2);
  EXPECT_EQ(world["host"]["disturbed"], Json::array({"rank 1: steal 9 %"}));
  EXPECT_EQ(world["host"]["repeat"], true);
  EXPECT_EQ(launch_of_world({ranks, 1}), ranks[0]);
}

TEST(LaunchOfAWorld, CountsACoreOnceThatItsWorkersShare) {
  const Json own = {{"cores", 2.0}, {"host", {{"use", {{"busy_cores", 0.5}, {"util_cpu", 0.25}}}}}};
  const Json ranks[] = {own, own, own, own};
  const Json world = launch_of_world(ranks, 2);
  EXPECT_EQ(world["cores"], 2);
  EXPECT_EQ(world["host"]["use"]["busy_cores"], 2);
  EXPECT_EQ(world["host"]["use"]["util_cpu"], 1);
}

}  // namespace
}  // namespace tbd
