#include "analysis/trace/path_walk.h"

#include <algorithm>

#include "analysis/trace/order.h"

namespace tbd {

const TimeSpan* CriticalPath::Thread::last_before(int64_t time) const {
  near = partition_near(covered, near, [&](const TimeSpan& span) { return span.begin < time; });
  return near == 0 ? nullptr : &covered[near - 1];
}

CriticalPath::Walk::Walk(const CriticalPath& path, TimeSpan window)
    : path_(path), rank_(path.rank_), window_(window), now_(window.end) {}

PathTimes CriticalPath::Walk::from_host(TrackId thread) {
  walk({.on_host = true, .thread = thread});
  return times_;
}

PathTimes CriticalPath::Walk::from_device(size_t activity) {
  cause_until(rank_.activities[activity].end, IdleCause::host_other);
  walk({.activity = activity});
  return times_;
}

PathTimes CriticalPath::Walk::nothing() {
  end();
  return times_;
}

CriticalPath::Walk::Place CriticalPath::Walk::end() {
  cause_until(window_.begin, IdleCause::unattributed);
  return {};
}

void CriticalPath::Walk::walk(Place place) {
  // Every step goes back in time or to an earlier event; the bound holds where clocks that disagree make a ring.
  for (size_t left = 8 * rank_.trace->size() + 1000; now_ > window_.begin && left > 0; --left)
    place = place.on_host ? before_on_host(place.thread) : before_activity(place.activity);
  end();
}

void CriticalPath::Walk::device_until(int64_t begin, DeviceClass cls) {
  const int64_t to = clipped(begin);
  times_.device[static_cast<size_t>(cls)] += now_ - to;
  now_ = to;
}

void CriticalPath::Walk::cause_until(int64_t begin, IdleCause cause) {
  const int64_t to = clipped(begin);
  times_.host[static_cast<size_t>(cause)] += now_ - to;
  now_ = to;
}

void CriticalPath::Walk::host_until(int64_t begin, TrackId thread) {
  const int64_t to = clipped(begin);
  const HostTimeline& timeline = path_.causes_.timeline(thread);
  int64_t done = to;
  if (!rank_.on_device) {
    const auto& work = path_.threads_[thread].work;
    auto next = std::ranges::upper_bound(work, to, {}, &Activity::end);
    for (; next != work.end() && next->begin < now_; ++next) {
      const TimeSpan part{std::max(next->begin, done), std::min(next->end, now_)};
      if (part.begin >= part.end) continue;
      timeline.charge({done, part.begin}, times_.host);
      times_.device[static_cast<size_t>(next->cls)] += part.length();
      done = part.end;
    }
  }
  timeline.charge({done, now_}, times_.host);
  now_ = to;
}

std::optional<size_t> CriticalPath::Walk::waited_for(size_t activity) const {
  if (!path_.causes_.waits_for_stream({{window_.begin, now_}, activity, path_.before(activity)})) return std::nullopt;
  const auto last = path_.finished_by(now_);
  const bool on_another = last && rank_.activities[*last].track != rank_.activities[activity].track;
  return on_another ? last : std::nullopt;
}

CriticalPath::Walk::Place CriticalPath::Walk::before_activity(size_t activity) {
  const Activity& now = rank_.activities[activity];
  device_until(now.begin, now.cls);
  const Trace& trace = *rank_.trace;
  const auto on_stream = path_.before(activity), waited = waited_for(activity);
  const uint32_t call = path_.launches_.call_of[activity];
  constexpr int64_t kNever = std::numeric_limits<int64_t>::min();
  const auto end_of = [&](const std::optional<size_t>& a) { return a ? clipped(rank_.activities[*a].end) : kNever; };
  const int64_t stream_end = end_of(on_stream), waited_end = end_of(waited);
  const int64_t call_end = call == kNoEvent ? kNever : clipped(trace.end(call));
  if (stream_end == kNever && waited_end == kNever && call_end == kNever) return end();
  if (call_end > std::max(stream_end, waited_end)) {
    cause_until(call_end, IdleCause::latency);
    cause_until(trace.begins()[call], IdleCause::launch);
    return {.on_host = true, .thread = trace.track_ids()[call]};
  }
  const bool by_wait = waited_end > stream_end;
  cause_until(std::max(stream_end, waited_end), by_wait ? IdleCause::dependency : IdleCause::latency);
  return {.activity = by_wait ? *waited : *on_stream};
}

CriticalPath::Walk::Place CriticalPath::Walk::at_sync(TrackId thread, uint32_t sync) {
  const int64_t begin = rank_.trace->begins()[sync];
  host_until(rank_.trace->end(sync), thread);
  const auto last = rank_.on_device ? path_.finished_by(now_) : std::nullopt;
  if (last && rank_.activities[*last].end > begin) {
    cause_until(rank_.activities[*last].end, IdleCause::sync);
    return {.activity = *last};
  }
  host_until(begin, thread);
  return {.on_host = true, .thread = thread};
}

std::optional<CriticalPath::Walk::Place> CriticalPath::Walk::other_thread(TrackId thread, int64_t idle_since) {
  std::optional<TrackId> best;
  int64_t best_end = idle_since;
  for (const TrackId other : rank_.hosts) {
    const TimeSpan* interval = other == thread ? nullptr : path_.threads_[other].last_before(now_);
    const int64_t end = interval ? std::min(interval->end, now_) : best_end;
    if (end > best_end) {
      best = other;
      best_end = end;
    }
  }
  if (!best) return std::nullopt;
  host_until(best_end, thread);
  return Place{.on_host = true, .thread = *best};
}

CriticalPath::Walk::Place CriticalPath::Walk::before_on_host(TrackId thread) {
  const Place stay{.on_host = true, .thread = thread};
  const Thread& events = path_.threads_[thread];
  const TimeSpan* covered = events.last_before(now_);
  if (!covered || covered->end < now_) {
    const int64_t idle_since = covered ? covered->end : window_.begin;
    if (const auto other = other_thread(thread, std::max(idle_since, window_.begin))) return *other;
    host_until(idle_since, thread);
    return stay;
  }
  const auto& syncs = events.syncs;
  const auto begin = [&](uint32_t event) { return rank_.trace->begins()[event]; };
  const auto next = std::ranges::lower_bound(syncs, now_, {}, begin);
  if (next != syncs.begin() && begin(*std::prev(next)) >= covered->begin) return at_sync(thread, *std::prev(next));
  host_until(covered->begin, thread);
  return stay;
}

}  // namespace tbd
