#include "measure/speed_probe.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "measure/clock.h"
#include "measure/cores.h"
#include "measure/peaks/kernel.h"

namespace tbd {
namespace {

TEST(SpeedProbe, MeasuresTheSlowestOfItsCores) {
  SpeedProbe probe(allowed_cpus());
  const CoreSpeed speed = probe.measure();
  EXPECT_GT(speed.read_byte_rate, 1e8);
  EXPECT_LT(speed.read_byte_rate, 1e12);
  if (flop_kernels().empty()) GTEST_SKIP() << "no register kernel for this processor";
  ASSERT_TRUE(speed.fma_flop_rate);
  EXPECT_GT(*speed.fma_flop_rate, 1e9);
  EXPECT_LT(*speed.fma_flop_rate, 1e12);
}

TEST(SpeedProbe, TakesAboutAMillisecondOfEachCore) {
  SpeedProbe probe(allowed_cpus());
  probe.measure();
  int64_t fastest = INT64_MAX;
  for (int i = 0; i < 20; ++i) {
    const int64_t begin = now_ns();
    probe.measure();
    fastest = std::min(fastest, now_ns() - begin);
  }
  EXPECT_LT(fastest, 5'000'000);
  EXPECT_GT(fastest, 100'000);
}

// Two threads on one core share it: the part that counts is the one that was not interrupted, so that run-queue wait,
// which the kernel counts, is not counted again.
TEST(SpeedProbe, SeesNoWaitForAProcessor) {
  const int cpu = allowed_cpus().front();
  SpeedProbe probe({cpu});
  double alone = 0, beside = 0;
  for (int i = 0; i < 10; ++i) alone = std::max(alone, probe.measure().fma_flop_rate.value_or(1));
  std::atomic<bool> stop = false;
  std::thread rival([&] {
    bind_thread({cpu});
    while (!stop) {
    }
  });
  for (int i = 0; i < 10; ++i) beside = std::max(beside, probe.measure().fma_flop_rate.value_or(1));
  stop = true;
  rival.join();
  EXPECT_GT(beside, 0.5 * alone);
}

}  // namespace
}  // namespace tbd
