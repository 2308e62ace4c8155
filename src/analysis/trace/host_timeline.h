// What a host thread did at each instant, as a cause for a device to wait.
#pragma once
#include <array>
#include <span>
#include <vector>

#include "analysis/trace/rank_events.h"

namespace tbd {

using CauseTimes = std::array<int64_t, kIdleCauses>;
int64_t total(const CauseTimes& times);

// Nested spans are laid flat: of the causes of the spans that are open at an instant the first counts; where none is
// open or none says anything, it is what the other timeline says, and without one host_other.
class HostTimeline {
 public:
  struct Segment {
    int64_t begin = 0;  // to the next segment's begin
    IdleCause cause = IdleCause::host_other;
  };
  HostTimeline() = default;
  // Of one thread; `other` must outlive this.
  HostTimeline(const Trace& trace, std::span<const uint32_t> events, const HostTimeline* other = nullptr);

  void charge(TimeSpan interval, CauseTimes& times) const;  // exactly interval.length() in all
  IdleCause at(int64_t time) const;

 private:
  void close_instant(int64_t time, IdleCause cause);               // `cause` goes on from `time`
  std::vector<Segment>::const_iterator after(int64_t time) const;  // the first that begins after `time`
  void charge(TimeSpan interval, IdleCause cause, CauseTimes& times) const;

  mutable size_t last_ = 0;        // where the last question ended: the next one is near
  std::vector<Segment> segments_;  // ascending; before the first it is host_other
  const HostTimeline* other_ = nullptr;
};

}  // namespace tbd
