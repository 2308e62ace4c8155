#pragma once
#include <c10/core/Device.h>

#include <optional>

#include "base/workload_words.h"

namespace tbd::pytorch {

// The best rate of at::mm, FLOP/s, over square sizes 512 to 2048 and random data, trying each for about
// seconds / 3; nullopt for a precision that torch has no product for.
std::optional<double> best_gemm_rate(const Precision& precision, double seconds, const c10::Device& device);

}  // namespace tbd::pytorch
