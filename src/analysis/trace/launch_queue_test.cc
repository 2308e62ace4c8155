#include "analysis/trace/launch_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/trace/testing_trace.h"
#include "analysis/trace/trace_tables.h"
#include "base/json.h"

namespace tbd {
namespace {

using testing::ElementsAre;
using testing::Pair;

struct Queued : testing_trace::HandMade {
  RankAnalysis analysis(TraceWindow window = TraceWindow::trace) const { return analyze_rank(trace, 0, window); }
};

TEST(LaunchQueue, LaunchesFindWhatHasNotBegun) {
  Queued q;
  q.launch(0, 10, 1);
  q.launch(20, 30, 2);
  q.launch(40, 50, 3);
  q.launch(120, 130, 4);  // 2 runs, 3 waits
  q.kernel(35, 100, 1);   // 2 was launched while 1 waited; 3 when 1 ran and 2 waited
  q.kernel(100, 200, 2);
  q.kernel(200, 300, 3);
  q.kernel(300, 400, 4);
  const QueueUse use = *q.analysis().queue;
  EXPECT_THAT(use.depths, ElementsAre(Pair(0, 1), Pair(1, 3)));
  EXPECT_EQ(use.launches(), 4);
  EXPECT_EQ(use.onto_empty(), 1);
  EXPECT_EQ(use.depth_at(0.25), 0);
  EXPECT_EQ(use.depth_at(0.5), 1);
  EXPECT_EQ(use.depth_at(1), 1);
}

TEST(LaunchQueue, AGapWithNothingQueuedIsLaunchBoundWhileTheHostLaunches) {
  Queued q;
  q.launch(0, 10, 1);
  q.kernel(20, 100, 1);
  q.add(EventKind::op, "aten::add", q.host, 110, 190);  // idle from 100: host other to 110, dispatch to 150
  q.launch(150, 160, 2);
  q.kernel(175, 200, 2);
  const QueueUse use = *q.analysis(TraceWindow::activity).queue;
  EXPECT_EQ(use.empty.count, 1);
  EXPECT_EQ(use.empty.ns, 75);
  EXPECT_EQ(use.launch_bound.count, 1);
  EXPECT_EQ(use.launch_bound.ns, 40 + 10) << "dispatch and the call; no delay is known of this trace";
  EXPECT_EQ(use.queued.count + use.unknown.count, 0);
}

TEST(LaunchQueue, AHostThatWaitsIsNotLaunchBound) {
  Queued q;
  q.launch(0, 10, 1);
  q.kernel(20, 100, 1);
  q.add(EventKind::input, "enumerate(DataLoader)#next", q.host, 90, 150);
  q.launch(150, 160, 2);
  q.kernel(160, 200, 2);
  const QueueUse use = *q.analysis(TraceWindow::activity).queue;
  EXPECT_EQ(use.empty.ns, 60);
  EXPECT_EQ(use.launch_bound.ns, 10) << "of the gap the call alone";
}

TEST(LaunchQueue, AGapWithWorkQueuedIsNotLaunchBound) {
  Queued q;
  q.launch(0, 10, 1);
  q.launch(20, 30, 2);
  q.kernel(40, 100, 1);
  q.kernel(140, 200, 2);
  const QueueUse use = *q.analysis(TraceWindow::activity).queue;
  EXPECT_EQ(use.queued.count, 1);
  EXPECT_EQ(use.queued.ns, 40);
  EXPECT_EQ(use.empty.count, 0);
  EXPECT_EQ(use.launch_bound.ns, 0);
}

// A kernel may begin before the call that launched it returns, and clocks may differ: neither was ever queued.
TEST(LaunchQueue, WhatBeganInItsCallWasNeverQueued) {
  Queued q;
  q.launch(0, 30, 1);
  q.kernel(20, 100, 1);
  q.launch(50, 60, 2);
  q.kernel(40, 100, 2);
  q.launch(70, 70, 3);  // of no length: does not find itself
  q.kernel(110, 120, 3);
  const QueueUse use = *q.analysis().queue;
  EXPECT_THAT(use.depths, ElementsAre(Pair(0, 3)));
}

TEST(LaunchQueue, AGraphIsOneLaunchOfManyKernels) {
  Queued q;
  q.launch(0, 10, 1, "cudaGraphLaunch");
  for (int64_t i = 0; i < 5; ++i) q.kernel(20 + 20 * i, 40 + 20 * i, 1);
  q.launch(30, 40, 2);  // one runs, four wait
  q.kernel(120, 140, 2);
  EXPECT_THAT(q.analysis().queue->depths, ElementsAre(Pair(0, 1), Pair(4, 1)));
}

TEST(LaunchQueue, GapTimesAddToTheIdleTime) {
  Queued q;
  q.launch(0, 10, 1);
  q.kernel(20, 100, 1);
  q.kernel(130, 150, 0);  // its launch is lost
  q.launch(140, 160, 2);
  q.add(EventKind::memcpy, "Memcpy HtoD", q.comm, 180, 190, 2);
  q.add(EventKind::op, "aten::add", q.host, 190, 300);
  const RankAnalysis a = q.analysis();
  const QueueUse& use = *a.queue;
  EXPECT_EQ(use.unknown.count, 2) << "before the kernel without a launch, and after the last activity";
  EXPECT_EQ(use.empty.ns + use.queued.ns + use.unknown.ns, a.masks.idle());
  EXPECT_EQ(to_json(a)["queue"]["unknown_ns"], 30 + 110);
}

TEST(LaunchQueue, WindowsAddUp) {
  QueueUse a, b;
  a.depths = {{0, 2}, {3, 1}};
  b.depths = {{3, 4}};
  a.empty = {1, 10};
  b.empty = {2, 5};
  a += b;
  EXPECT_THAT(a.depths, ElementsAre(Pair(0, 2), Pair(3, 5)));
  EXPECT_EQ(a.empty.ns, 15);
  EXPECT_EQ(a.empty.count, 3);
  EXPECT_EQ(QueueUse{}.depth_at(0.5), 0);
}

TEST(LaunchQueue, AProcessorHasNone) {
  Trace trace;
  trace.add({.duration = 10, .name = trace.string("aten::mm"), .track = trace.track({.thread = 1})});
  const RankAnalysis a = analyze_rank(trace, 0);
  EXPECT_FALSE(a.queue);
  EXPECT_TRUE(to_json(a)["queue"].is_null());
  for (const Table& table : trace_tables(std::span(&a, 1))) EXPECT_EQ(table.title.find("queue"), std::string::npos);
}

}  // namespace
}  // namespace tbd
