#pragma once
#include <optional>

#include "base/workload_words.h"

namespace tbd::mxnet {

// Best rate of square matrix products through MXNet in FLOP/s, over `seconds`; nullopt for another precision than
// fp32 and fp64. On the device that the session was loaded for.
std::optional<double> best_gemm_rate(const Precision& precision, double seconds, const Device& device);

}  // namespace tbd::mxnet
