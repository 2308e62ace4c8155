// Which library answers MLX's calls of BLAS: OpenBLAS where FindTbdMlx.cmake has put one in the place of the reference
// implementation that MLX's wheel brings, whose products take many times as long.
#pragma once
#include <cstdint>
#include <string>

namespace tbd::mlx {

// "OpenBLAS 0.3.27 ..."; "reference".
std::string linked_blas();
// Of products, where the library has threads; all else of MLX runs on one.
void use_blas_threads(int64_t threads);

}  // namespace tbd::mlx
