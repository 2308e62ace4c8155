// Which device a workload runs on, and which of the driver's devices that is.
#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "measure/gpu/nvml.h"
#include "record/workload.h"
#include "runner/settings.h"

namespace tbd {

struct DeviceChoice {
  Device device = Device::kCpu;
  std::string reason;  // one clause: "NVIDIA T4 answers", "the NVIDIA driver has no device"
};
// The first GPU where the driver has one and the worker is built for CUDA, else the CPU. `worker_devices`: what the
// worker says that it can use; `environment`: its variables.
DeviceChoice choose_device(const Nvml& nvml, std::span<const Device> worker_devices,
                           const std::map<std::string, std::string>& environment = {});

// The workloads with a device in the place of each Device::kAuto and of each device left open (empty); one that then
// stands twice is kept once. Tells a person by `settings.notice` what was chosen for each framework and why; of a
// device left open on a machine without a driver nothing is said. Throws Error(usage) on a device of another form.
std::vector<Workload> with_devices(std::vector<Workload> cells, const RunnerSettings& settings);

// Why a worker does not offer a GPU, one clause: the driver does not answer, has no such device, or has one that the
// framework's libraries do not use.
std::string why_not_offered(const Device& device, const RunnerSettings& settings);

}  // namespace tbd
