#include "measure/gpu/nvml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "measure/gpu/own_memory.h"
#include "measure/gpu/testing_nvml.h"

namespace tbd {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kTwoDevices = R"(
nvmlSystemGetDriverVersion 580.65.06
nvmlSystemGetCudaDriverVersion_v2 13010
nvmlDeviceGetCount_v2 2
0 nvmlDeviceGetName NVIDIA H100 80GB HBM3
0 nvmlDeviceGetUUID GPU-5a1c
0 nvmlDeviceGetPciInfo_v3 00000000:65:00.0
0 nvmlDeviceGetMemoryInfo 85520809984 1073741824
0 nvmlDeviceGetUtilizationRates 97 41
0 nvmlDeviceGetClockInfo.sm 1755
0 nvmlDeviceGetClockInfo.memory 2619
0 nvmlDeviceGetMaxClockInfo.sm 1980
0 nvmlDeviceGetMaxClockInfo.memory 2620
0 nvmlDeviceGetPowerUsage 512345
0 nvmlDeviceGetEnforcedPowerLimit 700000
0 nvmlDeviceGetTotalEnergyConsumption 9007199254740993
0 nvmlDeviceGetTemperature 61
0 nvmlDeviceGetCurrentClocksThrottleReasons 36
0 nvmlDeviceGetPersistenceMode 1
0 nvmlDeviceGetMigMode 0
0 nvmlDeviceGetEccMode 1
0 nvmlDeviceGetComputeRunningProcesses_v3 1234:500000000 99:-
1 nvmlDeviceGetName NVIDIA T4
1 nvmlDeviceGetMigMode !3
1 nvmlDeviceGetPowerUsage !4
1 nvmlDeviceGetTemperature !999
)";

