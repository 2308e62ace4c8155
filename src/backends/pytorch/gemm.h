#pragma once
#include <c10/core/Device.h>

#include <optional>

#include "base/workload_words.h"

namespace tbd::pytorch {

// The best rate of at::mm, FLOP/s, over three square sizes and random data, trying each for about seconds / 3: 512 to
// 2048 on the CPU, 2048 to 8192 on a GPU, there several products in a row, so that it never waits for the next one;
// sizes that its memory does not hold are left out. nullopt for a precision that torch has no product for.
std::optional<double> best_gemm_rate(const Precision& precision, double seconds, const c10::Device& device);

}  // namespace tbd::pytorch
