// What CUDA's driver library shows this process: no header and no context of CUDA is needed for that.
#pragma once
#include <cstdint>
#include <string>

#include "measure/gpu/cuda_functions.h"

namespace tbd {

inline constexpr const char* kCudaLibrary = "libcuda.so.1";

// Loads the library and starts it; it stays loaded, as a process that uses CUDA keeps it. Throws as CudaFunctions.
CudaFunctions cuda_driver(const std::string& library = kCudaLibrary);

struct CudaDevices {
  int64_t count = 0;   // that a process with these variables (CUDA_VISIBLE_DEVICES) sees
  std::string reason;  // of 0, one clause
};
CudaDevices cuda_devices(const std::string& library = kCudaLibrary);

// What the driver says of one of them without a context. Throws as CudaFunctions.
struct CudaBuild {
  int capability = 0;  // 10 * major + minor: 90 for 9.0
  int64_t memory_bytes = 0;
  std::string uuid;  // "GPU-5f3c1c9e-..." as NVML writes it
};
CudaBuild cuda_build(int64_t index, const std::string& library = kCudaLibrary);

// Of a device by cuDeviceGet. Throws as CudaFunctions.
std::string cuda_uuid(const CudaFunctions& driver, int device);

}  // namespace tbd
