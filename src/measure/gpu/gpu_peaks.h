// Measured roofs of an NVIDIA GPU: arithmetic in registers and tensor cores, and the bandwidth of its memory, by
// kernels that NVRTC compiles for the device. Meant for a process of its own: the context holds memory of the device.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "base/workload_words.h"
#include "measure/gpu/cuda_driver.h"
#include "measure/gpu/nvml.h"
#include "measure/peaks/peaks.h"

namespace tbd {

struct GpuTarget {
  Device device{"cuda:0"};                         // by CUDA's own number
  std::string nvrtc;                               // the library's path; empty: what the system's loader finds
  std::map<std::string, std::string> environment;  // of this process: which of the driver's devices that is
  std::string driver = kCudaLibrary, nvml = kNvmlLibrary;
};

// Samples are timed by the device's events. Of the options `cores` and `one_thread` are for other hardware. A kernel
// that does not run here, does not compile or fails has the reason in its row; after a fault of the device all later
// ones have it. nullopt where it was cancelled. Throws Error(unsupported, io) where nothing can be measured,
// Error(invalid) as measure_peaks does.
std::optional<Peaks> measure_gpu_peaks(const GpuTarget& target, const PeakOptions& options);

}  // namespace tbd
