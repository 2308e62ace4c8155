// Everything that differs between the supported torch versions, 2.11 (the oldest) to 2.15: nothing else may test the
// version. Sources compile unchanged against both but for what stands here (docs/backends.md).
#pragma once
#include <ATen/Context.h>
#if __has_include(<torch/headeronly/version.h>)
#include <torch/headeronly/version.h>
#else
#include <torch/csrc/api/include/torch/version.h>
#endif

#include <string>

#if TORCH_VERSION_MAJOR < 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR < 11)
#error "torch older than 2.11 is not supported"
#endif

namespace tbd::pytorch {

inline std::string torch_version() {
  return std::to_string(TORCH_VERSION_MAJOR) + "." + std::to_string(TORCH_VERSION_MINOR) + "." +
         std::to_string(TORCH_VERSION_PATCH);
}

// On CUDA devices: TF32 in matrix products and convolutions, where torch's own default differs between the two, and
// cuDNN's choice of a convolution's algorithm by trying them, as idiomatic training programs ask for. torch 2.15 and
// 2.11 spell it alike.
inline constexpr bool kCudnnBenchmark = true;
inline void choose_cuda_math(bool tf32) {
  at::globalContext().setAllowTF32CuBLAS(tf32);
  at::globalContext().setAllowTF32CuDNN(tf32);
  at::globalContext().setBenchmarkCuDNN(kCudnnBenchmark);
}

// at::clamp's gradient at the bounds is 1 up to 2.11 and 0 in 2.15; ours is 1 (docs/conventions.md).
#if TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 15
inline constexpr bool kClampPassesAtBounds = false;
#else
inline constexpr bool kClampPassesAtBounds = true;
#endif

}  // namespace tbd::pytorch
