// MXNet's build for GPUs, mxnet-cu112: the newest that there is. It holds machine code for compute capability 5.0
// to 8.6 and no PTX, so a newer GPU cannot run it. Unverified on hardware.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/workload_words.h"

namespace tbd::mxnet {

// Devices that this library can train on: none in a build for CPUs. Asks the driver, once, and nothing of MXNet's CUDA.
std::vector<Device> usable_gpus();
// The index of one of them, as MXNet counts. Throws Error(unsupported) on every other device, which says why.
int64_t gpu_index(const Device& device);
// Why its code cannot run on such a device (10 * major + minor), one clause; empty where it can.
std::string why_code_does_not_fit(int capability);

}  // namespace tbd::mxnet
