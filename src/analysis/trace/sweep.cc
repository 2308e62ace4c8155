#include "analysis/trace/sweep.h"

#include <algorithm>
#include <numeric>

namespace tbd {
namespace {

// A begin or an end: the time, then the class; sorted by time, the order of equal times is of no consequence, since
// only the time between different ones is counted.
struct Edge {
  int64_t time;
  DeviceClass cls;
};

void sort_edges(LargeVector<Edge>& edges) {
  if (!std::ranges::is_sorted(edges, {}, &Edge::time)) std::ranges::sort(edges, {}, &Edge::time);
}

class Counters {
 public:
  void add(DeviceClass cls, int64_t by) {
    int64_t& count = counts_[static_cast<size_t>(cls)];
    count += by;
    mask_ = static_cast<uint8_t>(count != 0 ? mask_ | bit(cls) : mask_ & ~bit(cls));
  }
  uint8_t mask() const { return mask_; }

 private:
  std::array<int64_t, kDeviceClasses> counts_{};
  uint8_t mask_ = 0;
};

}  // namespace

int64_t MaskTimes::window() const { return std::accumulate(by_mask.begin(), by_mask.end(), int64_t{0}); }

int64_t MaskTimes::busy(uint8_t classes) const {
  int64_t sum = 0;
  for (size_t mask = 0; mask < by_mask.size(); ++mask)
    if (mask & classes) sum += by_mask[mask];
  return sum;
}

int64_t MaskTimes::overlap(uint8_t a, uint8_t b) const {
  int64_t sum = 0;
  for (size_t mask = 0; mask < by_mask.size(); ++mask)
    if ((mask & a) && (mask & b)) sum += by_mask[mask];
  return sum;
}

MaskTimes& MaskTimes::operator+=(const MaskTimes& other) {
  for (size_t i = 0; i < by_mask.size(); ++i) by_mask[i] += other.by_mask[i];
  return *this;
}

MaskTimes sweep(std::span<const Activity> activities, TimeSpan window) {
  LargeVector<Edge> begins, ends;
  begins.reserve(activities.size());
  ends.reserve(activities.size());
  for (const Activity& a : activities) {
    const int64_t begin = std::max(a.begin, window.begin), end = std::min(a.end, window.end);
    if (begin >= end) continue;
    begins.push_back({begin, a.cls});
    ends.push_back({end, a.cls});
  }
  sort_edges(begins);
  sort_edges(ends);
  MaskTimes times;
  Counters active;
  int64_t now = window.begin;
  for (size_t b = 0, e = 0; e < ends.size();) {
    const bool is_end = b == begins.size() || ends[e].time <= begins[b].time;
    const Edge& edge = is_end ? ends[e++] : begins[b++];
    times.by_mask[active.mask()] += edge.time - now;
    now = edge.time;
    active.add(edge.cls, is_end ? -1 : 1);
  }
  times.by_mask[0] += window.end - now;
  return times;
}

void join_span(std::vector<TimeSpan>& spans, TimeSpan span) {
  if (span.begin >= span.end) return;
  if (!spans.empty() && span.begin <= spans.back().end)
    spans.back().end = std::max(spans.back().end, span.end);
  else
    spans.push_back(span);
}

std::vector<TimeSpan> busy_intervals(std::span<const Activity> activities, TimeSpan window) {
  std::vector<TimeSpan> out;
  for (const Activity& a : activities) join_span(out, {std::max(a.begin, window.begin), std::min(a.end, window.end)});
  return out;
}

std::vector<TimeSpan> gaps_between(std::span<const TimeSpan> busy, TimeSpan window) {
  std::vector<TimeSpan> out;
  int64_t now = window.begin;
  for (const TimeSpan& interval : busy) {
    if (interval.begin > now) out.push_back({now, interval.begin});
    now = interval.end;
  }
  if (window.end > now) out.push_back({now, window.end});
  return out;
}

int64_t total(std::span<const TimeSpan> intervals) {
  int64_t sum = 0;
  for (const TimeSpan& interval : intervals) sum += interval.length();
  return sum;
}

}  // namespace tbd
