// What preemption and waits mean on a CPU, where threads that run ops are the device.
#include <gtest/gtest.h>

#include "analysis/trace/rank_analysis.h"
#include "trace/names.h"

namespace tbd {
namespace {

class Host {
 public:
  Trace trace;
  TrackId thread = trace.track({.process = 1, .thread = 1});
  TrackId other = trace.track({.process = 1, .thread = 2});

  void add(EventKind kind, std::string_view name, int64_t begin, int64_t end) {
    add_on(thread, kind, name, begin, end);
  }
  void add_on(TrackId track, EventKind kind, std::string_view name, int64_t begin, int64_t end) {
    trace.add({.begin = begin, .duration = end - begin, .name = trace.string(name), .track = track, .kind = kind});
  }
  RankAnalysis analysis(TraceWindow window = TraceWindow::trace) const {
    const RankAnalysis a = analyze_rank(trace, 0, window);
    EXPECT_EQ(a.masks.window(), a.window.length());
    EXPECT_EQ(total(a.causes), a.masks.idle());
    return a;
  }
};

int64_t time_by_cause(const CauseTimes& times, IdleCause cause) { return times[static_cast<size_t>(cause)]; }

TEST(OffCpu, APreemptedOpDoesNotCompute) {
  Host h;
  h.add(EventKind::op, "aten::mm", 0, 100);
  h.add(EventKind::off_cpu, kPreempted, 20, 30);
  h.add(EventKind::off_cpu, kPreempted, 50, 80);
  const RankAnalysis a = h.analysis();
  EXPECT_EQ(a.masks.busy(kComputeBits), 60);
  EXPECT_EQ(time_by_cause(a.causes, IdleCause::off_cpu), 40);
  ASSERT_EQ(a.kernels.size(), 1u);
  EXPECT_EQ(a.kernels[0].count, 1) << "one op in three stretches";
  EXPECT_EQ(a.kernels[0].total_ns, 60);
  EXPECT_FALSE(a.kernels[0].launch_bound) << "nothing was between it and another op";
}

TEST(OffCpu, PreemptionBetweenShortOpsIsIdleTime) {
  Host h;
  h.add(EventKind::off_cpu, kPreempted, 10, 40);
  h.add(EventKind::op, "aten::mm", 0, 5);
  h.add(EventKind::op, "aten::add", 20, 30);
  h.add(EventKind::op, "aten::mm", 45, 50);
  const RankAnalysis a = h.analysis();
  EXPECT_EQ(a.masks.busy(), 10);
  EXPECT_EQ(time_by_cause(a.causes, IdleCause::off_cpu), 30);
  EXPECT_EQ(a.kernels.size(), 2u);
}

TEST(OffCpu, CountsAWaitInsideAnOpAsOpTime) {
  Host h;
  h.add(EventKind::op, "aten::mm", 0, 100);
  h.add(EventKind::off_cpu, kWaiting, 20, 60);
  const RankAnalysis a = h.analysis();
  EXPECT_EQ(a.masks.busy(kComputeBits), 100);
}

TEST(OffCpu, PreemptionBetweenOpsIsAnIdleCauseButAWaitIsNot) {
  Host h;
  h.add(EventKind::op, "aten::mm", 0, 10);
  h.add(EventKind::off_cpu, kPreempted, 20, 35);
  h.add(EventKind::off_cpu, kWaiting, 40, 50);
  h.add(EventKind::input, "batch", 60, 90);
  h.add(EventKind::off_cpu, kPreempted, 70, 80);  // while the batch was fetched
  h.add(EventKind::op, "aten::mm", 90, 100);
  const RankAnalysis a = h.analysis();
  EXPECT_EQ(time_by_cause(a.causes, IdleCause::off_cpu), 15);
  EXPECT_EQ(time_by_cause(a.causes, IdleCause::input), 30);
  EXPECT_EQ(time_by_cause(a.causes, IdleCause::host_other), 35);
}

TEST(OffCpu, AnotherThreadsPreemptionChangesNothing) {
  Host h;
  h.add(EventKind::op, "aten::mm", 0, 100);
  h.add_on(h.other, EventKind::off_cpu, kPreempted, 20, 60);
  EXPECT_EQ(h.analysis().masks.busy(kComputeBits), 100);
}

TEST(OffCpu, StaysBusyWhileAnyThreadComputes) {
  Host h;
  h.add(EventKind::op, "aten::mm", 0, 100);
  h.add_on(h.other, EventKind::backward_op, "MmBackward0", 0, 50);
  h.add(EventKind::off_cpu, kPreempted, 20, 60);
  const RankAnalysis a = h.analysis();
  EXPECT_EQ(a.masks.busy(kComputeBits), 90);
  EXPECT_EQ(time_by_cause(a.causes, IdleCause::off_cpu), 10);
}

TEST(OffCpu, CriticalPathIncludesOffCpuTimeAndSumsToTheWindow) {
  Host h;
  h.add(EventKind::step, "step 1", 0, 120);
  h.add(EventKind::op, "aten::mm", 10, 100);
  h.add(EventKind::off_cpu, kPreempted, 40, 70);
  h.add(EventKind::off_cpu, kPreempted, 105, 115);
  const RankAnalysis a = h.analysis(TraceWindow::steps);
  EXPECT_EQ(a.path.total(), 120);
  EXPECT_EQ(a.path.device[0], 60);
  EXPECT_EQ(time_by_cause(a.path.host, IdleCause::off_cpu), 40);
}

TEST(OffCpu, CriticalPathMovesFromAWaitingThreadToAWorkingOne) {
  Host h;
  h.add(EventKind::step, "step 1", 0, 100);
  h.add(EventKind::off_cpu, kWaiting, 5, 95);
  h.add_on(h.other, EventKind::op, "Convolution", 10, 90);
  const RankAnalysis a = h.analysis(TraceWindow::steps);
  EXPECT_EQ(a.path.device[0], 80);
  EXPECT_EQ(time_by_cause(a.path.host, IdleCause::off_cpu), 0);
}

}  // namespace
}  // namespace tbd
