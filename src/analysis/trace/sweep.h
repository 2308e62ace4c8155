// The class-mask sweep: how long each combination of classes was active at once (docs/trace.md).
#pragma once
#include <array>
#include <span>
#include <vector>

#include "analysis/trace/rank_events.h"

namespace tbd {

// Nanoseconds by mask of device classes. All integers: the sum is the window's length, exactly.
struct MaskTimes {
  std::array<int64_t, 1 << kDeviceClasses> by_mask{};

  int64_t window() const;
  int64_t idle() const { return by_mask[0]; }
  int64_t busy() const { return window() - idle(); }
  int64_t busy(uint8_t classes) const;          // any of the classes active
  int64_t overlap(uint8_t a, uint8_t b) const;  // one of each active at once
  MaskTimes& operator+=(const MaskTimes& other);
  bool operator==(const MaskTimes&) const = default;
};

// Activities in any order; what lies outside the window is cut off. At equal times ends come before begins.
MaskTimes sweep(std::span<const Activity> activities, TimeSpan window);
// Adds a span that begins no earlier than those before it to their union, `spans`; an empty one adds nothing.
void join_span(std::vector<TimeSpan>& spans, TimeSpan span);
// The union of the activities inside the window: disjoint, ascending, touching ones joined. `activities` by begin.
std::vector<TimeSpan> busy_intervals(std::span<const Activity> activities, TimeSpan window);
// What the union leaves of the window, ascending.
std::vector<TimeSpan> gaps_between(std::span<const TimeSpan> busy, TimeSpan window);
int64_t total(std::span<const TimeSpan> intervals);

}  // namespace tbd
