// Kernels that measure a GPU's roofs: their texts (kernels/*.cu), where they run, and the FLOPs of a launch.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/gpu/cuda_device.h"

namespace tbd {

// A text that is compiled as one program, and what is defined for it.
struct GpuKernelText {
  std::string_view name;       // "fma.cu"
  std::string_view (*text)();  // without that of random.cu, which comes before it
  int64_t threads;             // of a block
  int64_t blocks;              // on each multiprocessor
  int64_t chains, steps;       // that do not wait for each other; of each an iteration
};

struct GpuKernel {
  std::string_view name;         // "fma_fp32", also of its function
  std::string_view type, unit;   // as in PeakResult: "fp32", "vector"
  std::string_view instruction;  // of PTX, by its beginning
  const GpuKernelText* text;
  int64_t flop_per_instruction;  // of a warp; one multiply-add is two
  int64_t arrays;                // that a word of memory is read from or written to; 0 for arithmetic
  bool (*runs_on)(ComputeCapability capability);
};

// In the order in which they are measured: one whose fault would lose the device comes last.
std::span<const GpuKernel> gpu_kernels();

// Fills the three arrays of the memory kernels; its parameters are theirs.
inline constexpr std::string_view kFillFunction = "fill";

// FLOPs of one iteration of a launch with these threads in all: warps * chains * steps * FLOPs of an instruction.
int64_t flop_count(const GpuKernel& kernel, int64_t threads);

// The whole text, and the options that it is compiled with for a device: the architecture is "sm_80", or "sm_90a" where
// instructions of that one generation are used.
std::string program_text(const GpuKernelText& text);
std::vector<std::string> program_options(const GpuKernelText& text, ComputeCapability capability);

}  // namespace tbd
