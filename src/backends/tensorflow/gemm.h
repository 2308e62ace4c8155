// The best rate of a matrix product that this TensorFlow reaches.
#pragma once
#include <optional>

#include "base/workload_words.h"

namespace tbd::tensorflow {

// FLOP/s of MatMul of square matrices of 512 to 2048 rows; nullopt for a precision without a kernel here.
std::optional<double> best_gemm_rate(const Precision& precision, double seconds, int64_t threads);

}  // namespace tbd::tensorflow
