// A worker's place among those that train one network together.
#pragma once
#include <cstdint>
#include <functional>
#include <span>

namespace tbd {

// A rank is a share of the micro-batches: run k of a phase on rank q of W is run kW + q of one worker that accumulates
// W times as many. It reads that run's batch and draws that run's noise and masks, so W workers take the step of that
// one.
struct Place {
  int64_t rank = 0, world = 1;
};

// Replaces each number by its sum over all ranks, the same bits on each. All ranks call it with as many numbers, in the
// same order of calls. Throws Error(io) where a rank does not answer.
using SumOverRanks = std::function<void(std::span<double>)>;

}  // namespace tbd
