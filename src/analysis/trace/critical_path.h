// The critical path of a step or a window: the chain of events, each waiting for the one before it, that ends last.
// Backward walk over thread order, launches, stream order, stream waits and syncs, always to the predecessor that
// finished latest. Linear in the events.
#pragma once
#include <vector>

#include "analysis/trace/idle.h"

namespace tbd {

struct PathTimes {
  std::array<int64_t, kDeviceClasses> device{};  // in activities, by class
  CauseTimes host{};                             // elsewhere, by what went on
  int64_t total() const;
  PathTimes& operator+=(const PathTimes& other);
  bool operator==(const PathTimes&) const = default;
};

class CriticalPath {
 public:
  // All three must outlive this.
  CriticalPath(const RankEvents& rank, const Launches& launches, const IdleCauses& causes);
  // From the end of `step` (an event of a host track) to its begin. Sums to its duration exactly.
  PathTimes of_step(uint32_t step) const;
  // From the activity that ends last in the window. Sums to the window exactly.
  PathTimes of_window(TimeSpan window) const;

 private:
  class Walk;
  struct Thread {
    std::vector<TimeSpan> covered;  // by events that say what the thread did
    std::vector<uint32_t> syncs;    // by begin
    std::vector<Activity> work;     // where the processor is the device
    mutable size_t near = 0;        // in covered, where the last question ended
    // The last span of `covered` that begins before `time`; nullptr where there is none.
    const TimeSpan* last_before(int64_t time) const;
  };
  struct End {
    int64_t time = 0;
    uint32_t activity = 0;
  };
  void order_by_end(std::span<const std::vector<uint32_t>> of_track);
  std::optional<size_t> before(size_t activity) const;    // on the same stream
  std::optional<size_t> finished_by(int64_t time) const;  // the activity that ended last, not after `time`

  static constexpr uint32_t kNone = UINT32_MAX;
  const RankEvents& rank_;
  const Launches& launches_;
  const IdleCauses& causes_;
  std::vector<Thread> threads_;   // by track
  std::vector<End> by_end_;       // activities, of equal ends by number
  mutable size_t near_ = 0;       // in by_end_, where the last question ended
  std::vector<uint32_t> before_;  // on the same stream; kNone where there is none
};

}  // namespace tbd
