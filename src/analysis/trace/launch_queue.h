// What the host had put on a device and the device had not begun: the depth of its queue at each launch and at the
// begin of each gap, and which gaps the host's launching explains (docs/trace.md).
#pragma once
#include <map>
#include <vector>

#include "analysis/trace/idle.h"

namespace tbd {

struct GapTimes {
  int64_t count = 0, ns = 0;
};

// Of one device over one or more windows.
struct QueueUse {
  std::map<int64_t, int64_t> depths;  // how many launches found that many activities queued
  // Gaps by what was queued when they began; their times add up to the idle time. `unknown`: no launch is known of the
  // activity that ended the gap, or nothing ended it.
  GapTimes queued, empty, unknown;
  // Of `empty`, what the launching thread spent on launching: its time in ops outside what waits, in the launch call,
  // and the usual delay after it. Counts the gaps that have such time.
  GapTimes launch_bound;

  int64_t launches() const;
  int64_t onto_empty() const;  // launches that found nothing queued
  // The smallest depth that at least this share of launches found at most; 0 without launches. `share` in [0, 1].
  int64_t depth_at(double share) const;
  QueueUse& operator+=(const QueueUse& other);
};

// An activity is queued from the end of the call that launched it to its own begin. One that began while the call still
// ran was never queued, and neither was one whose call the trace lost.
class LaunchQueue {
 public:
  LaunchQueue(const RankEvents& rank, const Launches& launches);

  int64_t depth(int64_t time) const;  // activities queued then
  // Adds the launches that begin in the window; a call that starts several activities, as a graph's, is one launch.
  void add_launches(TimeSpan window, QueueUse& use) const;
  // `causes` are those of this gap alone (IdleCauses::add_device).
  void add_gap(const Gap& gap, const CauseTimes& causes, QueueUse& use) const;

 private:
  const Launches& launches_;
  std::vector<int64_t> calls_;            // begins of calls that launched something, ascending
  std::vector<int64_t> entered_, begun_;  // of all activities that were queued, each ascending
};

// Of all launches and gaps of the device in the window. `causes` of that window.
QueueUse queue_use(const RankEvents& rank, const Launches& launches, const IdleCauses& causes, TimeSpan window);

}  // namespace tbd
