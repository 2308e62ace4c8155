// Blocks of steps, and the evidence of disturbance that each carries: what the kernel counted during the block
// (run-queue wait, steal, other processes' CPU time) and how fast the cores were at its two ends. Never the steps' own
// times: choosing blocks by what they took would bias what is estimated from them.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "record/record.h"

namespace tbd {

inline constexpr double kBlockSeconds = 0.5;  // the least length, but of a launch's last block

// What the speed probe says of the cores, 0 where it did not run. FLOP/s and B/s of the slowest core.
struct CoreRates {
  double fma_flop_rate = 0, read_byte_rate = 0;
};
// For each row that the probe followed the medians of five neighbouring measurements, zeros for the others. One
// measurement takes a thousandth of a block: it says little of the block, and five say how fast the cores are by now.
std::vector<CoreRates> steady_rates(std::span<const StepRow> rows);
CoreRates best_rates(std::span<const Launch> launches);

struct Block {
  size_t begin = 0, end = 0;  // steps of the span that was cut, [begin, end)
  double seconds = 0, units = 0;
  // Fractions. Run-queue wait counts no further than other processes ran, where that is known: a worker's own threads
  // wait for each other too.
  std::optional<double> runqueue, steal, foreign;
  std::optional<double> fma_loss, read_loss;  // 1 - rate / best, the worse of both ends
  bool judged() const;                        // some evidence is there
  std::vector<std::string> reasons() const;   // why it is disturbed: "run-queue wait 12 %"; empty: it is not
  bool undisturbed() const { return judged() && reasons().empty(); }
};

// What may disturb a block, and the share above which it does.
struct BlockCause {
  std::string_view what;  // "run-queue wait"
  std::optional<double> Block::*share;
  double most;
};
std::span<const BlockCause> block_causes();
double most_undisturbed(std::optional<double> Block::*share);  // of the cause with this share

// Neighbouring steps of a launch.
struct StepStretch {
  std::span<const StepRow> rows;
  std::span<const double> times;     // seconds
  std::span<const CoreRates> rates;  // steady_rates of the rows
  CoreRates before;                  // of the row that precedes the first; zeros where none is known
};
// Cuts them into blocks: where the speed probe ran, else where half a second is full. `cores` that the worker may use.
std::vector<Block> step_blocks(const StepStretch& steps, std::optional<double> cores, const CoreRates& best);

}  // namespace tbd
