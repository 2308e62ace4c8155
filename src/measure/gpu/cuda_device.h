// A device of CUDA with its primary context, by the driver's own functions. Memory and modules live as long as this.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "measure/gpu/cuda_abi.h"
#include "measure/gpu/cuda_driver.h"

namespace tbd {

// 10 * major + minor: 90 for 9.0.
using ComputeCapability = int;
std::string capability_text(ComputeCapability capability);  // "9.0"

struct CudaFacts {
  std::string name, uuid;  // "GPU-5f3c1c9e-..." as NVML writes it
  std::string cuda;        // the newest version that the driver runs, "13.0"
  ComputeCapability capability = 0;
  int64_t multiprocessors = 0, l2_bytes = 0;
  int64_t clock_khz = 0, memory_clock_khz = 0, memory_bus_bits = 0;  // the highest clocks, by its maker
};

struct CudaKernel {
  cuda::Function function = nullptr;
  int64_t blocks = 0, threads = 0;  // of a block
};

// Each function throws Error(io) with the driver's words. After a fault in a kernel all further calls fail.
class CudaDevice {
 public:
  // The device that CUDA counts as `index`, its context current in this thread.
  explicit CudaDevice(int64_t index, const std::string& library = kCudaLibrary);
  ~CudaDevice();
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  const CudaFacts& facts() const { return facts_; }
  int64_t free_bytes() const;
  cuda::Address allocate(int64_t bytes);
  // `image`: a cubin for this device, or PTX.
  cuda::Module load(std::string_view image);
  cuda::Function function(cuda::Module module, const std::string& name) const;
  // Runs the kernel and waits for its end: seconds on the device's clock. `arguments`: addresses of its parameters.
  double run(const CudaKernel& kernel, std::vector<void*> arguments) const;

 private:
  CudaFacts read_facts() const;
  void give_back();

  CudaFunctions driver_;
  cuda::Device device_ = 0;
  CudaFacts facts_;
  cuda::Event begin_ = nullptr, end_ = nullptr;
  std::vector<cuda::Address> memory_;
  std::vector<cuda::Module> modules_;
};

}  // namespace tbd
