// Register kernels: loops of one arithmetic instruction on independent register chains, no memory. Each loop is one
// block of assembly, so that no compiler can spill in it; kernel_test.cc reads the machine code back.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tbd {

// `data`: 64-byte aligned, kKernelDataBytes of random floats of the kernel's kind (fill_kernel_data). `iterations`
// passes through the loop. Writes the last value of the first chain to the start of `data`.
using KernelLoop = void(void* data, int64_t iterations);
inline constexpr int64_t kKernelDataBytes = 8192;

struct FlopKernel {
  std::string_view name;         // "fma512"
  std::string_view type;         // math type: "fp32"
  std::string_view unit;         // what multiplies: "vector", "matrix"
  std::string_view instruction;  // the only arithmetic instruction of the loop
  std::string_view symbol;       // of the loop's function
  int64_t instructions;          // of that kind in one iteration
  int64_t flop_per_instruction;  // one multiply-add is two
  KernelLoop* loop;
  // Empty when this processor and system can run it; else why not. May ask the system for permission (AMX).
  std::string (*unavailable)();
};

// All that this build has, runnable here or not. Empty on processors other than x86-64.
std::span<const FlopKernel> flop_kernels();

// Random data for `kernel`, from `seed`: constant data draws less power and reads too high a rate.
void fill_kernel_data(const FlopKernel& kernel, uint64_t seed, void* data);

}  // namespace tbd
