// `tbd check --workers W`: do W workers take the step of one that accumulates W times as many micro-batches?
#pragma once
#include "runner/equivalence/check.h"

namespace tbd {

// In double, kRankSteps steps on made data, each a batch of its own, with dropout by masks: losses, parameters and
// optimizer state of rank 0 to 1e-12 of the tensor's largest element, and the other ranks' bit for bit as rank 0's.
// Where the step enlarges roundings, ten times of what it makes of weights that are moved by a rounding each: a
// gradient that is 0 but for rounding, as a bias's before a batch norm, tells nothing after Adam has divided it by its
// size. What ranks keep for themselves, running statistics and averages of these, is not compared. Throws as
// check_model does.
inline constexpr int64_t kRankSteps = 3;
CheckResult check_ranks(const CheckOptions& options, int64_t world, const RunnerSettings& settings);

}  // namespace tbd
