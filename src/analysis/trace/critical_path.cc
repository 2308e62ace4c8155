#include "analysis/trace/critical_path.h"

#include <numeric>

#include "analysis/trace/order.h"
#include "analysis/trace/path_walk.h"

namespace tbd {
namespace {

// Ranges around whole steps would hide where a thread had nothing to do; a wait that the thread chose is no work.
bool says_what_it_did(EventKind kind, std::optional<IdleCause> cause) { return kind == EventKind::api || cause; }

}  // namespace

int64_t PathTimes::total() const { return std::accumulate(device.begin(), device.end(), tbd::total(host)); }

PathTimes& PathTimes::operator+=(const PathTimes& other) {
  for (size_t i = 0; i < device.size(); ++i) device[i] += other.device[i];
  for (size_t i = 0; i < host.size(); ++i) host[i] += other.host[i];
  return *this;
}

CriticalPath::CriticalPath(const RankEvents& rank, const Launches& launches, const IdleCauses& causes)
    : rank_(rank),
      launches_(launches),
      causes_(causes),
      threads_(rank.by_track.size()),
      before_(rank.activities.size(), kNone) {
  const Trace& trace = *rank.trace;
  HostCauses host_causes(trace);
  for (const TrackId host : rank.hosts) {
    Thread& thread = threads_[host];
    for (const uint32_t event : rank.by_track[host]) {
      const auto cause = host_causes(event);
      if (says_what_it_did(trace.kinds()[event], cause))
        join_span(thread.covered, {trace.begins()[event], trace.end(event)});
      if (cause == IdleCause::sync) thread.syncs.push_back(event);
    }
  }
  std::vector<std::vector<uint32_t>> of_track(trace.tracks().size());
  for (uint32_t i = 0; i < rank.activities.size(); ++i) {
    std::vector<uint32_t>& earlier = of_track[rank.activities[i].track];
    if (!earlier.empty()) before_[i] = earlier.back();
    earlier.push_back(i);
  }
  order_by_end(of_track);
  if (rank.on_device) return;
  for (size_t track = 0; track < of_track.size(); ++track)
    for (const uint32_t i : of_track[track]) threads_[track].work.push_back(rank.activities[i]);
}

void CriticalPath::order_by_end(std::span<const std::vector<uint32_t>> of_track) {
  std::vector<size_t> runs;
  by_end_.reserve(rank_.activities.size());
  for (const std::vector<uint32_t>& activities : of_track) {
    if (activities.empty()) continue;
    for (const uint32_t i : activities) by_end_.push_back({rank_.activities[i].end, i});
    runs.push_back(by_end_.size());
  }
  merge_runs(by_end_, std::move(runs),
             [](const End& a, const End& b) { return a.time != b.time ? a.time < b.time : a.activity < b.activity; });
}

std::optional<size_t> CriticalPath::before(size_t activity) const {
  return before_[activity] == kNone ? std::nullopt : std::optional<size_t>(before_[activity]);
}

std::optional<size_t> CriticalPath::finished_by(int64_t time) const {
  near_ = partition_near(by_end_, near_, [&](const End& end) { return end.time <= time; });
  return near_ == 0 ? std::nullopt : std::optional<size_t>(by_end_[near_ - 1].activity);
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
