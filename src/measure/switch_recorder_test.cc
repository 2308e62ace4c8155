#include "measure/switch_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <thread>

#include "base/error.h"
#include "measure/clock.h"
#include "measure/cores.h"
#include "measure/proc_text.h"
#include "measure/system_file.h"
#include "measure/testing_competitor.h"

namespace tbd {
namespace {

using enum ThreadSwitch::Kind;
using std::chrono::milliseconds;

class Records {
 public:
  Records& sw(uint16_t misc, uint64_t time) { return record(PERF_RECORD_SWITCH, misc, {kThread, time}); }
  Records& lost(uint64_t count, uint64_t time) { return record(PERF_RECORD_LOST, 0, {3, count, kThread, time}); }
  Records& record(uint32_t type, uint16_t misc, std::initializer_list<uint64_t> words) {
    const perf_event_header header{type, misc, static_cast<uint16_t>(8 * (1 + words.size()))};
    append(&header, sizeof header);
    for (const uint64_t word : words) append(&word, sizeof word);
    return *this;
  }
  std::vector<std::byte> bytes;

 private:
  static constexpr uint64_t kThread = 7;
  void append(const void* from, size_t size) {
    const size_t at = bytes.size();
    bytes.resize(at + size);
    std::memcpy(bytes.data() + at, from, size);
  }
};

constexpr uint16_t kOut = PERF_RECORD_MISC_SWITCH_OUT, kPreempted = kOut | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;

TEST(SwitchRing, ReadsTheKernelsRecords) {
  Records records;
  records.sw(kOut, 10).sw(0, 20).record(PERF_RECORD_EXIT, 0, {1, 2, 3}).lost(5, 30).sw(kPreempted, 40);
  EXPECT_EQ(parse_switches(records.bytes),
            (std::vector<ThreadSwitch>{{10, waits}, {20, in}, {30, lost, 5}, {40, preempted}}));
}

TEST(SwitchRing, ATornRecordIsRefused) {
  Records records;
  records.sw(kOut, 10);
  EXPECT_THROW(parse_switches(std::span(records.bytes).first(16)), Error);
  EXPECT_THROW(parse_switches(std::span(records.bytes).first(5)), Error);
}

TEST(SwitchPairs, ASpanGoesFromOutToIn) {
  const ThreadSwitch switches[] = {{5, in}, {10, waits}, {20, in}, {30, preempted}, {45, in}, {50, preempted}};
  std::vector<OffCpuSpan> spans;
  SwitchPairs pairs(7);
  pairs.add(std::span(switches).first(4), spans);
  pairs.add(std::span(switches).subspan(4), spans);
  pairs.finish(60, spans);
  EXPECT_EQ(spans, (std::vector<OffCpuSpan>{{10, 20, 7, false}, {30, 45, 7, true}, {50, 60, 7, true}}));
}

TEST(SwitchPairs, DropSpansThatOverlapLostRecords) {
  const ThreadSwitch switches[] = {{10, preempted}, {15, lost, 3}, {20, in}, {30, preempted}, {40, in}};
  std::vector<OffCpuSpan> spans;
  SwitchPairs pairs(7);
  pairs.add(switches, spans);
  EXPECT_EQ(spans, (std::vector<OffCpuSpan>{{30, 40, 7, true}}));
  EXPECT_EQ(pairs.lost(), 3);
}

TEST(SwitchPairs, DropWaitsOfOtherThreads) {
  const ThreadSwitch switches[] = {{10, waits}, {20, in}, {30, preempted}, {40, in}};
  std::vector<OffCpuSpan> spans;
  SwitchPairs(7, false).add(switches, spans);
  EXPECT_EQ(spans, (std::vector<OffCpuSpan>{{30, 40, 7, true}}));
}

void spin_until(int64_t time_ns) {
  while (now_ns() < time_ns) continue;
}

int64_t run_queue_wait_ns() {
  return parse_schedstat(read_system_file("/proc/thread-self/schedstat").value_or(""))
      .value_or(ThreadSchedule{})
      .wait_ns;
}

struct Recorded {
  std::vector<OffCpuSpan> spans;
  int64_t begin = 0, end = 0, run_queue_wait_ns = 0, thread = 0, lost = 0;
  int64_t preempted() const {
    int64_t sum = 0;
    for (const OffCpuSpan& span : spans)
      if (span.thread == thread && span.preempted) sum += span.end - span.begin;
    return sum;
  }
};

// What a fresh thread does, and what is recorded of it.
Recorded recorded(const std::function<void()>& work) {
  Recorded out;
  std::thread([&] {
    SwitchRecorder recorder;
    out.thread = gettid();
    out.begin = now_ns();
    const int64_t waited = run_queue_wait_ns();
    work();
    out.run_queue_wait_ns = run_queue_wait_ns() - waited;
    out.end = now_ns();
    out.spans = recorder.finish();
    out.lost = recorder.lost();
  }).join();
  return out;
}

class Switches : public ::testing::Test {
 protected:
  void SetUp() override {
    const SwitchRecorder recorder;
    if (!recorder.available()) GTEST_SKIP() << recorder.reason();
  }
};

TEST_F(Switches, ASleepIsAWait) {
  const Recorded run = recorded([] { std::this_thread::sleep_for(milliseconds(30)); });
  const auto longest = std::ranges::max_element(run.spans, {}, [&](const OffCpuSpan& span) {
    return span.thread == run.thread && !span.preempted ? span.end - span.begin : 0;
  });
  ASSERT_NE(longest, run.spans.end());
  EXPECT_GE(longest->end - longest->begin, 29'000'000);
  EXPECT_GE(longest->begin, run.begin) << "both on one clock";
  EXPECT_LE(longest->end, run.end);
}

TEST_F(Switches, AThreadThatSharesItsProcessorIsPreempted) {
  const std::vector<int> cpus = allowed_cpus();
  const Recorded run = recorded([&] {
    bind_thread({cpus.front()});
    const Competitor competitor(cpus.front());
    spin_until(now_ns() + 500'000'000);
  });
  EXPECT_EQ(run.lost, 0);
  EXPECT_GT(run.preempted(), 100'000'000) << "of half a second for two";
  EXPECT_NEAR(static_cast<double>(run.preempted()), static_cast<double>(run.run_queue_wait_ns),
              0.05 * static_cast<double>(run.run_queue_wait_ns));
}

void sleep_briefly(int times) {
  for (int i = 0; i < times; ++i) std::this_thread::sleep_for(std::chrono::microseconds(1));
}

TEST_F(Switches, CountRecordsThatOverflowTheRing) {
  SwitchRing ring(gettid(), 4096);
  std::vector<ThreadSwitch> switches;
  sleep_briefly(200);
  EXPECT_FALSE(ring.take(switches)) << "a ring of 4 KiB holds 170 switches";
  sleep_briefly(1);
  EXPECT_TRUE(ring.take(switches));
  EXPECT_TRUE(std::ranges::any_of(switches, [](const ThreadSwitch& each) { return each.kind == lost; }));
}

TEST_F(Switches, MoreThanARingHoldsAreAllRecorded) {
  const Recorded run = recorded([] { sleep_briefly(12'000); });
  EXPECT_EQ(run.lost, 0);
  EXPECT_GT(std::ranges::count(run.spans, run.thread, &OffCpuSpan::thread), 6'000) << "a ring of 256 KiB holds 5,461";
}

}  // namespace
}  // namespace tbd
