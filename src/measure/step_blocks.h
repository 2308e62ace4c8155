// Cuts a series of steps into blocks of at least half a second and measures, between two blocks, how fast the cores are
// and what other processes used: evidence of disturbance that does not come from the steps' own times.
#pragma once
#include <vector>

#include "measure/host_sampler.h"
#include "measure/speed_probe.h"
#include "record/record.h"

namespace tbd {

class StepBlocks {
 public:
  explicit StepBlocks(const std::vector<int>& cores);
  // The first block begins now; what was before belongs to none.
  void begin();
  // Whether the block is over: it lasts at least as long as keeps the measurement below 0.3 % of the time.
  bool is_over() const;
  // After a step that completed now and ends the block: measures, and fills the row's columns of the block. The next
  // step begins when this returns.
  void end(StepRow& row);

 private:
  std::optional<int64_t> foreign_ns();
  SpeedProbe probe_;
  std::vector<int> cores_;
  SystemFile machine_;
  std::string buffer_;
  int64_t began_ns_ = 0, block_ns_ = 500'000'000;
  std::optional<int64_t> machine_busy_ns_;  // since boot, of the cores
  int64_t own_ns_ = 0;
};

}  // namespace tbd
