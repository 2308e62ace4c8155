#pragma once
#include <optional>

#include "base/workload_words.h"

namespace tbd::mlx {

// Best rate of a square product over some sizes, FLOP/s; nullopt for a precision that MLX lacks.
std::optional<double> best_gemm_rate(const Precision& precision, double seconds);

}  // namespace tbd::mlx
