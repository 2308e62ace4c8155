#include "analysis/trace/rank_events.h"

#include <algorithm>
#include <set>

#include "analysis/trace/order.h"

namespace tbd {
namespace {

bool is_op(EventKind kind) { return kind == EventKind::op || kind == EventKind::backward_op; }

// One class per name: names repeat.
class DeviceClasses {
 public:
  explicit DeviceClasses(const Trace& trace) : trace_(trace), known_(trace.strings().size(), kUnknown) {}
  std::optional<DeviceClass> operator()(size_t event) {
    const EventKind kind = trace_.kinds()[event];
    if (kind != EventKind::kernel) return device_class(kind, {});
    uint8_t& known = known_[trace_.names()[event]];
    if (known == kUnknown) known = static_cast<uint8_t>(*device_class(kind, trace_.name(event)));
    return static_cast<DeviceClass>(known);
  }

 private:
  static constexpr uint8_t kUnknown = 255;
  const Trace& trace_;
  std::vector<uint8_t> known_;
};

// What a leaf op of each name is; housekeeping ops are none.
class LeafClasses {
 public:
  explicit LeafClasses(const Trace& trace) : trace_(trace), known_(trace.strings().size(), kUnknown) {}
  std::optional<DeviceClass> operator()(size_t event) {
    uint8_t& known = known_[trace_.names()[event]];
    const std::string_view name = trace_.name(event);
    if (known == kUnknown) known = is_housekeeping(name) ? kNone : static_cast<uint8_t>(op_class(name));
    return known == kNone ? std::nullopt : std::optional(static_cast<DeviceClass>(known));
  }

