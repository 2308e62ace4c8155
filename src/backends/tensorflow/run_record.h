// One run of the session with what TensorFlow said about it: raw while steps are timed, decoded between them.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/import/step_stats_message.h"

namespace tbd::tensorflow {

// The wall clock, by which TensorFlow stamps, and now_ns() at one instant: the second reading lies between two of the
// first, `width_ns` apart.
struct ClockPair {
  int64_t wall_ns = 0, own_ns = 0, width_ns = 0;
};
ClockPair read_clocks();  // the closest of several readings

struct RunRecord {
  int64_t number = 0;  // counts the runs of a session
  ClockPair before, after;
  std::string metadata;  // RunMetadata as bytes
  bool on_gpu = false;   // its profiler was asked for the device's work
};

// Of a device in the step statistics: whether its rows are the profiler's ("/device:GPU:0/stream:7") and not the
// executor's ("/job:localhost/replica:0/task:0/device:GPU:0").
bool is_of_profiler(std::string_view device);

// From wall-clock time to now_ns(), by a line through the pairs around a run; where somebody set the wall clock in
// between, by the pair before it.
class OwnClock {
 public:
  explicit OwnClock(const RunRecord& run);
  int64_t at(int64_t wall_ns) const;
  // How far off a converted time may be, but for what TensorFlow rounds: it keeps allocations by the microsecond.
  int64_t error_ns() const;
  bool was_set() const { return was_set_; }

 private:
  ClockPair before_, after_;
  bool was_set_;
};

// An op that ran. Views point into the record's bytes.
struct RanOp {
  std::string_view name, type;
  std::vector<std::string_view> inputs;  // names of tensors: "x", "w:1"
  StepStatsNode stats;
  int64_t begin = 0, end = 0;  // of now_ns()
};

// The executor's, in the order of their begins; on a GPU they end when their work is handed over. Ops without a time
// are left out and counted.
struct RanOps {
  std::vector<RanOp> ops;
  int64_t without_time = 0;
};
RanOps ran_ops(const RunRecord& run, const OwnClock& clock);

}  // namespace tbd::tensorflow
