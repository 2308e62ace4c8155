#include "runner/device_choice.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/text.h"
#include "measure/gpu/testing_nvml.h"

namespace tbd {
namespace {

const std::vector<Device> kWithCuda = {Device::kCpu, Device("cuda:0")};
constexpr std::string_view kOneDevice = "nvmlDeviceGetCount_v2 1\n0 nvmlDeviceGetName NVIDIA T4\n";
constexpr std::string_view kTwoDevices =
    "nvmlDeviceGetCount_v2 2\n0 nvmlDeviceGetName NVIDIA T4\n1 nvmlDeviceGetName NVIDIA L4\n";

TEST(ChooseDevice, TakesAGpuThatAnswersAndTheWorkerKnows) {
  const ScriptedNvml scripted(TBD_BINARY_DIR, kOneDevice);
  const DeviceChoice choice = choose_device(Nvml(scripted.library()), kWithCuda);
  EXPECT_EQ(choice.device, Device("cuda:0"));
  EXPECT_EQ(choice.reason, "NVIDIA T4 answers");
}

TEST(ChooseDevice, TakesTheCpuForAWorkerWithoutCuda) {
  const ScriptedNvml scripted(TBD_BINARY_DIR, kOneDevice);
  const DeviceChoice choice = choose_device(Nvml(scripted.library()), std::vector<Device>{Device::kCpu});
  EXPECT_EQ(choice.device, Device::kCpu);
  EXPECT_EQ(choice.reason, "its worker cannot use the GPU of this machine");
}

TEST(ChooseDevice, NamesTheGpuThatCudaShowsFirst) {
  const ScriptedNvml scripted(TBD_BINARY_DIR, kTwoDevices);
  EXPECT_EQ(choose_device(Nvml(scripted.library()), kWithCuda, {{"CUDA_VISIBLE_DEVICES", "1"}}).reason,
            "NVIDIA L4 answers");
}

TEST(ChooseDevice, TakesTheCpuWhereNoDeviceAnswers) {
  const DeviceChoice choice = choose_device(Nvml("libno-such-library.so.7"), kWithCuda);
  EXPECT_EQ(choice.device, Device::kCpu);
  EXPECT_EQ(choice.reason, "no NVIDIA driver answers: libno-such-library.so.7 is not there");
  {
    const ScriptedNvml scripted(TBD_BINARY_DIR, "nvmlDeviceGetCount_v2 0\n");
    EXPECT_EQ(choose_device(Nvml(scripted.library()), kWithCuda).reason, "the NVIDIA driver has no device");
  }
  const ScriptedNvml scripted(TBD_BINARY_DIR, cat(kOneDevice, "0 nvmlDeviceGetHandleByIndex_v2 !15\n"));
  EXPECT_EQ(choose_device(Nvml(scripted.library()), kWithCuda).device, Device::kCpu);
}

class WithDevices : public testing::Test {
 protected:
  WithDevices() {
    settings_.notice = [&](const std::string& sentence) { notices_.push_back(sentence); };
    settings_.gpu_library = "libno-such-library.so.7";
  }
  static Workload cell(const Device& device, int64_t batch = 1) {
    return {.model = "resnet50", .batch = batch, .device = device};
  }
  RunnerSettings settings_;
  std::vector<std::string> notices_;
};

TEST_F(WithDevices, KeepsNamedDevicesWithoutANotice) {
  const std::vector<Workload> cells = {cell(Device::kCpu), cell(Device("cuda:1"))};
  EXPECT_EQ(with_devices(cells, settings_), cells);
  EXPECT_TRUE(notices_.empty());
}

TEST_F(WithDevices, RefusesWhatIsNoDevice) {
  EXPECT_THROW(with_devices({cell(Device::kCpu), cell(Device("gpu"))}, settings_), Error);
}

TEST_F(WithDevices, SaysOnceForAFrameworkWhatAutoIs) {
  const std::vector<Workload> resolved = with_devices({cell(Device::kAuto, 1), cell(Device::kAuto, 2)}, settings_);
  EXPECT_EQ(resolved, (std::vector<Workload>{cell(Device::kCpu, 1), cell(Device::kCpu, 2)}));
  ASSERT_EQ(notices_.size(), 1u);
  EXPECT_EQ(notices_[0],
            "--device auto: pytorch runs on cpu; no NVIDIA driver answers: libno-such-library.so.7 is not there");
}

TEST_F(WithDevices, SaysNothingOfAnOpenDeviceWithoutADriver) {
  EXPECT_EQ(with_devices({cell({})}, settings_), std::vector<Workload>{cell(Device::kCpu)});
  EXPECT_TRUE(notices_.empty());
}

TEST_F(WithDevices, SaysWhyAGpuThatIsThereIsNotUsed) {
  const ScriptedNvml scripted(TBD_BINARY_DIR, kOneDevice);
  settings_.gpu_library = scripted.library();
  EXPECT_EQ(with_devices({cell({})}, settings_), std::vector<Workload>{cell(Device::kCpu)});
  EXPECT_EQ(notices_, std::vector<std::string>{"--device auto: pytorch runs on cpu; it has no worker that answers"});
}

TEST_F(WithDevices, KeepsOnceWhatIsTheSameThen) {
  EXPECT_EQ(with_devices({cell(Device::kCpu), cell(Device::kAuto)}, settings_),
            std::vector<Workload>{cell(Device::kCpu)});
}

std::string why(std::string_view script, const std::string& device, const std::string& visible = "") {
  const ScriptedNvml scripted(TBD_BINARY_DIR, script);
  RunnerSettings settings{.gpu_library = scripted.library()};
  if (!visible.empty()) settings.environment["CUDA_VISIBLE_DEVICES"] = visible;
  return why_not_offered(Device(device), settings);
}

TEST(WhyNotOffered, NamesDriverDeviceOrLibraries) {
  EXPECT_EQ(why_not_offered(Device("cuda:0"), {.gpu_library = "libno-such-library.so.7"}),
            "no NVIDIA driver answers: libno-such-library.so.7 is not there");
  EXPECT_EQ(why(kOneDevice, "cuda:7"), "cuda:7 is device 7, the driver has 1");
  EXPECT_EQ(why(kTwoDevices, "cuda:1", "0"), "cuda:1 is beyond CUDA_VISIBLE_DEVICES=0");
  EXPECT_EQ(why(kTwoDevices, "cuda:0", "5"), "cuda:0 is device 5, the driver has 2");
  EXPECT_EQ(
      why(cat(kOneDevice, "nvmlSystemGetDriverVersion 470.82.01\nnvmlSystemGetCudaDriverVersion_v2 11040\n"), "cuda:0"),
      "NVIDIA T4 (driver 470.82.01, CUDA up to 11.4) answers, but the framework's libraries here do not use it: "
      "'./tbd setup' fetches those that do");
}

}  // namespace
}  // namespace tbd