TEST(Nvml, ReadsADevice) {
  const ScriptedNvml scripted(TBD_BINARY_DIR, kTwoDevices);
  const Nvml nvml(scripted.library());
  ASSERT_EQ(nvml.refusal().fault, NvmlFault::none) << nvml.refusal().reason;
  EXPECT_EQ(*nvml.driver_version(), "580.65.06");
  EXPECT_EQ(*nvml.cuda_version(), "13.1");
  EXPECT_EQ(*nvml.device_count(), 2);
  const NvmlDevice gpu = *nvml.device(0);
  EXPECT_EQ(*gpu.name(), "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(*gpu.uuid(), "GPU-5a1c");
  EXPECT_EQ(*gpu.pci_bus_id(), "00000000:65:00.0");
  EXPECT_EQ(gpu.memory()->total_bytes, 85520809984);
  EXPECT_EQ(gpu.memory()->used_bytes, 1 << 30);
  EXPECT_DOUBLE_EQ(gpu.utilization()->gpu, 0.97);
  EXPECT_DOUBLE_EQ(gpu.utilization()->memory, 0.41);
  EXPECT_EQ(*gpu.sm_clock_mhz(), 1755);
  EXPECT_EQ(*gpu.memory_clock_mhz(), 2619);
  EXPECT_EQ(*gpu.max_sm_clock_mhz(), 1980);
  EXPECT_EQ(*gpu.max_memory_clock_mhz(), 2620);
  EXPECT_DOUBLE_EQ(*gpu.power_w(), 512.345);
  EXPECT_DOUBLE_EQ(*gpu.power_limit_w(), 700);
  EXPECT_NEAR(*gpu.energy_joules(), 9007199254740.993, 0.01);
  EXPECT_EQ(*gpu.temperature_celsius(), 61);
  EXPECT_THAT(throttle_names(*gpu.throttle_reasons()), ElementsAre("power cap", "thermal slowdown"));
  EXPECT_TRUE(*gpu.persistence());
  EXPECT_FALSE(*gpu.mig());
  EXPECT_TRUE(*gpu.ecc());
}

TEST(Nvml, TellsAProcessWhoseMemoryIsUnknown) {
  const ScriptedNvml scripted(TBD_BINARY_DIR, kTwoDevices);
  const Nvml nvml(scripted.library());
  const std::vector<GpuProcess> processes = *nvml.device(0)->compute_processes();
  ASSERT_EQ(processes.size(), 2u);
  EXPECT_EQ(processes[0].pid, 1234);
  EXPECT_EQ(processes[0].used_bytes, 500'000'000);
  EXPECT_EQ(processes[1].pid, 99);
  EXPECT_EQ(processes[1].used_bytes, std::nullopt);
}

TEST(Nvml, WhatADeviceRefusesIsAbsentWithItsReason) {
  const ScriptedNvml scripted(TBD_BINARY_DIR, kTwoDevices);
  const Nvml nvml(scripted.library());
  const NvmlDevice gpu = *nvml.device(1);
  EXPECT_EQ(gpu.power_w().value(), std::nullopt);
  EXPECT_EQ(gpu.power_w().fault(), NvmlFault::not_permitted);
  EXPECT_EQ(gpu.power_w().reason(), "this user has no permission (nvmlDeviceGetPowerUsage)");
  EXPECT_EQ(gpu.mig().fault(), NvmlFault::not_supported);
  EXPECT_EQ(gpu.energy_joules().reason(), "the device does not report it (nvmlDeviceGetTotalEnergyConsumption)");
  EXPECT_EQ(gpu.temperature_celsius().reason(), "Unknown Error (nvmlDeviceGetTemperature)");
}

TEST(Nvml, ADeviceBehindTheLastIsRefused) {
  const ScriptedNvml scripted(TBD_BINARY_DIR, kTwoDevices);
  EXPECT_THAT(Nvml(scripted.library()).device(2).reason(), EndsWith("(nvmlDeviceGetHandleByIndex_v2)"));
}

TEST(Nvml, ADeviceIsLostWhileItIsRead) {
  const ScriptedNvml scripted(TBD_BINARY_DIR,
                              "nvmlDeviceGetCount_v2 1\n0 nvmlDeviceGetPowerUsage 250000\n0 lost-after 3\n");
  const Nvml nvml(scripted.library());
  const NvmlDevice gpu = *nvml.device(0);  // the first of three calls
  EXPECT_TRUE(gpu.power_w());
  EXPECT_TRUE(gpu.power_w());
  EXPECT_EQ(gpu.power_w().fault(), NvmlFault::lost);
}

TEST(Nvml, AMissingLibraryIsNamed) {
  const Nvml nvml("libno-such-library.so.7");
  EXPECT_EQ(nvml.refusal().fault, NvmlFault::no_library);
  EXPECT_EQ(nvml.refusal().reason, "libno-such-library.so.7 is not there");
  EXPECT_EQ(nvml.device_count().fault(), NvmlFault::no_library);
  EXPECT_EQ(nvml.device(0).fault(), NvmlFault::no_library);
}

TEST(Nvml, ALibraryThatCannotBeLoadedSaysWhy) {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "libnvidia-ml.so.1";
  write_file(path, "no library");
  const Nvml nvml(path);
  EXPECT_EQ(nvml.refusal().fault, NvmlFault::no_library);
  EXPECT_THAT(nvml.refusal().reason, HasSubstr(path));
}

TEST(Nvml, AMissingFunctionIsNamed) {
  const Nvml nvml("libm.so.6");
  EXPECT_EQ(nvml.refusal().fault, NvmlFault::no_function);
  EXPECT_EQ(nvml.refusal().reason, "libm.so.6 has no nvmlInit_v2");
}

TEST(Nvml, ADriverThatDoesNotAnswerIsToldApart) {
  const std::pair<int, NvmlFault> faults[] = {{9, NvmlFault::no_driver},
                                              {4, NvmlFault::not_permitted},
                                              {17, NvmlFault::blocked},
                                              {18, NvmlFault::version_mismatch}};
  for (const auto& [code, fault] : faults) {
    const ScriptedNvml scripted(TBD_BINARY_DIR, cat("nvmlInit_v2 !", code));
    EXPECT_EQ(Nvml(scripted.library()).refusal().fault, fault) << code;
  }
}

TEST(OwnDeviceMemory, IsWhatIsUsedLessWhatWasUsedBefore) {
  const ScriptedNvml scripted(TBD_BINARY_DIR,
                              "nvmlDeviceGetCount_v2 2\n0 nvmlDeviceGetUUID GPU-1\n1 nvmlDeviceGetUUID GPU-2\n"
                              "1 nvmlDeviceGetMemoryInfo 1000 400 | 1000 900 | !999\n");
  const OwnDeviceMemory own("GPU-2", scripted.library());
  EXPECT_EQ(own.bytes(), 500);
  EXPECT_EQ(own.bytes(), std::nullopt);
  EXPECT_EQ(OwnDeviceMemory("GPU-3", scripted.library()).bytes(), std::nullopt);
  EXPECT_EQ(OwnDeviceMemory("GPU-2", "libno-such-library.so.7").bytes(), std::nullopt);
}

TEST(ThrottleNames, KeepABitWithoutAName) {
  EXPECT_THAT(throttle_names(0), IsEmpty());
  EXPECT_THAT(throttle_names(2048 | kGpuIdle), ElementsAre("idle", "reason 2048"));
}

}  // namespace
}  // namespace tbd
