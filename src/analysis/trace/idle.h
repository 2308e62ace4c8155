// Why devices and streams were idle: every gap split in time by cause, to the nanosecond (docs/trace.md).
#pragma once
#include <algorithm>
#include <optional>
#include <vector>

#include "analysis/trace/host_timeline.h"
#include "analysis/trace/launches.h"
#include "analysis/trace/sweep.h"
#include "base/text.h"

namespace tbd {

// A gap and the activity that ended it; without one the gap reaches the window's end.
struct Gap {
  TimeSpan interval;
  std::optional<size_t> next;      // of RankEvents::activities
  std::optional<size_t> previous;  // that ended where the gap begins, on the same stream where it is a stream's gap
};

// Finds the gaps of a device, or of one of its streams or threads, whose activities come by begin.
class GapFinder {
 public:
  explicit GapFinder(TimeSpan window) : window_(window), now_(window.begin) {}
  template <class Visit>
  void next(const RankEvents& rank, size_t i, Visit visit) {
    const Activity& activity = rank.activities[i];
    if (activity.begin >= window_.end) return;
    if (activity.begin > now_) visit(Gap{{now_, activity.begin}, i, latest_});
    if (activity.end <= now_ && latest_) return;
    now_ = std::max(now_, activity.end);
    latest_ = i;
  }
  template <class Visit>
  void finish(Visit visit) const {
    if (now_ < window_.end) visit(Gap{{now_, window_.end}, std::nullopt, latest_});
  }

 private:
  TimeSpan window_;
  int64_t now_;
  std::optional<size_t> latest_;  // the activity that ended last
};

// Visits the gaps of the whole device.
template <class Visit>
void visit_gaps(const RankEvents& rank, TimeSpan window, Visit visit) {
  GapFinder gaps(window);
  for (size_t i = 0; i < rank.activities.size(); ++i) gaps.next(rank, i, visit);
  gaps.finish(visit);
}

// Attributes gaps. Of [a, b) before activity k the first rule counts at each instant: before k's launch began, what the
// launching thread did; inside the launch, launch; after it up to `delay`, latency; beyond, dependency while a stream
// was waited for, else device_other; without a launch, unattributed. On a CPU the executing thread stands in for the
// launching one, where it did nothing the thread of the steps, and there is neither launch nor latency.
class IdleCauses {
 public:
  IdleCauses(const RankEvents& rank, const Launches& launches, TimeSpan window);

  // Add the gap's length to `times`, by cause.
  void add_device(const Gap& gap, CauseTimes& times) const;
  void add_stream(const Gap& gap, CauseTimes& times) const;
  // The delay that is usual between a launch and its start: the 95th percentile of the gaps on a stream whose launch
  // had returned longer before the gap than the gap is long. 0 where there is none to learn from.
  int64_t delay() const { return delay_; }
  const HostTimeline& timeline(TrackId host) const;
  // Whether the launching thread told a stream to wait between the launch before the gap and the one after it.
  bool waits_for_stream(const Gap& gap) const;

 private:
  void learn_delay();
  void collect_waits();
  void split(const Gap& gap, bool stream, CauseTimes& times) const;
  void charge_waiting(TimeSpan rest, const Gap& gap, bool stream, CauseTimes& times) const;

  const RankEvents& rank_;
  const Launches& launches_;
  std::vector<TimeSpan> busy_;                                  // of the device
  mutable std::vector<std::optional<HostTimeline>> timelines_;  // by track, made when first asked for
  std::vector<std::vector<int64_t>> wait_calls_;                // begins of stream waits, by host track
  std::vector<std::vector<TimeSpan>> stream_waits_;             // recorded on the device, by stream
  int64_t delay_ = 0;
};

}  // namespace tbd
