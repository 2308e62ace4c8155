// The events of one rank of a trace, in order of time on each thread and stream.
#pragma once
#include <span>
#include <vector>

#include "analysis/trace/classes.h"
#include "trace/trace.h"

namespace tbd {

struct TimeSpan {
  int64_t begin = 0, end = 0;
  int64_t length() const { return end - begin; }
  bool operator==(const TimeSpan&) const = default;
};

// Something that keeps a device busy: a kernel, a copy, a stretch of an op on a CPU.
struct Activity {
  int64_t begin = 0, end = 0;
  uint32_t event = 0;  // in the trace
  TrackId track = 0;
  DeviceClass cls = DeviceClass::compute;
  bool resumed = false;  // a later stretch of an event that has an earlier one
};

struct RankEvents {
  const Trace* trace = nullptr;
  int32_t rank = 0;
  bool on_device = false;                       // has device activities; otherwise the host's processor is the device
  std::vector<TrackId> hosts, streams;          // tracks of the rank with events
  std::vector<std::vector<uint32_t>> by_track;  // events by begin, longer first where equal, then as in the trace
  LargeVector<Activity> activities;             // by begin, end, event
  std::vector<Activity> dispatch;               // what ops do besides them, one thread after the other
  std::vector<uint32_t> steps;                  // events of kind step, by begin
  int64_t beyond = 0;                           // events left out: 73 years or more from the trace's base

  const Track& track(TrackId id) const { return trace->tracks()[id]; }
};

// Times of events lie less than this from the trace's base, 73 years: sums and differences of two stay in range.
constexpr int64_t kFarthest = INT64_C(1) << 61;

// Of two that are not negative; the largest number there is where it is not enough.
constexpr int64_t sum_in_range(int64_t a, int64_t b) { return b > INT64_MAX - a ? INT64_MAX : a + b; }

std::vector<int32_t> ranks_of(const Trace& trace);  // ascending, those with events
// `trace` must outlive the result.
RankEvents rank_events(const Trace& trace, int32_t rank);
// The time of the ops of a host track laid flat: each instant is the innermost open op's, so an op has its own time,
// that outside the ops it calls, in one stretch or several. They do not overlap and are by begin. The own time of an op
// that works is an activity; so is that of a wrapper in which no op works, since the trace names nothing else that did.
// The own time of other wrappers and of housekeeping ops is dispatch. No op does anything while its thread is
// preempted: such time is cut out, and of a stretch that is preempted throughout its begin is left.
struct OpTimes {
  std::vector<Activity> activities, dispatch;
};
OpTimes op_times(const Trace& trace, TrackId track, std::span<const uint32_t> events);

}  // namespace tbd
