// The trace that torch.profiler writes of a GPU, in Kineto's own spelling: a made-up step whose every number is worked
// out by hand. It copies on a stream of its own, launches through runtime and driver, and replays a graph.
//   stream 20  copy [1020, 1030]
//   stream  7  convolution [1050.5, 1090.5], clamp [1091, 1096], graph: [1135, 1145] [1145.5, 1165.5] set [1166, 1167],
//              multiply [1179.9, 1189], Adam [1196, 1216] us
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/trace/trace_tables.h"
#include "base/files.h"
#include "base/json.h"
#include "trace/import/import.h"

namespace tbd {
namespace {

using testing::ElementsAre;
using testing::Pair;

constexpr int64_t kUs = 1'000;

Trace golden() {
  Trace trace;
  import_trace(TBD_SOURCE_DIR "/src/analysis/trace/golden/torch_cuda.json", trace);
  return trace;
}

int64_t lost_to(const CauseTimes& times, IdleCause cause) { return times[static_cast<size_t>(cause)]; }

size_t count(const Trace& trace, EventKind kind) {
  return static_cast<size_t>(std::ranges::count(trace.kinds(), kind));
}

TEST(TorchCudaTrace, EveryKindOfEventIsRead) {
  const Trace trace = golden();
  EXPECT_TRUE(trace.faults().empty()) << trace.faults()[0].what;
  EXPECT_EQ(count(trace, EventKind::kernel), 6U);
  EXPECT_EQ(count(trace, EventKind::memcpy), 1U);
  EXPECT_EQ(count(trace, EventKind::memset), 1U);
  EXPECT_EQ(count(trace, EventKind::device_event), 1U);
  EXPECT_EQ(count(trace, EventKind::sync), 3U) << "two records on the device and the host's call";
  EXPECT_EQ(count(trace, EventKind::api), 7U);
  EXPECT_EQ(count(trace, EventKind::step), 1U) << "the device's twin of the step is a range";
  EXPECT_EQ(count(trace, EventKind::alloc), 1U);
  EXPECT_EQ(trace.base_epoch_ns, 1775078550000000000);
  EXPECT_THAT(trace.facts.at("deviceProperties"), testing::HasSubstr("NVIDIA Example"));
}

TEST(TorchCudaTrace, WaitsForTheWholeDeviceAreOnNoStreamOfItsOwn) {
  const Trace trace = golden();
  std::vector<int64_t> streams;
  for (const Track& track : trace.tracks())
    if (track.place == Track::Place::device) streams.push_back(track.thread);
  EXPECT_THAT(streams, testing::UnorderedElementsAre(7, 20, -1));
  EXPECT_EQ(analyze_rank(trace, 0).streams.size(), 2U);
}

TEST(TorchCudaTrace, BusyTimeIsTheUnionOfKernelsAndCopies) {
  const Json json = to_json(analyze_rank(golden(), 0));
  EXPECT_EQ(json["window_ns"], 196 * kUs);
  EXPECT_EQ(json["busy_ns"], 115'100);
  EXPECT_EQ(json["compute_ns"], 104'100);
  EXPECT_EQ(json["copy_ns"], 11 * kUs);
  EXPECT_EQ(json["idle_ns"], 80'900);
  EXPECT_EQ(json["streams"][0]["busy_ns"], 105'100);
  EXPECT_EQ(json["streams"][1]["busy_ns"], 10 * kUs);
}

TEST(TorchCudaTrace, EachGapIsSplitByCause) {
  const RankAnalysis a = analyze_rank(golden(), 0);
  EXPECT_EQ(a.delay_ns, 500) << "between kernels that were queued, those of the graph among them";
  EXPECT_EQ(lost_to(a.causes, IdleCause::dispatch), 10'000 + 9'900 + 1'000);
  EXPECT_EQ(lost_to(a.causes, IdleCause::launch), 6'000 + 20'000 + 4'000);
  EXPECT_EQ(lost_to(a.causes, IdleCause::latency), 6 * 500);
  EXPECT_EQ(lost_to(a.causes, IdleCause::host_other), 14'000 + 3'000);
  EXPECT_EQ(lost_to(a.causes, IdleCause::device_other), 4'000 + 4'500 + 1'500);
  EXPECT_EQ(total(a.causes), a.masks.idle());
}

TEST(TorchCudaTrace, KernelsOfAGraphBelongToItsLaunch) {
  const RankAnalysis a = analyze_rank(golden(), 0);
  EXPECT_EQ(a.launches.activities_without_call, 0);
  EXPECT_EQ(a.launches.calls_without_activity, 0);
  EXPECT_EQ(a.launches.clashing_calls, 0);
  EXPECT_EQ(a.launches.before_their_call, 1) << "multiply, by clocks that disagree";
}

TEST(TorchCudaTrace, TheQueueIsEmptyBeforeMostLaunches) {
  const QueueUse use = *analyze_rank(golden(), 0).queue;
  EXPECT_THAT(use.depths, ElementsAre(Pair(0, 4), Pair(1, 1))) << "clamp was launched while the convolution waited";
  EXPECT_EQ(use.empty.count, 4);
  EXPECT_EQ(use.empty.ns, 20'500 + 39'000 + 12'900 + 7'000);
  EXPECT_EQ(use.queued.count, 3);
  EXPECT_EQ(use.queued.ns, 3 * 500);
  EXPECT_EQ(use.launch_bound.ns, 16'500 + 20'500 + 9'900 + 5'500);
  EXPECT_EQ(use.unknown.count, 0);
}

// A wait of the host for its stream is recorded on that stream, too: it is no dependency.
TEST(TorchCudaTrace, AHostThatWaitsForAStreamMakesNoDependency) {
  Trace trace;
  const TrackId host = trace.track({.process = 1, .thread = 1});
  const TrackId stream = trace.track({.place = Track::Place::device, .device = 0, .thread = 7});
  const auto add = [&](EventKind kind, const char* name, TrackId track, TimeSpan span, uint32_t link) {
    trace.add({.begin = span.begin,
               .duration = span.length(),
               .name = trace.string(name),
               .link = link,
               .track = track,
               .kind = kind});
  };
  add(EventKind::api, "cudaLaunchKernel", host, {0, 5}, 1);
  add(EventKind::kernel, "a", stream, {10, 50}, 1);
  add(EventKind::api, "cudaLaunchKernel", host, {60, 65}, 2);
  add(EventKind::sync, "Stream Sync", stream, {65, 120}, 3);
  add(EventKind::kernel, "b", stream, {100, 120}, 2);
  const RankAnalysis a = analyze_rank(trace, 0);
  EXPECT_EQ(lost_to(a.causes, IdleCause::dependency), 0);
  EXPECT_EQ(lost_to(a.causes, IdleCause::device_other), 35);
}

}  // namespace
}  // namespace tbd