 private:
  static constexpr uint8_t kUnknown = 255, kNone = 254;
  const Trace& trace_;
  std::vector<uint8_t> known_;
};

void sort_by_time(const Trace& trace, std::vector<uint32_t>& events) {
  const auto before = [&](uint32_t a, uint32_t b) {
    const int64_t begin_a = trace.begins()[a], begin_b = trace.begins()[b];
    if (begin_a != begin_b) return begin_a < begin_b;
    const int64_t length_a = trace.durations()[a], length_b = trace.durations()[b];
    return length_a != length_b ? length_a > length_b : a < b;
  };
  // Most lie in order as they are: those that do not are sorted alone and merged in.
  std::vector<uint32_t> late;
  size_t kept = 0;
  for (const uint32_t event : events) {
    if (kept > 0 && before(event, events[kept - 1]))
      late.push_back(event);
    else
      events[kept++] = event;
  }
  if (late.empty()) return;
  std::ranges::sort(late, before);
  std::ranges::copy(late, events.begin() + static_cast<std::ptrdiff_t>(kept));
  std::inplace_merge(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(kept), events.end(), before);
}

// Both leave one run after the other; the result is where the runs end.
std::vector<size_t> add_device_activities(RankEvents& rank) {
  DeviceClasses classes(*rank.trace);
  std::vector<size_t> ends;
  size_t most = 0;
  for (const TrackId stream : rank.streams) most += rank.by_track[stream].size();
  rank.activities.reserve(most);
  for (const TrackId stream : rank.streams) {
    for (const uint32_t event : rank.by_track[stream])
      if (const auto cls = classes(event))
        rank.activities.push_back({rank.trace->begins()[event], rank.trace->end(event), event, stream, *cls});
    ends.push_back(rank.activities.size());
  }
  return ends;
}

// What of `op` lies between the leaves from `first` on, which it contains.
void add_own_stretches(const Activity& op, size_t first, std::vector<Activity>& leaves) {
  std::vector<Activity> inside(leaves.begin() + static_cast<std::ptrdiff_t>(first), leaves.end());
  leaves.resize(first);
  int64_t now = op.begin;
  const auto add_until = [&](int64_t end) {
    if (end > now) leaves.push_back({now, end, op.event, op.track, op.cls});
  };
  for (const Activity& leaf : inside) {
    add_until(leaf.begin);
    leaves.push_back(leaf);
    now = std::max(now, leaf.end);
  }
  add_until(op.end);
}

// Disjoint, ascending.
std::vector<TimeSpan> preemptions(const Trace& trace, std::span<const uint32_t> events) {
  std::vector<TimeSpan> spans;
  for (const uint32_t event : events) {
    if (!is_preemption(trace.kinds()[event], trace.name(event))) continue;
    const TimeSpan span{trace.begins()[event], trace.end(event)};
    if (spans.empty() || span.begin > spans.back().end)
      spans.push_back(span);
    else
      spans.back().end = std::max(spans.back().end, span.end);
  }
  return spans;
}

void add_without(Activity leaf, std::span<const TimeSpan> away, std::vector<Activity>& out) {
  const size_t before = out.size();
  const int64_t begin = leaf.begin, end = leaf.end;
  auto next = std::ranges::upper_bound(away, begin, {}, &TimeSpan::end);
  for (; next != away.end() && next->begin < end; ++next) {
    leaf.end = next->begin;
    if (leaf.end > leaf.begin) out.push_back(leaf);
    leaf.begin = next->end;
  }
  leaf.end = end;
  if (leaf.end > leaf.begin) out.push_back(leaf);
  leaf.begin = leaf.end = begin;
  if (out.size() == before) out.push_back(leaf);
}

std::vector<Activity> without(std::vector<Activity> leaves, std::span<const TimeSpan> away) {
  if (away.empty()) return leaves;
  std::vector<Activity> cut;
  for (const Activity& leaf : leaves) add_without(leaf, away, cut);
  return cut;
}

std::vector<size_t> add_leaf_ops(RankEvents& rank) {
  std::vector<size_t> ends;
  for (const TrackId host : rank.hosts) {
    const std::vector<Activity> leaves = leaf_ops(*rank.trace, host, rank.by_track[host]);
    rank.activities.insert(rank.activities.end(), leaves.begin(), leaves.end());
    ends.push_back(rank.activities.size());
  }
  return ends;
}

bool is_before(const Activity& a, const Activity& b) {
  if (a.begin != b.begin) return a.begin < b.begin;
  return a.end != b.end ? a.end < b.end : a.event < b.event;
}

}  // namespace

std::vector<int32_t> ranks_of(const Trace& trace) {
  std::vector<bool> used(trace.tracks().size(), false);
  for (const TrackId track : trace.track_ids()) used[track] = true;
  std::set<int32_t> ranks;
  for (size_t i = 0; i < used.size(); ++i)
    if (used[i]) ranks.insert(trace.tracks()[i].rank);
  return {ranks.begin(), ranks.end()};
}

std::vector<Activity> leaf_ops(const Trace& trace, TrackId track, std::span<const uint32_t> events) {
  struct Open {
    uint32_t event;
    size_t leaves;         // before it
    bool has_ops = false;  // that compute
  };
  std::vector<Open> open;
  std::vector<Activity> leaves;
  LeafClasses classes(trace);
  const auto close = [&] {
    const Open op = open.back();
    open.pop_back();
    const auto cls = classes(op.event);
    if (op.has_ops && cls && computes_itself(trace.name(op.event)))
      add_own_stretches({trace.begins()[op.event], trace.end(op.event), op.event, track, *cls}, op.leaves, leaves);
    if (!op.has_ops && cls) leaves.push_back({trace.begins()[op.event], trace.end(op.event), op.event, track, *cls});
    if (!open.empty() && (op.has_ops || cls)) open.back().has_ops = true;
  };
  for (const uint32_t event : events) {
    if (!is_op(trace.kinds()[event])) continue;
    while (!open.empty() && trace.end(open.back().event) <= trace.begins()[event]) close();
    open.push_back({event, leaves.size()});
  }
  while (!open.empty()) close();
  return without(std::move(leaves), preemptions(trace, events));
}

RankEvents rank_events(const Trace& trace, int32_t rank) {
  RankEvents out{.trace = &trace, .rank = rank};
  out.by_track.resize(trace.tracks().size());
  std::vector<size_t> counts(trace.tracks().size(), 0);
  for (const TrackId track : trace.track_ids()) ++counts[track];
  std::vector<bool> is_mine(counts.size());
  for (size_t i = 0; i < counts.size(); ++i) {
    is_mine[i] = trace.tracks()[i].rank == rank;
    if (is_mine[i]) out.by_track[i].reserve(counts[i]);
  }
  for (uint32_t i = 0; i < trace.size(); ++i) {
    const TrackId track = trace.track_ids()[i];
    if (!is_mine[track]) continue;
    const bool in_range = trace.begins()[i] > -kFarthest && trace.end(i) < kFarthest;
    if (in_range)
      out.by_track[track].push_back(i);
    else
      ++out.beyond;
  }
  for (size_t i = 0; i < counts.size(); ++i) {
    if (out.by_track[i].empty()) continue;
    sort_by_time(trace, out.by_track[i]);
    const bool host = trace.tracks()[i].place == Track::Place::host;
    (host ? out.hosts : out.streams).push_back(static_cast<TrackId>(i));
    for (const uint32_t event : out.by_track[i])
      if (host && trace.kinds()[event] == EventKind::step) out.steps.push_back(event);
  }
  sort_by_time(trace, out.steps);
  std::vector<size_t> runs = add_device_activities(out);
  out.on_device = !out.activities.empty();
  if (!out.on_device) runs = add_leaf_ops(out);
  merge_runs(out.activities, std::move(runs), is_before);
  return out;
}

}  // namespace tbd
