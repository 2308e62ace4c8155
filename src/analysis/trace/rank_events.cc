#include "analysis/trace/rank_events.h"

#include <algorithm>
#include <limits>
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

// What ops of each name are, each name looked at once.
class OpNames {
 public:
  explicit OpNames(const Trace& trace) : trace_(trace), known_(trace.strings().size()) {}
  struct Meaning {
    OpRole role = OpRole::work;
    DeviceClass cls = DeviceClass::compute;
  };
  Meaning operator()(uint32_t event) {
    std::optional<Meaning>& known = known_[trace_.names()[event]];
    if (!known) known = {op_role(trace_.name(event)), op_class(trace_.name(event))};
    return *known;
  }

 private:
  const Trace& trace_;
  std::vector<std::optional<Meaning>> known_;
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

// Lays nested ops flat. Whether a wrapper worked is known only when it ends, so stretches are sorted out at the end.
class FlatOps {
 public:
  FlatOps(const Trace& trace, TrackId track) : trace_(trace), track_(track), names_(trace) {}

  void open(uint32_t event) {  // events come by begin
    const int64_t begin = trace_.begins()[event];
    while (!open_.empty() && end_of(open_.back()) <= begin) close();
    cover_until(begin);
    open_.push_back(ops_.size());
    ops_.push_back({.event = event, .meaning = names_(event)});
  }
  OpTimes finish() {
    while (!open_.empty()) close();
    OpTimes times;
    for (const Stretch& stretch : stretches_) {
      Op& op = ops_[stretch.op];
      (op.works ? times.activities : times.dispatch)
          .push_back({stretch.span.begin, stretch.span.end, op.event, track_, op.meaning.cls, op.resumed});
      op.resumed = true;
    }
    return times;
  }

 private:
  struct Op {
    uint32_t event;
    OpNames::Meaning meaning;
    bool calls = false;         // another op
    bool works_inside = false;  // one that works
    bool works = false;
    bool resumed = false;
  };
  struct Stretch {
    TimeSpan span;
    size_t op;
  };
  int64_t end_of(size_t op) const { return trace_.end(ops_[op].event); }
  void cover_until(int64_t time) {
    if (!open_.empty() && time > now_) stretches_.push_back({{now_, time}, open_.back()});
    now_ = std::max(now_, time);
  }
  void close() {
    Op& op = ops_[open_.back()];
    const bool instant = trace_.durations()[op.event] == 0;
    if (instant && !op.calls) stretches_.push_back({{now_, now_}, open_.back()});
    cover_until(trace_.end(op.event));
    open_.pop_back();
    const OpRole role = op.meaning.role;
    op.works = role == OpRole::work || (role == OpRole::wrapper && !op.works_inside);
    if (open_.empty()) return;
    Op& caller = ops_[open_.back()];
    caller.calls = true;
    caller.works_inside = caller.works_inside || op.works || op.works_inside;
  }

  const Trace& trace_;
  TrackId track_;
  OpNames names_;
  std::vector<Op> ops_;
  std::vector<size_t> open_;  // the innermost last
  std::vector<Stretch> stretches_;
  int64_t now_ = std::numeric_limits<int64_t>::min();  // all before it is laid flat
};

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

void add_without(Activity stretch, std::span<const TimeSpan> away, std::vector<Activity>& out) {
  const size_t before = out.size();
  const int64_t begin = stretch.begin, end = stretch.end;
  const auto add = [&] {
    if (stretch.end <= stretch.begin) return;
    out.push_back(stretch);
    stretch.resumed = true;
  };
  auto next = std::ranges::upper_bound(away, begin, {}, &TimeSpan::end);
  for (; next != away.end() && next->begin < end; ++next) {
    stretch.end = next->begin;
    add();
    stretch.begin = next->end;
  }
  stretch.end = end;
  add();
  stretch.begin = stretch.end = begin;
  if (out.size() == before) out.push_back(stretch);
}

std::vector<Activity> without(std::vector<Activity> stretches, std::span<const TimeSpan> away) {
  if (away.empty()) return stretches;
  std::vector<Activity> cut;
  for (const Activity& stretch : stretches) add_without(stretch, away, cut);
  return cut;
}

std::vector<size_t> add_ops(RankEvents& rank) {
  std::vector<size_t> ends;
  for (const TrackId host : rank.hosts) {
    const OpTimes times = op_times(*rank.trace, host, rank.by_track[host]);
    rank.activities.insert(rank.activities.end(), times.activities.begin(), times.activities.end());
    rank.dispatch.insert(rank.dispatch.end(), times.dispatch.begin(), times.dispatch.end());
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

OpTimes op_times(const Trace& trace, TrackId track, std::span<const uint32_t> events) {
  FlatOps ops(trace, track);
  for (const uint32_t event : events)
    if (is_op(trace.kinds()[event])) ops.open(event);
  const std::vector<TimeSpan> away = preemptions(trace, events);
  OpTimes times = ops.finish();
  return {without(std::move(times.activities), away), without(std::move(times.dispatch), away)};
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
  if (!out.on_device) runs = add_ops(out);
  merge_runs(out.activities, std::move(runs), is_before);
  return out;
}

}  // namespace tbd
