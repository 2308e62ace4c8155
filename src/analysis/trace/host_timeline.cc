#include "analysis/trace/host_timeline.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <queue>

#include "analysis/trace/order.h"

namespace tbd {
namespace {

constexpr size_t kHostCauses = 9;  // input to host_other

// Of the spans that are open at an instant, the cause that counts.
class OpenCauses {
 public:
  void add(uint8_t cause, int by) {
    counts_[cause] += by;
    const auto bit = static_cast<uint16_t>(1 << cause);
    open_ = static_cast<uint16_t>(counts_[cause] != 0 ? open_ | bit : open_ & ~bit);
  }
  IdleCause first() const {
    return open_ == 0 ? IdleCause::host_other : static_cast<IdleCause>(std::countr_zero(open_));
  }

 private:
  std::array<int64_t, kHostCauses> counts_{};
  uint16_t open_ = 0;
};

struct End {
  int64_t time;
  uint8_t cause;
  bool operator>(const End& other) const { return time > other.time; }
};

}  // namespace

int64_t total(const CauseTimes& times) { return std::accumulate(times.begin(), times.end(), int64_t{0}); }

HostTimeline::HostTimeline(const Trace& trace, std::span<const uint32_t> events, const HostTimeline* other)
    : other_(other) {
  HostCauses causes(trace);
  OpenCauses open;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends;  // where spans nest, the last one opened is first
  int64_t now = 0;
  const auto change = [&](int64_t time, uint8_t cause, int by) {
    if (time != now) close_instant(now, open.first());
    now = time;
    open.add(cause, by);
  };
  const auto close = [&] {
    change(ends.top().time, ends.top().cause, -1);
    ends.pop();
  };
  for (const uint32_t event : events) {
    const auto cause = causes(event);
    if (!cause || trace.durations()[event] == 0) continue;
    const int64_t begin = trace.begins()[event];
    while (!ends.empty() && ends.top().time <= begin) close();
    change(begin, static_cast<uint8_t>(*cause), 1);
    ends.push({trace.end(event), static_cast<uint8_t>(*cause)});
  }
  while (!ends.empty()) close();
  close_instant(now, open.first());
}

void HostTimeline::close_instant(int64_t time, IdleCause cause) {
  const IdleCause before = segments_.empty() ? IdleCause::host_other : segments_.back().cause;
  if (cause != before) segments_.push_back({time, cause});
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
