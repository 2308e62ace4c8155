// The best rate of a matrix product that this TensorFlow reaches.
#pragma once
#include <optional>

#include "backends/tensorflow/wire.h"
#include "base/workload_words.h"

namespace tbd::tensorflow {

// FLOP/s of MatMul of square matrices that lie on the device, of 512 to 2048 rows on the CPU and 4096 to 16384 on a
// GPU; nullopt for a precision without a kernel here.
std::optional<double> best_gemm_rate(const Precision& precision, double seconds, const SessionSettings& settings);

}  // namespace tbd::tensorflow
