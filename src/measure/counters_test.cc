#include "measure/counters.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

namespace tbd {
namespace {

struct Usage {
  int64_t faults = 0, switches = 0;
};
Usage used() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return {use.ru_minflt + use.ru_majflt, use.ru_nvcsw + use.ru_nivcsw};
}

void touch_pages(int64_t pages) {
  const auto bytes = static_cast<size_t>(pages * sysconf(_SC_PAGESIZE));
  void* block = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ::madvise(block, bytes, MADV_NOHUGEPAGE);
  for (size_t at = 0; at < bytes; at += static_cast<size_t>(sysconf(_SC_PAGESIZE))) static_cast<char*>(block)[at] = 1;
  ::munmap(block, bytes);
}

void sleep_often(int times) {
  for (int i = 0; i < times; ++i) std::this_thread::sleep_for(std::chrono::microseconds(50));
}

// A thread that is there before the counters, told what to do afterwards.
class Earlier {
 public:
  explicit Earlier(void (*work)())
      : thread_([this, work] {
          go_.wait(false);
          work();
          done_ = true;
          done_.notify_one();
          end_.wait(false);
        }) {}
  ~Earlier() {
    go_ = true;
    go_.notify_one();
    end_ = true;
    end_.notify_one();
    thread_.join();
  }
  void work() {
    go_ = true;
    go_.notify_one();
    done_.wait(false);
  }

 private:
  std::atomic<bool> go_{false};
  std::atomic<bool> done_{false};
  std::atomic<bool> end_{false};
  std::thread thread_;
};

// What getrusage says of the whole process lies around each reading of the counters: between the begins and the ends
// of both lie the instants at which they were read.
class CountersTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!counters_.why_absent(Counter::page_faults).empty()) GTEST_SKIP() << counters_.why_absent(Counter::page_faults);
    if (!counters_.with_kernel()) GTEST_SKIP() << "the kernel's own work may not be counted here";
    before_ = used();
    counters_.read();
    begun_ = used();
  }
  void expect_equal(Counter counter, int64_t Usage::*what, int64_t at_least) {
    const Usage done = used();
    const Counts counts = counters_.read();
    const Usage after = used();
    ASSERT_TRUE(of(counts, counter));
    EXPECT_GE(*of(counts, counter), done.*what - begun_.*what);
    EXPECT_LE(*of(counts, counter), after.*what - before_.*what);
    EXPECT_GE(*of(counts, counter), at_least);
  }

  Earlier toucher_{[] { touch_pages(300); }}, sleeper_{[] { sleep_often(20); }};
  Counters counters_;
  Usage before_, begun_;
};

TEST_F(CountersTest, PageFaultsAreThoseOfGetrusageOverAllThreads) {
  touch_pages(100);
  toucher_.work();
  std::thread([] { touch_pages(200); }).join();
  expect_equal(Counter::page_faults, &Usage::faults, 600);
}

TEST_F(CountersTest, ContextSwitchesAreThoseOfGetrusageOverAllThreads) {
  sleep_often(10);
  sleeper_.work();
  std::thread([] { sleep_often(30); }).join();
  expect_equal(Counter::context_switches, &Usage::switches, 60);
}

TEST_F(CountersTest, CountAnewAfterEachReading) {
  touch_pages(1000);
  EXPECT_GE(*of(counters_.read(), Counter::page_faults), 1000);
  EXPECT_LT(*of(counters_.read(), Counter::page_faults), 1000);
}

// The kernel's clock of tasks and the raw one differ where a hypervisor takes the processor away: a wrong count is too
// large in every window.
TEST_F(CountersTest, TimeOnProcessorsIsThatOfTheProcess) {
  double least = 2;
  for (int window = 0; window < 5; ++window) {
    timespec begin{}, end{};
    clock_gettime(CLOCK_MONOTONIC_RAW, &begin);
    counters_.read();
    volatile int64_t sum = 0;
    for (int64_t i = 0; i < 20'000'000; ++i) sum = sum + i;
    const Counts counts = counters_.read();
    clock_gettime(CLOCK_MONOTONIC_RAW, &end);
    const int64_t wall = (end.tv_sec - begin.tv_sec) * 1'000'000'000 + end.tv_nsec - begin.tv_nsec;
    EXPECT_GT(*of(counts, Counter::task_clock_ns), 1'000'000);
    least = std::min(least, static_cast<double>(*of(counts, Counter::task_clock_ns)) / static_cast<double>(wall));
  }
  EXPECT_LE(least, 1.01);
}

TEST(Counters, EachCountsOrSaysWhyNot) {
  Counters counters;
  const Counts counts = counters.read();
  for (size_t i = 0; i < kCounters; ++i) {
    const auto counter = static_cast<Counter>(i);
    const bool counts_it = counters.why_absent(counter).empty();
    if (!counts_it) {
      EXPECT_EQ(of(counts, counter), std::nullopt) << name(counter);
    } else if (!of_processor(counter)) {
      EXPECT_TRUE(of(counts, counter)) << name(counter);
    }
  }
}

TEST(PerfEvent, RefusalsNameWhatIsMissing) {
  EXPECT_EQ(refusal_of(ENOENT).remedy, "give the virtual machine a virtual PMU");
  EXPECT_NE(refusal_of(EACCES).remedy.find("perf_event_paranoid"), std::string::npos);
  perf_event_attr unknown{};
  unknown.type = PERF_TYPE_SOFTWARE;
  unknown.config = 1 << 20;
  const PerfEvent event(unknown, 0);
  EXPECT_FALSE(event.is_open());
  EXPECT_NE(event.refusal(), 0);
}

}  // namespace
}  // namespace tbd
