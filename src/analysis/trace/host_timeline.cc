#include "analysis/trace/host_timeline.h"

#include <algorithm>
#include <numeric>

#include "analysis/trace/order.h"

namespace tbd {
namespace {

constexpr size_t kHostCauses = 9;  // input to host_other

struct Edge {
  int64_t time;
  int8_t by;  // -1: an end
  uint8_t cause;
};

// In order of time. Events come by begin: where they nest, a stack gives their ends in order too.
std::vector<Edge> edges_of(const Trace& trace, std::span<const uint32_t> events) {
  std::vector<Edge> edges, open;
  edges.reserve(2 * events.size());
  HostCauses causes(trace);
  bool nested = true;
  const auto close = [&] { edges.push_back(open.back()), open.pop_back(); };
  for (const uint32_t event : events) {
    if (trace.durations()[event] == 0) continue;
    const auto cause = causes(event);
    if (!cause) continue;
    const auto code = static_cast<uint8_t>(*cause);
    const int64_t begin = trace.begins()[event], end = trace.end(event);
    while (!open.empty() && open.back().time <= begin) close();
    nested = nested && (open.empty() || end <= open.back().time);
    edges.push_back({begin, 1, code});
    open.push_back({end, -1, code});
  }
  while (!open.empty()) close();
  if (!nested) std::ranges::sort(edges, {}, &Edge::time);
  return edges;
}

IdleCause first_open(const std::array<int64_t, kHostCauses>& open) {
  for (size_t i = 0; i < open.size(); ++i)
    if (open[i] != 0) return static_cast<IdleCause>(i);
  return IdleCause::host_other;
}

}  // namespace

int64_t total(const CauseTimes& times) { return std::accumulate(times.begin(), times.end(), int64_t{0}); }

HostTimeline::HostTimeline(const Trace& trace, std::span<const uint32_t> events, const HostTimeline* other)
    : other_(other) {
  const std::vector<Edge> edges = edges_of(trace, events);
  std::array<int64_t, kHostCauses> open{};
  for (size_t i = 0; i < edges.size();) {
    const int64_t now = edges[i].time;
    for (; i < edges.size() && edges[i].time == now; ++i) open[edges[i].cause] += edges[i].by;
    const IdleCause cause = first_open(open);
    if (segments_.empty() || segments_.back().cause != cause) segments_.push_back({now, cause});
  }
}

std::vector<HostTimeline::Segment>::const_iterator HostTimeline::after(int64_t time) const {
  last_ = partition_near(segments_, last_, [&](const Segment& segment) { return segment.begin <= time; });
  return segments_.begin() + static_cast<std::ptrdiff_t>(last_);
}

void HostTimeline::charge(TimeSpan interval, CauseTimes& times) const {
  if (interval.begin >= interval.end) return;
  auto next = after(interval.begin);
  int64_t now = interval.begin;
  while (now < interval.end) {
    const IdleCause cause = next == segments_.begin() ? IdleCause::host_other : std::prev(next)->cause;
    const int64_t until = next == segments_.end() ? interval.end : std::min(next->begin, interval.end);
    charge({now, until}, cause, times);
    now = until;
    if (next != segments_.end()) ++next;
  }
}

void HostTimeline::charge(TimeSpan interval, IdleCause cause, CauseTimes& times) const {
  if (cause == IdleCause::host_other && other_) return other_->charge(interval, times);
  times[static_cast<size_t>(cause)] += interval.length();
}

IdleCause HostTimeline::at(int64_t time) const {
  const auto next = after(time);
  const IdleCause cause = next == segments_.begin() ? IdleCause::host_other : std::prev(next)->cause;
  return cause == IdleCause::host_other && other_ ? other_->at(time) : cause;
}

}  // namespace tbd
