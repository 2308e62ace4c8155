// One backward walk along a critical path.
#pragma once
#include <limits>

#include "analysis/trace/critical_path.h"

namespace tbd {

class CriticalPath::Walk {
 public:
  Walk(const CriticalPath& path, TimeSpan window);
  PathTimes from_host(TrackId thread);
  PathTimes from_device(size_t activity);
  PathTimes nothing();  // no event to begin with: unattributed

 private:
  struct Place {
    bool on_host = false;
    TrackId thread = 0;
    size_t activity = 0;
  };
  void walk(Place place);
  Place before_activity(size_t activity);
  Place before_on_host(TrackId thread);
  Place at_sync(TrackId thread, uint32_t sync);
  std::optional<Place> other_thread(TrackId thread, int64_t idle_since);
  std::optional<size_t> waited_for(size_t activity) const;
  void device_until(int64_t begin, DeviceClass cls);  // charges [begin, now) and goes there
  void host_until(int64_t begin, TrackId thread);
  void cause_until(int64_t begin, IdleCause cause);
  int64_t clipped(int64_t time) const { return std::clamp(time, window_.begin, now_); }
  Place end();  // charges what is left as unattributed

  const CriticalPath& path_;
  const RankEvents& rank_;
  TimeSpan window_;
  int64_t now_;
  PathTimes times_;
};

}  // namespace tbd
