#include "measure/gpu/gpu_use.h"

#include <gtest/gtest.h>

namespace tbd {
namespace {

using Flags = std::vector<std::string>;

constexpr int64_t kTenth = 100'000'000;  // ns

// A device at steady work for ten seconds: 300 W, 1700 MHz.
GpuSeries steady_series() {
  GpuSeries series;
  for (int64_t i = 0; i <= 100; ++i)
    series.samples.push_back({.time_ns = i * kTenth,
                              .util_gpu = 0.9,
                              .memory_bytes = 4'000'000'000,
                              .sm_clock_mhz = 1700,
                              .power_w = 300,
                              .energy_joules = 5000 + 30.0 * static_cast<double>(i),
                              .throttle_reasons = 0});
  return series;
}

std::vector<GpuProcess> listed(const std::vector<int64_t>& pids) {
  std::vector<GpuProcess> processes;
  for (const int64_t pid : pids) processes.push_back({.pid = pid});
  return processes;
}

GpuUse use_of(const GpuSeries& series) { return gpu_use(series, 0, 100 * kTenth, {}).value(); }

TEST(GpuUse, OfASteadyDeviceHasNoFlags) {
  const GpuUse use = use_of(steady_series());
  EXPECT_DOUBLE_EQ(use.sampled_s, 10);
  EXPECT_EQ(use.samples, 101);
  EXPECT_NEAR(use.util_gpu->mean, 0.9, 1e-12);
  EXPECT_NEAR(use.energy_joules.value(), 3000, 1e-6);
  EXPECT_FALSE(use.energy_from_power);
  EXPECT_EQ(use.clock_drift, 0);
  EXPECT_EQ(use.throttled_fraction, 0);
  EXPECT_EQ(use.other_processes, std::nullopt);
  EXPECT_EQ(use.flags, Flags{});
}

TEST(GpuUse, KeepsPeaksApartFromMeans) {
  GpuSeries series = steady_series();
  series.samples[50].memory_bytes = 9'000'000'000;
  const GpuUse use = use_of(series);
  EXPECT_EQ(use.memory_bytes->peak, 9'000'000'000);
  EXPECT_LT(use.memory_bytes->mean, 4'100'000'000);
}

TEST(GpuUse, IsOfTheWindowAlone) {
  GpuSeries series = steady_series();
  series.samples[5].power_w = 700;
  const GpuUse use = gpu_use(series, 20 * kTenth, 40 * kTenth, {}).value();
  EXPECT_EQ(use.samples, 21);
  EXPECT_EQ(use.power_w->peak, 300);
  EXPECT_NEAR(use.energy_joules.value(), 600, 1e-6);
}

// The device may idle for most of the first step, and take memory in it that it gives back.
TEST(GpuUse, OfTrainingBeginsAfterTheFirstStep) {
  GpuSeries series = steady_series();
  for (size_t i = 0; i < 60; ++i) {
    series.samples[i].util_gpu = 0;
    series.samples[i].power_w = 100;
    series.samples[i].memory_bytes = 9'000'000'000;
    series.samples[i].sm_clock_mhz = 1000;
    series.samples[i].throttle_reasons = kPowerCap;
  }
  const GpuUse use = gpu_use(series, 0, 100 * kTenth, {}, 60 * kTenth).value();
  EXPECT_NEAR(use.util_gpu->mean, 0.9, 1e-12);
  EXPECT_EQ(use.power_w->peak, 300);
  EXPECT_NEAR(use.power_w->mean, 300, 1e-9);
  EXPECT_EQ(use.clock_drift, 0);
  EXPECT_EQ(use.flags, Flags{});
  EXPECT_EQ(use.memory_bytes->peak, 9'000'000'000);
  EXPECT_NEAR(use.energy_joules.value(), 3000, 1e-6);
  const GpuUse all = gpu_use(series, 0, 100 * kTenth, {}, 200 * kTenth).value();
  EXPECT_LT(all.util_gpu->mean, 0.5) << "no sample is left: of all";
}

TEST(GpuUse, ScalesEnergyFromTheSamplesToTheWindow) {
  const GpuUse use = gpu_use(steady_series(), 10 * kTenth + 1, 20 * kTenth - 1, {}).value();
  EXPECT_DOUBLE_EQ(use.sampled_s, 0.8);
  EXPECT_NEAR(use.energy_joules.value(), 300, 1e-3);
}

TEST(GpuUse, IsAbsentWhereSamplesCoverLessThanHalf) {
  GpuSeries series = steady_series();
  series.samples.resize(50);
  EXPECT_FALSE(gpu_use(series, 0, 100 * kTenth, {}));
  EXPECT_FALSE(gpu_use({}, 0, 100 * kTenth, {}));
}

TEST(GpuUse, TakesEnergyFromPowerWithoutACounter) {
  GpuSeries series = steady_series();
  for (GpuSample& sample : series.samples) sample.energy_joules.reset();
  const GpuUse use = use_of(series);
  EXPECT_NEAR(use.energy_joules.value(), 3000, 1e-6);
  EXPECT_TRUE(use.energy_from_power);
}

TEST(GpuUse, DoesNotTrustACounterThatWentBack) {
  GpuSeries series = steady_series();
  for (size_t i = 50; i <= 100; ++i) *series.samples[i].energy_joules -= 5000;
  EXPECT_TRUE(use_of(series).energy_from_power);
}

TEST(GpuUse, HasNoEnergyWithoutCounterAndPower) {
  GpuSeries series = steady_series();
  for (GpuSample& sample : series.samples) {
    sample.energy_joules.reset();
    sample.power_w.reset();
  }
  EXPECT_EQ(use_of(series).energy_joules, std::nullopt);
  EXPECT_FALSE(use_of(series).energy_from_power);
}

TEST(GpuUse, FlagsAThrottledDevice) {
  GpuSeries series = steady_series();
  series.samples[10].throttle_reasons = kPowerCap;
  series.samples[11].throttle_reasons = kPowerCap | kThermalSlowdown;
  const GpuUse use = use_of(series);
  EXPECT_EQ(use.flags, Flags{"throttled"});
  EXPECT_NEAR(use.throttled_fraction.value(), 2.0 / 101, 1e-12);
  EXPECT_EQ(use.throttle_reasons, (Flags{"power cap", "thermal slowdown"}));
}

TEST(GpuUse, DoesNotTakeIdlenessAndChosenClocksForThrottling) {
  GpuSeries series = steady_series();
  for (GpuSample& sample : series.samples) sample.throttle_reasons = kClocksSetByUser;
  series.samples[0].throttle_reasons = kGpuIdle;
  EXPECT_EQ(use_of(series).flags, Flags{});
}

TEST(GpuUse, FlagsAClockThatDrifts) {
  GpuSeries series = steady_series();
  for (size_t i = 60; i <= 100; ++i) series.samples[i].sm_clock_mhz = 1640;
  const GpuUse use = use_of(series);
  EXPECT_EQ(use.flags, Flags{"clock-drift"});
  EXPECT_NEAR(use.clock_drift.value(), 1640.0 / 1700 - 1, 1e-12);
  EXPECT_EQ(use.reasons, Flags{"SM clock from 1700 to 1640 MHz"});
}

TEST(GpuUse, LeavesIdleSamplesOutOfTheDrift) {
  GpuSeries series = steady_series();
  for (size_t i = 80; i <= 100; ++i) {
    series.samples[i].sm_clock_mhz = 210;
    series.samples[i].throttle_reasons = kGpuIdle;
  }
  EXPECT_EQ(use_of(series).flags, Flags{});
}

TEST(GpuUse, FlagsADeviceThatIsShared) {
  GpuSeries series = steady_series();
  series.samples[30].processes = listed({7, 8});
  series.samples[40].processes = listed({7});
  const GpuUse use = gpu_use(series, 0, 100 * kTenth, {7}).value();
  EXPECT_EQ(use.flags, Flags{"shared-device"});
  EXPECT_EQ(use.other_processes, 1);
}

TEST(GpuUse, TakesALoneProcessOfAnotherNumberForItsOwn) {
  GpuSeries series = steady_series();
  series.samples[30].processes = listed({40007});
  EXPECT_EQ(gpu_use(series, 0, 100 * kTenth, {7})->other_processes, 0);
  series.samples[40].processes = listed({40007, 40008});
  EXPECT_EQ(gpu_use(series, 0, 100 * kTenth, {7})->other_processes, 1);
}

TEST(GpuUse, CountsTheMemoryOfItsOwnProcess) {
  GpuSeries series = steady_series();
  EXPECT_FALSE(gpu_use(series, 0, 100 * kTenth, {7})->process_memory_bytes);
  series.samples[30].processes = {{.pid = 7, .used_bytes = 100}, {.pid = 8, .used_bytes = 4000}};
  series.samples[40].processes = {{.pid = 7, .used_bytes = 300}};
  const auto own = gpu_use(series, 0, 100 * kTenth, {7})->process_memory_bytes;
  ASSERT_TRUE(own);
  EXPECT_EQ(own->mean, 200);
  EXPECT_EQ(own->peak, 300);
}

TEST(GpuUse, CountsTheMemoryOfAProcessOfAnotherNumberOnlyWhereItIsAlone) {
  GpuSeries series = steady_series();
  series.samples[30].processes = {{.pid = 40007, .used_bytes = 100}};
  series.samples[40].processes = {{.pid = 40007, .used_bytes = 900}, {.pid = 40008, .used_bytes = 900}};
  series.samples[50].processes = listed({7});
  const auto own = gpu_use(series, 0, 100 * kTenth, {7})->process_memory_bytes;
  ASSERT_TRUE(own);
  EXPECT_EQ(own->peak, 100);
}

}  // namespace
}  // namespace tbd
