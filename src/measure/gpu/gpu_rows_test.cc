#include "measure/gpu/gpu_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "measure/gpu/testing_nvml.h"

namespace tbd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr std::string_view kDriver = R"(
nvmlSystemGetDriverVersion 580.65.06
nvmlSystemGetCudaDriverVersion_v2 13000
)";

constexpr std::string_view kIdleDevice = R"(
0 nvmlDeviceGetName NVIDIA A100-SXM4-40GB
0 nvmlDeviceGetPciInfo_v3 00000000:65:00.0
0 nvmlDeviceGetMemoryInfo 42949672960 536870912
0 nvmlDeviceGetClockInfo.sm 210
0 nvmlDeviceGetClockInfo.memory 1215
0 nvmlDeviceGetMaxClockInfo.sm 1410
0 nvmlDeviceGetMaxClockInfo.memory 1215
0 nvmlDeviceGetPowerUsage 51200
0 nvmlDeviceGetEnforcedPowerLimit 400000
0 nvmlDeviceGetTotalEnergyConsumption 1000
0 nvmlDeviceGetTemperature 31
0 nvmlDeviceGetCurrentClocksThrottleReasons 1
0 nvmlDeviceGetPersistenceMode 1
0 nvmlDeviceGetMigMode 0
0 nvmlDeviceGetEccMode 1
0 nvmlDeviceGetComputeRunningProcesses_v3
)";

// A system as far as the rows look at it.
class GpuRows : public testing::Test {
 protected:
  GpuRows() {
    places_.driver = folder_.path() / "driver";
    places_.device_nodes = folder_.path() / "dev";
    places_.pci = folder_.path() / "pci";
  }
  void load_driver() { write(places_.driver + "/version", "NVRM version: 580.65.06"); }
  void make_device_node() { write(places_.device_nodes + "/nvidiactl", ""); }
  void write(const std::string& path, std::string_view content) {
    make_folder(path.substr(0, path.rfind('/')));
    write_file(path, content);
  }
  std::vector<DoctorRow> rows_of(std::string_view script) {
    const ScriptedNvml scripted(TBD_BINARY_DIR, script);
    places_.library = scripted.library();
    return gpu_rows(places_);
  }
  // The only row, of a driver that refuses to start with this code.
  DoctorRow row_of_code(int code) {
    const std::vector<DoctorRow> rows = rows_of(cat("nvmlInit_v2 !", code));
    EXPECT_THAT(rows, SizeIs(1));
    EXPECT_FALSE(rows[0].available);
    return rows[0];
  }

  TemporaryFolder folder_;
  GpuPlaces places_;
};

DoctorRow row_named(const std::vector<DoctorRow>& rows, std::string_view item) {
  const auto found = std::ranges::find(rows, item, &DoctorRow::item);
  return found == rows.end() ? DoctorRow{} : *found;
}

TEST_F(GpuRows, SayThatThereIsNoDriver) {
  places_.library = "libno-such-library.so.7";
  const std::vector<DoctorRow> rows = gpu_rows(places_);
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].reason, "no NVIDIA driver answers: libno-such-library.so.7 is not there");
  EXPECT_EQ(rows[0].remedy, "");
}

TEST_F(GpuRows, SeeADeviceThatHasNoDriver) {
  places_.library = "libno-such-library.so.7";
  write(places_.pci + "/0000:65:00.0/vendor", "0x10de\n");
  write(places_.pci + "/0000:65:00.0/class", "0x030200\n");
  EXPECT_THAT(gpu_rows(places_)[0].remedy, HasSubstr("install NVIDIA's driver"));
}

TEST_F(GpuRows, TellApartWhereADriverFails) {
  EXPECT_THAT(row_of_code(9).reason, HasSubstr("no NVIDIA driver is loaded"));
  EXPECT_EQ(row_of_code(9).remedy, "modprobe nvidia, as root");
  load_driver();
  EXPECT_THAT(row_of_code(9).reason, HasSubstr("driver without device node"));
  EXPECT_THAT(row_of_code(9).remedy, HasSubstr("nvidia-modprobe"));
  make_device_node();
  EXPECT_THAT(row_of_code(9).reason, HasSubstr("no driver answers"));
  EXPECT_THAT(row_of_code(4).reason, HasSubstr("no permission"));
  EXPECT_THAT(row_of_code(4).remedy, HasSubstr("let this user read and write"));
  EXPECT_THAT(row_of_code(17).remedy, HasSubstr("--gpus all"));
  EXPECT_THAT(row_of_code(18).remedy, HasSubstr("restart the machine"));
  places_.library = "libno-such-library.so.7";
  EXPECT_THAT(gpu_rows(places_)[0].reason, HasSubstr("the driver is loaded, but"));
}

