#include "backends/pytorch/device_events.h"

#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include "backends/pytorch/device_recorder.h"
#include "backends/pytorch/op_recorder.h"
#include "base/error.h"
#include "measure/clock.h"

namespace tbd::pytorch {
namespace {

using testing::IsEmpty;

// Ops of a real recording and, in the middle of each, a call that starts a kernel after it.
struct Launched {
  Launched() : recorder({"conv", "linear"}) {
    {
      const OpRecorder::Recording recording(recorder);
      recorder.enter(EventPhase::forward, "forward");
      for (const int32_t node : {0, 1}) {
        recorder.execute(node);
        const at::Tensor square = at::ones({200, 200});
        begins.push_back(now_ns());
        at::mm(square, square);
        ends.push_back(now_ns());
      }
      recorder.leave();
    }
    for (uint32_t i = 0; i < 2; ++i) {
      const int64_t middle = begins[i] + (ends[i] - begins[i]) / 2;
      records.push_back(
          {.name = "cudaLaunchKernel", .place = gettid(), .begin = middle, .duration = 10, .link = i + 1});
      records.push_back({.name = "void gemm<float>(float*)",
                         .on_device = true,
                         .device = 0,
                         .place = 7,
                         .begin = middle + 1000,
                         .duration = 500,
                         .link = i + 1,
                         .kernel = {.grid = {4, 1, 1}, .block = {128, 1, 1}, .registers = 32}});
    }
  }
  Trace trace() {
    Trace out;
    recorder.hand_over(out, records);
    return out;
  }
  OpRecorder recorder;
  std::vector<int64_t> begins, ends;
  std::vector<DeviceRecord> records;
};

std::vector<Event> of_kind(const Trace& trace, EventKind kind) {
  std::vector<Event> out;
  for (size_t i = 0; i < trace.size(); ++i)
    if (trace[i].kind == kind) out.push_back(trace[i]);
  return out;
}

TEST(DeviceEvents, KernelsBelongToTheNodeWhoseOpLaunchedThem) {
  Launched launched;
  const Trace trace = launched.trace();
  const std::vector<Event> kernels = of_kind(trace, EventKind::kernel), calls = of_kind(trace, EventKind::api);
  ASSERT_EQ(kernels.size(), 2U);
  ASSERT_EQ(calls.size(), 2U);
  const std::vector<std::string> nodes = {"conv", "linear"};
  for (size_t i = 0; i < kernels.size(); ++i) {
    const KernelDetail* detail = trace.details().of<KernelDetail>().find(kernels[i].detail);
    ASSERT_NE(detail, nullptr);
    EXPECT_EQ(trace.strings()[detail->node], nodes[i]);
    EXPECT_EQ(detail->grid[0], 4U);
    EXPECT_EQ(kernels[i].phase, EventPhase::forward);
    EXPECT_EQ(kernels[i].link, calls[i].link);
    const Track& stream = trace.tracks()[kernels[i].track];
    EXPECT_EQ(stream.place, Track::Place::device);
    EXPECT_EQ(stream.thread, 7);
  }
  // calls lie on the track of the ops, which is one
  EXPECT_EQ(calls[0].track, of_kind(trace, EventKind::op).front().track);
}

TEST(DeviceEvents, ActivityWithoutAKnownCallHasNoNode) {
  Launched launched;
  launched.records[0].place += 1'000'000;  // a thread without a tape
  launched.records[2].begin = 1;           // before all ops
  launched.records[3].name = "ncclDevKernel_AllReduce";
  launched.records.push_back({.name = "Memcpy DtoH (Device -> Pinned)",
                              .on_device = true,
                              .device = 0,
                              .place = 7,
                              .begin = launched.ends[1],
                              .link = 99,
                              .bytes = 4096});
  launched.records.push_back({.name = "Activity Buffer Request", .place = gettid(), .begin = launched.ends[1]});
  const Trace trace = launched.trace();
  const Event kernel = of_kind(trace, EventKind::kernel).at(0);
  EXPECT_EQ(trace.details().of<KernelDetail>().find(kernel.detail)->node, 0U);
  EXPECT_EQ(kernel.phase, EventPhase::unknown);
  EXPECT_EQ(of_kind(trace, EventKind::collective).size(), 1U);
  EXPECT_EQ(of_kind(trace, EventKind::overhead).size(), 1U);
  const Event copy = of_kind(trace, EventKind::memcpy).at(0);
  EXPECT_EQ(*trace.details().of<CopyDetail>().find(copy.detail),
            (CopyDetail{.bytes = 4096, .direction = CopyDirection::to_host}));
}

// As on a GPU, where Kineto is not told the system's number of a thread.
TEST(DeviceEvents, CallsOfAThreadByItsHandleAreThatThreads) {
  Launched launched;
  for (const size_t call : {0, 2}) launched.records[call].place = static_cast<int32_t>(pthread_self());
  launched.records[0].name = "INVALID";
  const Trace trace = launched.trace();
  const std::vector<Event> kernels = of_kind(trace, EventKind::kernel), calls = of_kind(trace, EventKind::api);
  ASSERT_EQ(kernels.size(), 2U);
  ASSERT_EQ(calls.size(), 2U);
  for (const Event& each : kernels) {
    EXPECT_NE(trace.details().of<KernelDetail>().find(each.detail)->node, 0U);
    EXPECT_EQ(each.phase, EventPhase::forward);
  }
  for (const Event& each : calls) EXPECT_EQ(each.track, of_kind(trace, EventKind::op).front().track);
}

// The CPU's part of Kineto, by the same calls: times are on the clock of our own stamps.
TEST(DeviceRecorder, RecordsBetweenStartAndStopByTheClockOfStamps) {
  DeviceRecorder recorder(c10::kCPU);
  EXPECT_THAT(recorder.stop(), IsEmpty());
  const at::Tensor square = at::ones({300, 300});
  at::mm(square, square);
  for (int round = 0; round < 2; ++round) {
    recorder.start();
    recorder.start();
    const int64_t begin = now_ns();
    at::mm(square, square);
    const int64_t end = now_ns();
    const std::vector<DeviceRecord> records = recorder.stop();
    int found = 0;
    for (const DeviceRecord& record : records) {
      if (record.name != "aten::mm") continue;
      ++found;
      EXPECT_FALSE(record.on_device);
      constexpr int64_t kClocks = 200'000;  // torch turns cycles into time by a line of its own
      EXPECT_GE(record.begin, begin - kClocks);
      EXPECT_LE(record.begin + record.duration, end + kClocks);
      EXPECT_GT(record.duration, 0);
    }
    EXPECT_EQ(found, 1) << round;
  }
}

TEST(DeviceRecorder, RefusesWhatItHasNoProfilerFor) { EXPECT_THROW(DeviceRecorder(c10::kMPS), Error); }

}  // namespace
}  // namespace tbd::pytorch
