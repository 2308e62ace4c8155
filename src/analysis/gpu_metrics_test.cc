#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/cell.h"
#include "analysis/sample_record.h"

namespace tbd {
namespace {

using testing::HasSubstr;
using testing::Not;

// Two launches on a GPU, sampled as a driver would; the device works for 90 % of each step.
Record gpu_record() {
  Record record = sample_record({.launches = 2});
  record.run.workload.device = Device("cuda:0");
  for (Launch& launch : record.launches) {
    const auto n = static_cast<double>(launch.info.number);
    launch.info.gpu.emplace();
    **launch.info.gpu = {{"name", "NVIDIA T4"},
                         {"use",
                          {{"util_gpu", {{"mean", 0.7 + 0.1 * n}, {"peak", 1}}},
                           {"memory_bytes", {{"mean", 2e9}, {"peak", 3e9 + n}}},
                           {"power_w", {{"mean", 70}, {"peak", 75}}},
                           {"energy_joules", 2100}}}};
    int64_t last = launch.info.first_step_began_ns.value();
    for (StepRow& row : launch.steps) {
      row.device_ns = (row.completed_ns - last) * 9 / 10;
      last = row.completed_ns;
    }
  }
  return record;
}

TEST(GpuMetrics, AreWhatTheDriverSaidDuringTheSteps) {
  const CellResult cell = summarize(gpu_record());
  EXPECT_NEAR(cell["gpu_utilization"].value.value(), 0.85, 1e-12);
  EXPECT_EQ(cell["gpu_memory_bytes"].value, 3e9 + 2);
  EXPECT_EQ(cell["gpu_power"].value, 70);
  EXPECT_NEAR(cell["device_share"].value.value(), 0.9, 1e-6);
  EXPECT_FALSE(cell["gpu_clock"].value);
  EXPECT_EQ(cell["gpu_clock"].reason, "the driver does not report it");
}

TEST(GpuMetrics, EnergyIsThatOfTheBoard) {
  Record record = gpu_record();
  for (Launch& launch : record.launches) launch.info.energy_joules = 1;  // of the processor
  const CellResult cell = summarize(record);
  EXPECT_EQ(cell["energy_joules"].value, 4200);
  EXPECT_NEAR(cell["energy_per_unit"].value.value(), 4200.0 / (2 * 120 * 8), 1e-9);
}

TEST(GpuMetrics, OfALaunchWithoutSamplesSayWhy) {
  Record record = gpu_record();
  **record.launches[1].info.gpu = {{"reason", "the device has fallen off the bus"}};
  const CellResult cell = summarize(record);
  EXPECT_EQ(cell["gpu_utilization"].reason, "the device has fallen off the bus");
  EXPECT_FALSE(cell["energy_joules"].value);
}

TEST(GpuMetrics, StandInTheTableOfGpusAlone) {
  const CellResult gpu[] = {summarize(gpu_record())}, cpu[] = {summarize(sample_record())};
  EXPECT_THAT(print_cells(gpu, Format::text), HasSubstr("GPU utilization"));
  EXPECT_THAT(print_cells(gpu, Format::text), HasSubstr("85.0 %"));
  EXPECT_THAT(print_cells(cpu, Format::text), Not(HasSubstr("GPU")));
  EXPECT_EQ(cpu[0]["gpu_utilization"].reason, "the workload ran on no GPU");
}

}  // namespace
}  // namespace tbd
