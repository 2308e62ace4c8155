#include "measure/gpu/visible_device.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "measure/gpu/testing_nvml.h"

namespace tbd {
namespace {

using Variables = std::map<std::string, std::string>;

constexpr std::string_view kOneDevice = "nvmlDeviceGetCount_v2 1\n0 nvmlDeviceGetName NVIDIA T4\n";
constexpr std::string_view kTwoUuids =
    "nvmlDeviceGetCount_v2 2\n0 nvmlDeviceGetName NVIDIA T4\n0 nvmlDeviceGetUUID GPU-1111-aa\n"
    "1 nvmlDeviceGetName NVIDIA L4\n1 nvmlDeviceGetUUID GPU-2222-bb\n";

// The name of the device that CUDA counts as `device`, or why it is not known.
std::string named(std::string_view script, const std::string& device, const Variables& variables) {
  const ScriptedNvml scripted(TBD_BINARY_DIR, script);
  const Nvml nvml(scripted.library());
  const auto found = nvml_device(nvml, Device(device), variables);
  return found ? *found->name() : found.reason();
}

TEST(NvmlDeviceOf, FollowsTheDriversOrderWhereCudaDoes) {
  EXPECT_EQ(named(kOneDevice, "cuda:0", {}), "NVIDIA T4");
  EXPECT_EQ(named(kTwoUuids, "cuda:1", {{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}}), "NVIDIA L4");
  EXPECT_EQ(named(kTwoUuids, "cuda:1", {}),
            "CUDA numbers devices in an order of its own; CUDA_DEVICE_ORDER=PCI_BUS_ID is the driver's");
}

TEST(NvmlDeviceOf, FollowsVisibleDevices) {
  const auto visible = [](const std::string& list) {
    return Variables{{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}, {"CUDA_VISIBLE_DEVICES", list}};
  };
  EXPECT_EQ(named(kTwoUuids, "cuda:0", visible("1")), "NVIDIA L4");
  EXPECT_EQ(named(kTwoUuids, "cuda:1", visible("1, 0")), "NVIDIA T4");
  EXPECT_EQ(named(kTwoUuids, "cuda:0", visible("GPU-2222")), "NVIDIA L4");
  EXPECT_EQ(named(kTwoUuids, "cuda:1", visible("1")), "cuda:1 is beyond CUDA_VISIBLE_DEVICES=1");
  EXPECT_EQ(named(kTwoUuids, "cuda:0", visible("GPU-33")), "the driver has no device GPU-33 (CUDA_VISIBLE_DEVICES)");
}

TEST(NvmlDeviceOf, IsNoneWhereAllAreHidden) {
  for (const char* hidden : {"", "-1", "-1,0", "0,-1"}) {
    const std::string last = hidden == std::string("0,-1") ? "cuda:1" : "cuda:0";
    EXPECT_EQ(named(kOneDevice, last, {{"CUDA_VISIBLE_DEVICES", hidden}}),
              cat(last, " is beyond CUDA_VISIBLE_DEVICES=", hidden));
  }
}

TEST(NvmlDeviceOf, NamesAnIndexOutOfRange) {
  EXPECT_EQ(named(kOneDevice, "cuda:3", {}), "cuda:3 is device 3, the driver has 1");
  EXPECT_EQ(named("nvmlInit_v2 !9\n", "cuda:0", {}), "no driver answers (nvmlInit_v2)");
}

}  // namespace
}  // namespace tbd
