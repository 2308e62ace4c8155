#include "measure/busy_time.h"

#include <gtest/gtest.h>

#include <thread>

#include "measure/clock.h"
#include "measure/cores.h"

namespace tbd {
namespace {

constexpr int64_t kNs = 400'000'000, kTicksNs = 30'000'000;

TEST(BusyTime, GrowsWithWhatIsDone) {
  const int cpu = allowed_cpus().front();
  const std::optional<int64_t> before = busy_ns({cpu});
  if (!before) GTEST_SKIP() << "/proc/stat does not say how long processors were idle";
  const int64_t began = now_ns();
  std::thread([&] {
    bind_thread({cpu});
    while (now_ns() - began < kNs) continue;
  }).join();
  const int64_t busy = busy_ns({cpu}).value() - *before, wall = now_ns() - began;
  EXPECT_GT(busy, kNs / 2) << "what the host takes of a virtual machine is not in it";
  EXPECT_LT(busy, wall + kTicksNs);
}

TEST(BusyTime, OfSeveralProcessorsIsTheirSum) {
  const std::vector<int> cpus = allowed_cpus();
  const std::optional<int64_t> before = busy_ns(cpus);
  if (!before) GTEST_SKIP() << "/proc/stat does not say how long processors were idle";
  const int64_t began = now_ns();
  std::this_thread::sleep_for(std::chrono::nanoseconds(kNs));
  const int64_t busy = busy_ns(cpus).value() - *before, wall = now_ns() - began;
  EXPECT_GE(busy, -kTicksNs);
  EXPECT_LT(busy, std::ssize(cpus) * (wall + kTicksNs));
}

TEST(BusyTime, OfNoSuchProcessorIsUnknown) { EXPECT_EQ(busy_ns({1 << 20}), std::nullopt); }

}  // namespace
}  // namespace tbd
