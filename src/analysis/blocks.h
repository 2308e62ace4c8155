// Blocks of steps, and the evidence of disturbance that each carries: what the kernel counted during the block
// (run-queue wait, steal, other processes' CPU time) and how fast the cores were at its two ends. Never the steps' own
// times: choosing blocks by what they took would bias what is estimated from them.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "record/record.h"

namespace tbd {

inline constexpr double kBlockSeconds = 0.5;  // the least length, but of a launch's last block

// Above these a block is disturbed.
inline constexpr double kMostRunqueueWait = 0.02;  // of the time that the worker's threads were runnable
inline constexpr double kMostSteal = 0.01;         // of the usable processors' time
inline constexpr double kMostForeign = 0.05;       // of the same, other processes' CPU time
inline constexpr double kMostFmaLoss = 0.03;       // of the best multiply-add rate, at either end of the block
inline constexpr double kMostReadLoss = 0.15;      // of the best rate of reads, which varies more on a quiet machine

// The best rates that the speed probe saw, 0 where it did not run.
struct BestSpeed {
  double fma_flop_rate = 0, read_byte_rate = 0;
};
BestSpeed best_speed(std::span<const Launch> launches);

struct Block {
  size_t begin = 0, end = 0;  // steps of the span that was cut, [begin, end)
  double seconds = 0, units = 0;
  std::optional<double> runqueue, steal, foreign;  // fractions
  std::optional<double> fma_loss, read_loss;       // 1 - rate / best, the worse of both ends
  bool judged() const;                             // some evidence is there
  std::vector<std::string> reasons() const;        // why it is disturbed: "run-queue wait 12 %"; empty: it is not
  bool undisturbed() const { return judged() && reasons().empty(); }
};

// Cuts rows into blocks: where the speed probe ran, else where half a second is full. `times` in seconds are those of
// the rows; `before` is the row that precedes the first, if one is known; `cores` that the worker may use.
std::vector<Block> step_blocks(std::span<const StepRow> rows, std::span<const double> times, const StepRow* before,
                               std::optional<double> cores, const BestSpeed& best);

}  // namespace tbd
