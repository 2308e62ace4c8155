#include "measure/gpu/gpu_sampler.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "measure/gpu/gpu_use.h"
#include "measure/gpu/testing_nvml.h"

namespace tbd {
namespace {

constexpr std::string_view kBusyDevice = R"(
nvmlDeviceGetCount_v2 1
0 nvmlDeviceGetMemoryInfo 1000000 400000
0 nvmlDeviceGetUtilizationRates 80 30 | 100 50
0 nvmlDeviceGetClockInfo.sm 1700
0 nvmlDeviceGetClockInfo.memory 2600
0 nvmlDeviceGetPowerUsage 250000 | 350000
0 nvmlDeviceGetTotalEnergyConsumption 1000000 | 1030000
0 nvmlDeviceGetTemperature 60
0 nvmlDeviceGetCurrentClocksThrottleReasons 0 | 4
0 nvmlDeviceGetComputeRunningProcesses_v3 12:1000 | 99:1000
)";

TEST(GpuSampler, ReadsEachField) {
  const ScriptedNvml scripted(TBD_BINARY_DIR, kBusyDevice);
  const Nvml nvml(scripted.library());
  GpuSampler sampler(*nvml.device(0));
  ASSERT_TRUE(sampler.sample());
  ASSERT_TRUE(sampler.sample());
  const GpuSeries series = sampler.take();
  ASSERT_EQ(series.samples.size(), 2u);
  EXPECT_TRUE(series.missing.empty());
  EXPECT_EQ(series.ended, "");
  const GpuSample &first = series.samples[0], &second = series.samples[1];
  EXPECT_LT(first.time_ns, second.time_ns);
  EXPECT_EQ(first.util_gpu, 0.8);
  EXPECT_EQ(second.util_memory, 0.5);
  EXPECT_EQ(first.memory_bytes, 400000);
  EXPECT_EQ(first.sm_clock_mhz, 1700);
  EXPECT_EQ(first.memory_clock_mhz, 2600);
  EXPECT_EQ(second.power_w, 350);
  EXPECT_EQ(second.energy_joules, 1030);
  EXPECT_EQ(first.temperature_celsius, 60);
  EXPECT_EQ(second.throttle_reasons, kPowerCap);
  EXPECT_EQ(first.processes->at(0).pid, 12);
  EXPECT_FALSE(second.processes) << "asked for once a second";
}

TEST(GpuSampler, KeepsTheReasonOfWhatIsMissing) {
  const ScriptedNvml scripted(TBD_BINARY_DIR,
                              "nvmlDeviceGetCount_v2 1\n0 nvmlDeviceGetPowerUsage !4\n0 nvmlDeviceGetTemperature 50\n");
  const Nvml nvml(scripted.library());
  GpuSampler sampler(*nvml.device(0));
  ASSERT_TRUE(sampler.sample());
  const GpuSeries series = sampler.take();
  EXPECT_EQ(series.samples[0].power_w, std::nullopt);
  EXPECT_EQ(series.samples[0].temperature_celsius, 50);
  EXPECT_EQ(series.missing.at("power_w"), "this user has no permission (nvmlDeviceGetPowerUsage)");
  EXPECT_EQ(series.missing.at("utilization"), "the device does not report it (nvmlDeviceGetUtilizationRates)");
  EXPECT_FALSE(series.missing.contains("temperature_celsius"));
}

TEST(GpuSampler, EndsWhenTheDeviceIsLost) {
  const ScriptedNvml scripted(TBD_BINARY_DIR, cat(kBusyDevice, "0 lost-after 25\n"));
  const Nvml nvml(scripted.library());
  GpuSampler sampler(*nvml.device(0));  // its handle, then 9 questions, then 8 at a time
  EXPECT_TRUE(sampler.sample());
  EXPECT_TRUE(sampler.sample());
  EXPECT_FALSE(sampler.sample());
  EXPECT_FALSE(sampler.sample());
  const GpuSeries series = sampler.take();
  EXPECT_EQ(series.samples.size(), 2u);
  EXPECT_TRUE(series.ended.starts_with("the device has fallen off the bus")) << series.ended;
}

TEST(GpuWatch, SamplesUntilItIsStopped) {
  const ScriptedNvml scripted(TBD_BINARY_DIR, kBusyDevice);
  const Nvml nvml(scripted.library());
  GpuWatch watch(*nvml.device(0), std::chrono::milliseconds(10));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const GpuSeries series = watch.stop();
  EXPECT_GE(series.samples.size(), 5u);  // 20 but for other work on the machine
  const auto use = gpu_use(series, series.samples.front().time_ns, series.samples.back().time_ns, /*own=*/{12});
  ASSERT_TRUE(use);
  EXPECT_EQ(use->flags, std::vector<std::string>{"throttled"});
}

TEST(GpuWatch, StopsAtOnceWhateverThePeriod) {
  const ScriptedNvml scripted(TBD_BINARY_DIR, kBusyDevice);
  const Nvml nvml(scripted.library());
  const auto begin = std::chrono::steady_clock::now();
  GpuWatch watch(*nvml.device(0), std::chrono::hours(1));
  EXPECT_GE(watch.stop().samples.size(), 1u);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::minutes(1));
}

TEST(GpuWatch, OfALostDeviceEndsWithItsReason) {
  const ScriptedNvml scripted(TBD_BINARY_DIR, cat(kBusyDevice, "0 lost-after 1\n"));
  const Nvml nvml(scripted.library());
  GpuWatch watch(*nvml.device(0), std::chrono::milliseconds(10));
  const GpuSeries series = watch.stop();
  EXPECT_TRUE(series.samples.empty());
  EXPECT_NE(series.ended, "");
}

}  // namespace
}  // namespace tbd