TEST_F(GpuRows, ADriverMayHaveNoDevice) {
  const std::vector<DoctorRow> rows = rows_of(cat(kDriver, "nvmlDeviceGetCount_v2 0"));
  EXPECT_EQ(row_named(rows, "GPU driver").detail, "580.65.06; CUDA up to 13.0");
  EXPECT_EQ(row_named(rows, "NVIDIA GPU").reason, "the driver answers, but has no device");
}

TEST_F(GpuRows, ADeviceAtRestNeedsNoRemedy) {
  const std::vector<DoctorRow> rows = rows_of(cat(kDriver, "nvmlDeviceGetCount_v2 1\n", kIdleDevice));
  std::vector<std::string> details;
  for (const DoctorRow& row : rows) {
    if (!row.item.starts_with("GPU 0")) continue;
    EXPECT_TRUE(row.available) << row.item;
    EXPECT_EQ(row.remedy, "") << row.item;
    details.push_back(cat(row.item, ": ", row.detail));
  }
  EXPECT_THAT(
      details,
      ElementsAre("GPU 0: NVIDIA A100-SXM4-40GB; PCI 00000000:65:00.0; memory 40.0 GiB, 512 MiB used",
                  "GPU 0 clocks: SM 210 of at most 1410 MHz; memory 1215 of at most 1215 MHz; 31 °C; not throttled",
                  "GPU 0 power: 51.2 of at most 400 W; energy counter", "GPU 0 modes: persistence on; MIG off; ECC on",
                  "GPU 0 other processes: none"));
}

TEST_F(GpuRows, EveryLimitHasARemedy) {
  const std::vector<DoctorRow> rows = rows_of(R"(
nvmlDeviceGetCount_v2 1
0 nvmlDeviceGetCurrentClocksThrottleReasons 4
0 nvmlDeviceGetPersistenceMode 0
0 nvmlDeviceGetMigMode 1
0 nvmlDeviceGetPowerUsage !4
0 nvmlDeviceGetComputeRunningProcesses_v3 1234:1073741824 99:-
)");
  const DoctorRow clocks = row_named(rows, "GPU 0 clocks"), modes = row_named(rows, "GPU 0 modes");
  EXPECT_THAT(clocks.detail, HasSubstr("throttled: power cap"));
  EXPECT_THAT(clocks.remedy, HasSubstr("-i 0 -pl WATTS"));
  EXPECT_EQ(modes.detail, "persistence off; MIG on; no ECC");
  EXPECT_THAT(modes.remedy, testing::AllOf(HasSubstr("-i 0 -pm 1"), HasSubstr("-i 0 -mig 0")));
  const DoctorRow power = row_named(rows, "GPU 0 power");
  EXPECT_FALSE(power.available);
  EXPECT_THAT(power.reason, HasSubstr("power unknown: this user has no permission"));
  const DoctorRow others = row_named(rows, "GPU 0 other processes");
  EXPECT_EQ(others.detail, "process 1234 with 1.00 GiB; process 99");
  EXPECT_THAT(others.remedy, HasSubstr("wait until they end"));
}

TEST_F(GpuRows, ALostDeviceDoesNotHideTheNext) {
  const std::vector<DoctorRow> rows =
      rows_of("nvmlDeviceGetCount_v2 2\n0 nvmlDeviceGetHandleByIndex_v2 !15\n1 nvmlDeviceGetName NVIDIA T4\n");
  EXPECT_THAT(row_named(rows, "GPU 0").reason, HasSubstr("fallen off the bus"));
  EXPECT_EQ(row_named(rows, "GPU 0").remedy, "restart the machine");
  EXPECT_THAT(row_named(rows, "GPU 1").detail, HasSubstr("NVIDIA T4"));
}

TEST_F(GpuRows, CountersMayBeKeptForRoot) {
  constexpr const char* item = "GPU hardware counters, unverified on hardware";
  write(places_.driver + "/params", "RmProfilingAdminOnly: 1\n");
  EXPECT_EQ(row_named(rows_of(kDriver), item).reason, "only root may read them");
  places_.administrator = true;
  EXPECT_TRUE(row_named(rows_of(kDriver), item).available);
  places_.administrator = false;
  write(places_.driver + "/params", "RmProfilingAdminOnly: 0\n");
  EXPECT_TRUE(row_named(rows_of(kDriver), item).available);
}

}  // namespace
}  // namespace tbd
