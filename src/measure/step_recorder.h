// Rows of the step loop, handed from the thread that runs steps to one that sends or writes them.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "measure/host_sampler.h"
#include "record/record.h"

namespace tbd {

// A ring of preallocated rows. One thread appends, one takes; neither waits, nothing is allocated while appending.
class StepRecorder {
 public:
  explicit StepRecorder(size_t capacity = 16384);  // rounded up to a power of two

  // False, and counted, when the ring is full: a row is dropped rather than the step loop delayed.
  bool append(const StepRow& row);
  // All rows appended and not yet taken, oldest first.
  std::vector<StepRow> take();
  int64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  std::vector<StepRow> rows_;
  size_t mask_;
  alignas(64) std::atomic<uint64_t> appended_{0};
  alignas(64) std::atomic<uint64_t> taken_{0};
  std::atomic<int64_t> dropped_{0};
};

// Makes the rows: amounts between the end of one step and the end of the next, of the calling process.
class StepMeter {
 public:
  // `zero_ns`: the now_ns() that completed_ns counts from (process_start_ns).
  explicit StepMeter(int64_t zero_ns);

  // Counts anew from here: before the first step, and after work between steps that belongs to none.
  void restart();
  // What a step used, to be called at once when its last work has finished.
  struct Step {
    int64_t number = 0, input_wait_ns = 0;
    double units = 0, loss = 0;
    std::optional<int64_t> samples = {}, valid = {}, padded = {}, device_ns = {}, rows = {};
  };
  StepRow finish(const Step& step);

 private:
  struct Counters {
    StepUsage usage;
    std::optional<int64_t> runqueue_wait_ns, steal_ticks;
  };
  Counters read(int64_t now);
  int64_t zero_ns_;
  StepSampler sampler_;
  RunqueueSampler runqueue_;
  StealSampler steal_;
  Counters last_;
};

// The now_ns() at which this process began, to 10 ms.
int64_t process_start_ns();

}  // namespace tbd
