#include "analysis/trace/host_timeline.h"

#include <algorithm>
#include <numeric>

namespace tbd {
namespace {

constexpr size_t kHostCauses = 9;  // input to host_other

struct Edge {
  int64_t time;
  int8_t by;  // -1: an end
  uint8_t cause;
};

std::vector<Edge> edges_of(const Trace& trace, std::span<const uint32_t> events) {
  std::vector<Edge> edges;
  HostCauses causes(trace);
  for (const uint32_t event : events) {
    if (trace.durations()[event] == 0) continue;
    const auto cause = causes(event);
    if (!cause) continue;
    const auto code = static_cast<uint8_t>(*cause);
    edges.push_back({trace.begins()[event], 1, code});
    edges.push_back({trace.end(event), -1, code});
  }
  std::ranges::sort(edges, {}, &Edge::time);
  return edges;
}

IdleCause first_open(const std::array<int64_t, kHostCauses>& open) {
  for (size_t i = 0; i < open.size(); ++i)
    if (open[i] != 0) return static_cast<IdleCause>(i);
  return IdleCause::host_other;
}

}  // namespace

int64_t total(const CauseTimes& times) { return std::accumulate(times.begin(), times.end(), int64_t{0}); }

HostTimeline::HostTimeline(const Trace& trace, std::span<const uint32_t> events) {
  const std::vector<Edge> edges = edges_of(trace, events);
  std::array<int64_t, kHostCauses> open{};
  for (size_t i = 0; i < edges.size();) {
    const int64_t now = edges[i].time;
    for (; i < edges.size() && edges[i].time == now; ++i) open[edges[i].cause] += edges[i].by;
    const IdleCause cause = first_open(open);
    if (segments_.empty() || segments_.back().cause != cause) segments_.push_back({now, cause});
  }
}

// The first segment that begins after `time`. Questions come in order of time as a rule, so it is looked for near the
// last answer first.
std::vector<HostTimeline::Segment>::const_iterator HostTimeline::after(int64_t time) const {
  constexpr size_t kNear = 64;
  size_t from = std::min(last_, segments_.size());
  if (from > 0 && segments_[from - 1].begin > time) from = 0;
  const size_t to =
      from + kNear < segments_.size() && segments_[from + kNear].begin > time ? from + kNear : segments_.size();
  const auto begin = segments_.begin() + static_cast<std::ptrdiff_t>(from);
  const auto end = segments_.begin() + static_cast<std::ptrdiff_t>(to);
  const auto found = std::ranges::upper_bound(begin, end, time, {}, &Segment::begin);
  last_ = static_cast<size_t>(found - segments_.begin());
  return found;
}

void HostTimeline::charge(TimeSpan interval, CauseTimes& times) const {
  if (interval.begin >= interval.end) return;
  auto next = after(interval.begin);
  int64_t now = interval.begin;
  while (now < interval.end) {
    const IdleCause cause = next == segments_.begin() ? IdleCause::host_other : std::prev(next)->cause;
    const int64_t until = next == segments_.end() ? interval.end : std::min(next->begin, interval.end);
    times[static_cast<size_t>(cause)] += until - now;
    now = until;
    if (next != segments_.end()) ++next;
  }
}

IdleCause HostTimeline::at(int64_t time) const {
  const auto next = after(time);
  return next == segments_.begin() ? IdleCause::host_other : std::prev(next)->cause;
}

}  // namespace tbd
