#include "measure/host_sampler.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "base/error.h"
#include "measure/clock.h"
#include "measure/host_use.h"

namespace tbd {
namespace {

using std::chrono::milliseconds;

int64_t thread_cpu_ns() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return ns_of(t);
}

void burn_ns(int64_t ns) {
  for (const int64_t end = thread_cpu_ns() + ns; thread_cpu_ns() < end;) {
  }
}

TEST(HostSampler, BurningThreadShowsInItsOwnTime) {
  HostSampler sampler(getpid());
  std::atomic<bool> burnt = false, stop = false;
  const HostSample before = sampler.sample();
  std::thread burner([&] {
    prctl(PR_SET_NAME, "burner");
    burn_ns(50'000'000);
    burnt = true;
    while (!stop) std::this_thread::sleep_for(milliseconds(1));
  });
  while (!burnt) std::this_thread::sleep_for(milliseconds(1));
  const HostDelta delta = difference(before, sampler.sample());
  stop = true;
  burner.join();
  ASSERT_TRUE(delta.cpu_ns);
  EXPECT_GE(*delta.cpu_ns, 50'000'000);
  const auto found =
      std::find_if(delta.threads.begin(), delta.threads.end(), [](const ThreadUse& t) { return t.name == "burner"; });
  ASSERT_NE(found, delta.threads.end());
  EXPECT_GE(found->cpu_ns, 49'000'000);
  EXPECT_NE(found->thread, found->process);
  const HostUse use = host_use(delta, 2);
  EXPECT_GT(*use.busy_cores, 0);
  EXPECT_DOUBLE_EQ(*use.util_cpu, *use.busy_cores / 2);
}

TEST(HostSampler, EndedThreadStaysInTheProcessTime) {
  HostSampler sampler(getpid());
  const HostSample before = sampler.sample();
  std::thread([] { burn_ns(30'000'000); }).join();
  EXPECT_GE(difference(before, sampler.sample()).cpu_ns.value_or(0), 30'000'000);
}

TEST(HostSampler, TouchingPagesCountsFaultsAndResidentBytes) {
  constexpr size_t kBytes = 32 << 20;
  HostSampler sampler(getpid());
  StepSampler step;
  const HostSample before = sampler.sample();
  const StepUsage step_before = step.read();
  void* pages = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  madvise(pages, kBytes, MADV_NOHUGEPAGE);
  for (size_t i = 0; i < kBytes; i += 4096) static_cast<volatile char*>(pages)[i] = 1;
  const StepUsage step_after = step.read();
  const HostSample after = sampler.sample();
  munmap(pages, kBytes);
  const int64_t pages_touched = kBytes / sysconf(_SC_PAGESIZE);
  EXPECT_GE(*difference(before, after).minor_faults, pages_touched);
  EXPECT_GE(after.rss_bytes - before.rss_bytes, static_cast<int64_t>(kBytes) * 9 / 10);
  EXPECT_GE(*after.peak_rss_bytes, after.rss_bytes * 9 / 10);
  EXPECT_GE(step_after.minor_faults - step_before.minor_faults, pages_touched);
  EXPECT_GE(step_after.rss_bytes - step_before.rss_bytes, static_cast<int64_t>(kBytes) * 9 / 10);
  EXPECT_GE(step_after.peak_rss_bytes, step_after.rss_bytes * 9 / 10);
}

TEST(HostSampler, SeesChildrenAliveAndWaitedFor) {
  HostSampler sampler(getpid());
  const HostSample before = sampler.sample();
  EXPECT_EQ(before.processes, 1);
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    burn_ns(60'000'000);
    [[maybe_unused]] const ssize_t sent = write(ready[1], "x", 1);
    pause();
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  const HostSample alive = sampler.sample();
  EXPECT_EQ(alive.processes, 2);
  EXPECT_GE(difference(before, alive).cpu_ns.value_or(0), 60'000'000);
  HostSampler of_child(child);
  EXPECT_GE(of_child.sample().cpu_ns, 60'000'000);
  EXPECT_EQ(process_tree(child), std::vector<pid_t>{child});
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  const HostSample after = sampler.sample();
  EXPECT_EQ(after.processes, 1);
  EXPECT_GE(difference(before, after).cpu_ns.value_or(0), 50'000'000) << "in the parent's count, by ticks";
  EXPECT_THROW(of_child.sample(), Error);
  close(ready[0]);
  close(ready[1]);
}

TEST(HostSampler, MachineTimeAddsUpToWallTime) {
  HostSampler sampler(getpid());
  const HostSample before = sampler.sample();
  ASSERT_FALSE(before.cpus.empty());
  std::this_thread::sleep_for(milliseconds(300));
  const HostDelta delta = difference(before, sampler.sample());
  const double wall_ticks =
      static_cast<double>(delta.wall_ns * delta.machine_cpus) * 1e-9 * static_cast<double>(sysconf(_SC_CLK_TCK));
  EXPECT_NEAR(static_cast<double>(delta.machine.total()), wall_ticks, 0.25 * wall_ticks);
}

// Prints what a sample costs here: test_measure --gtest_also_run_disabled_tests --gtest_filter='*SamplerCost*'
TEST(SamplerCost, DISABLED_Report) {
  const auto median_us = [](auto&& read) {
    std::vector<int64_t> ns;
    for (int i = 0; i < 2001; ++i) {
      const int64_t begin = now_ns();
      read();
      ns.push_back(now_ns() - begin);
    }
    std::nth_element(ns.begin(), ns.begin() + 1000, ns.end());
    return static_cast<double>(ns[1000]) / 1000;
  };
  StepSampler step;
  HostSampler host(getpid());
  fprintf(stderr, "now_ns %.3f us, StepSampler::read %.2f us, HostSampler::sample %.1f us\n",
          median_us([] { now_ns(); }), median_us([&] { step.read(); }), median_us([&] { host.sample(); }));
}

}  // namespace
}  // namespace tbd
