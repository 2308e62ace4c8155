#include "analysis/trace/critical_path.h"

#include <algorithm>
#include <numeric>

#include "analysis/trace/path_walk.h"

namespace tbd {
namespace {

// Ranges around whole steps would hide where a thread had nothing to do.
std::vector<TimeSpan> covered_by_events(const Trace& trace, std::span<const uint32_t> events, HostCauses& causes) {
  std::vector<Activity> spans;
  for (const uint32_t event : events) {
    if (trace.kinds()[event] == EventKind::api || causes(event))
      spans.push_back({trace.begins()[event], trace.end(event)});
  }
  return busy_intervals(spans, {INT64_MIN, INT64_MAX});
}

}  // namespace

int64_t PathTimes::total() const { return std::accumulate(device.begin(), device.end(), tbd::total(host)); }

PathTimes& PathTimes::operator+=(const PathTimes& other) {
  for (size_t i = 0; i < device.size(); ++i) device[i] += other.device[i];
  for (size_t i = 0; i < host.size(); ++i) host[i] += other.host[i];
  return *this;
}

CriticalPath::CriticalPath(const RankEvents& rank, const Launches& launches, const IdleCauses& causes)
    : rank_(rank), launches_(launches), causes_(causes), by_end_(rank.activities.size()), before_(by_end_.size()) {
  const Trace& trace = *rank.trace;
  HostCauses host_causes(trace);
  for (const TrackId host : rank.hosts) {
    Thread& thread = threads_[host];
    thread.covered = covered_by_events(trace, rank.by_track[host], host_causes);
    for (const uint32_t event : rank.by_track[host])
      if (host_causes(event) == IdleCause::sync) thread.syncs.push_back(event);
  }
  std::iota(by_end_.begin(), by_end_.end(), size_t{0});
  std::ranges::stable_sort(by_end_, {}, [&](size_t i) { return rank.activities[i].end; });
  std::map<TrackId, size_t> last;
  for (size_t i = 0; i < rank.activities.size(); ++i) {
    const Activity& activity = rank.activities[i];
    if (!rank.on_device) threads_[activity.track].leaves.push_back(activity);
    if (const auto found = last.find(activity.track); found != last.end()) before_[i] = found->second;
    last[activity.track] = i;
  }
}

std::optional<size_t> CriticalPath::finished_by(int64_t time) const {
  const auto end = [&](size_t i) { return rank_.activities[i].end; };
  const auto next = std::ranges::upper_bound(by_end_, time, {}, end);
  if (next == by_end_.begin()) return std::nullopt;
  return *std::prev(next);
}

PathTimes CriticalPath::of_step(uint32_t step) const {
  const Trace& trace = *rank_.trace;
  Walk walk(*this, {trace.begins()[step], trace.end(step)});
  return walk.from_host(trace.track_ids()[step]);
}

PathTimes CriticalPath::of_window(TimeSpan window) const {
  Walk walk(*this, window);
  const auto last = finished_by(window.end);
  if (!last) return walk.nothing();
  return rank_.on_device ? walk.from_device(*last) : walk.from_host(rank_.activities[*last].track);
}

}  // namespace tbd
