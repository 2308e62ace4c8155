// CUDA's half of torch, libtorch_cuda.so. It registers its kernels when it is loaded, and nothing refers to it, so one
// worker serves CPU and GPUs: what trains on the CPU loads none of it.
#pragma once
#include <cstdint>
#include <filesystem>

#include "base/error.h"

namespace tbd::pytorch {

// The library that belongs to ROOT/torch/lib/libtorch_cpu.so: beside it, as pip installs torch, or in
// ROOT-cuda/torch/lib, as the set-up unpacks it. Empty where there is none.
std::filesystem::path cuda_library_of(const std::filesystem::path& libtorch_cpu);
// Of the torch that this process has loaded.
std::filesystem::path cuda_library();
// Devices that a worker with this library can use; asks the driver, once, and loads nothing of torch. 0 without the
// library.
int64_t usable_gpus();
// Loads it, once. To be called before torch is first asked of CUDA, since torch keeps the first answer. Throws
// Error(unsupported) where there is none, or it cannot be loaded.
void load_cuda_library();

}  // namespace tbd::pytorch
