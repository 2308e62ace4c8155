#pragma once
#include <optional>
#include <string>

namespace tbd::mxnet {

// Best rate of square matrix products through MXNet in FLOP/s, over `seconds`; nullopt for another precision than
// fp32 and fp64.
std::optional<double> best_gemm_rate(const std::string& precision, double seconds);

}  // namespace tbd::mxnet
