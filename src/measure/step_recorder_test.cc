#include "measure/step_recorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "measure/clock.h"

namespace tbd {
namespace {

TEST(StepRecorder, RowsComeOutInOrderAcrossThreads) {
  constexpr int64_t kRows = 20'000;
  StepRecorder recorder(64);
  std::thread writer([&] {
    for (int64_t i = 1; i <= kRows; ++i)
      while (!recorder.append({.step = i, .completed_ns = 3 * i})) std::this_thread::yield();
  });
  int64_t next = 1;
  while (next <= kRows)
    for (const StepRow& row : recorder.take()) {
      ASSERT_EQ(row.step, next);
      ASSERT_EQ(row.completed_ns, 3 * next);
      ++next;
    }
  writer.join();
  EXPECT_TRUE(recorder.take().empty());
}

TEST(StepRecorder, AFullRingDropsAndCounts) {
  StepRecorder recorder(3);
  for (int64_t i = 1; i <= 6; ++i) EXPECT_EQ(recorder.append({.step = i}), i <= 4) << "capacity is rounded up to 4";
  EXPECT_EQ(recorder.dropped(), 2);
  EXPECT_EQ(recorder.take().size(), 4u);
  EXPECT_TRUE(recorder.append({.step = 7}));
}

TEST(StepMeter, RowHoldsWhatTheStepUsed) {
  const int64_t zero = now_ns();
  StepMeter meter(zero);
  std::vector<char> pages(8 << 20);
  const int64_t busy_until = now_ns() + 30'000'000;
  while (now_ns() < busy_until)
    for (size_t i = 0; i < pages.size(); i += 4096) ++pages[i];
  const StepRow row = meter.finish({.number = 3, .input_wait_ns = 5, .units = 8, .loss = 1.5});
  EXPECT_EQ(row.step, 3);
  EXPECT_EQ(row.units, 8);
  EXPECT_EQ(row.input_wait_ns, 5);
  EXPECT_EQ(row.loss, 1.5);
  EXPECT_GE(row.completed_ns, 30'000'000);
  EXPECT_LE(row.completed_ns, now_ns() - zero);
  EXPECT_GT(*row.user_cpu_ns + *row.system_cpu_ns, 1'000'000);
  EXPECT_GT(*row.minor_faults, 10);
  EXPECT_GE(*row.rss_bytes, 8 << 20);
  EXPECT_GE(row.runqueue_wait_ns.value_or(0), 0);
  EXPECT_GE(row.steal_ticks.value_or(0), 0);
  meter.restart();
  EXPECT_LT(*meter.finish({.number = 4}).minor_faults, 100);
}

TEST(StepMeter, WaitingForACoreShows) {
  RunqueueSampler runqueue;
  if (!runqueue.read_ns()) GTEST_SKIP() << "the kernel keeps no schedstat";
  const int64_t before = *runqueue.read_ns();
  std::vector<std::jthread> crowd;  // more busy threads than cores: some wait
  for (unsigned i = 0; i < 2 * std::thread::hardware_concurrency() + 1; ++i)
    crowd.emplace_back([](std::stop_token stop) {
      while (!stop.stop_requested()) {
      }
    });
  const int64_t until = now_ns() + 60'000'000;
  int64_t waited = 0;
  for (int i = 0; i < 64 || now_ns() < until; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    waited = *runqueue.read_ns() - before;
  }
  EXPECT_GT(waited, 5'000'000);
}

TEST(ProcessStart, IsBeforeNowAndAfterBoot) {
  EXPECT_LT(process_start_ns(), now_ns());
  EXPECT_NEAR(static_cast<double>(process_start_ns()), static_cast<double>(process_start_ns()), 1e6);
  EXPECT_LT(now_ns() - process_start_ns(), int64_t{600} * 1'000'000'000) << "tests do not run for ten minutes";
}

// Prints what a row costs: test_measure --gtest_also_run_disabled_tests --gtest_filter='*StepCost*'
TEST(StepCost, DISABLED_Report) {
  const auto median_us = [](auto&& work) {
    std::vector<int64_t> ns;
    for (int i = 0; i < 4001; ++i) {
      const int64_t begin = now_ns();
      work();
      ns.push_back(now_ns() - begin);
    }
    std::nth_element(ns.begin(), ns.begin() + 2000, ns.end());
    return static_cast<double>(ns[2000]) / 1000;
  };
  StepRecorder recorder;
  StepMeter meter(0);
  fprintf(stderr, "append %.3f us, StepMeter::finish %.2f us (1 thread)\n",
          median_us([&] { recorder.append({.step = 1}); }), median_us([&] { meter.finish({.number = 1}); }));
}

}  // namespace
}  // namespace tbd
