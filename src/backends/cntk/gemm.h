#pragma once
#include <optional>

#include "base/workload_words.h"

namespace tbd::cntk {

// Best rate of square matrix products through CNTK in FLOP/s, over `seconds`; nullopt for another precision than fp32
// and fp64.
std::optional<double> best_gemm_rate(const Precision& precision, double seconds);

}  // namespace tbd::cntk
