// Top-1 and top-5 accuracy of classifiers.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/tensor.h"

namespace tbd {

// The place of each sample's label among its scores, from 0; of equal scores the lower class stands first. torch.topk
// promises no such order: accuracies differ on exact ties alone. `scores` (N, classes) f32 or f64, one label a sample.
// Throws Error(invalid) for other types and counts, a label that is no class, and, since a network that computes no
// number has not been evaluated, for a score that is not a number; naming the sample.
std::vector<int64_t> label_ranks(const HostTensor& scores, std::span<const int32_t> labels);

// Samples whose label is among the first `k`. Throws Error(invalid) for k < 1.
int64_t top_k_hits(std::span<const int64_t> ranks, int64_t k);

}  // namespace tbd
