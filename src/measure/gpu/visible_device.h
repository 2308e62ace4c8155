// Which of the driver's devices a process sees under which of CUDA's numbers.
#pragma once
#include <map>
#include <string>

#include "base/workload_words.h"
#include "measure/gpu/nvml.h"

namespace tbd {

// The variables, with CUDA told to number devices as the driver does where they do not say how.
std::map<std::string, std::string> in_driver_order(std::map<std::string, std::string> environment);

// The driver's device that CUDA counts as `device` under these variables of a process: CUDA_VISIBLE_DEVICES lists
// numbers or UUIDs, of which a prefix will do; without CUDA_DEVICE_ORDER=PCI_BUS_ID its numbers are the driver's only
// where there is one device, and the answer is refused.
NvmlAnswer<NvmlDevice> nvml_device(const Nvml& nvml, const Device& device,
                                   const std::map<std::string, std::string>& environment);

}  // namespace tbd
