#include "analysis/trace/idle.h"

#include <algorithm>

namespace tbd {
namespace {

void charge(CauseTimes& times, IdleCause cause, int64_t length) {
  if (length > 0) times[static_cast<size_t>(cause)] += length;
}

// How much of `interval` the disjoint, ascending `intervals` cover.
int64_t covered(std::span<const TimeSpan> intervals, TimeSpan interval) {
  int64_t sum = 0;
  auto next = std::ranges::upper_bound(intervals, interval.begin, {}, &TimeSpan::end);
  for (; next != intervals.end() && next->begin < interval.end; ++next)
    sum += std::min(next->end, interval.end) - std::max(next->begin, interval.begin);
  return sum;
}

std::optional<TrackId> thread_of_steps(const RankEvents& rank) {
  if (rank.steps.empty()) return std::nullopt;
  return rank.trace->track_ids()[rank.steps.front()];
}

// Cuts the front of `rest` up to `time` off and returns it.
TimeSpan cut_front(TimeSpan& rest, int64_t time) {
  const TimeSpan front{rest.begin, std::clamp(time, rest.begin, rest.end)};
  rest.begin = front.end;
  return front;
}

// `count` activities by begin, `at` gives each one's place; walks them once, keeping the latest end so far.
template <class At>
std::vector<Gap> gaps_of(const RankEvents& rank, size_t count, At at, TimeSpan window) {
  std::vector<Gap> gaps;
  gaps.reserve(count / 2);
  int64_t now = window.begin;
  std::optional<size_t> latest;
  for (size_t n = 0; n < count; ++n) {
    const size_t i = at(n);
    const Activity& activity = rank.activities[i];
    if (activity.begin >= window.end) break;
    if (activity.begin > now) gaps.push_back({{now, activity.begin}, i, latest});
    if (activity.end > now || !latest) {
      now = std::max(now, activity.end);
      latest = i;
    }
  }
  if (now < window.end) gaps.push_back({{now, window.end}, std::nullopt, latest});
  return gaps;
}

}  // namespace

IdleCauses::IdleCauses(const RankEvents& rank, const Launches& launches, TimeSpan window)
    : rank_(rank),
      launches_(launches),
      busy_(busy_intervals(rank.activities, window)),
      timelines_(rank.by_track.size()),
      wait_calls_(rank.by_track.size()),
      stream_waits_(rank.by_track.size()) {
  if (!rank.on_device) return;
  learn_delay();
  collect_waits();
}

const HostTimeline& IdleCauses::timeline(TrackId host) const {
  std::optional<HostTimeline>& timeline = timelines_[host];
  if (timeline) return *timeline;
  const std::optional<TrackId> loop = thread_of_steps(rank_);
  const HostTimeline* other = !rank_.on_device && loop && *loop != host ? &this->timeline(*loop) : nullptr;
  return timeline.emplace(*rank_.trace, rank_.by_track[host], other);
}

void IdleCauses::learn_delay() {
  std::vector<std::optional<int64_t>> ends(rank_.trace->tracks().size());  // of what ran last on each stream
  std::vector<int64_t> delays;
  for (size_t i = 0; i < rank_.activities.size(); ++i) {
    const Activity& activity = rank_.activities[i];
    std::optional<int64_t>& last = ends[activity.track];
    const uint32_t call = launches_.call_of[i];
    if (last && call != kNoEvent && activity.begin >= *last) {
      const int64_t gap = activity.begin - *last;
      if (rank_.trace->end(call) <= *last - gap) delays.push_back(gap);
    }
    last = std::max(last.value_or(activity.end), activity.end);
  }
  if (delays.empty()) return;
  const size_t place = (delays.size() * 95 + 99) / 100 - 1;  // nearest rank
  std::ranges::nth_element(delays, delays.begin() + static_cast<std::ptrdiff_t>(place));
  delay_ = delays[place];
}

void IdleCauses::collect_waits() {
  const Trace& trace = *rank_.trace;
  std::vector<int8_t> known(trace.strings().size(), -1);
  const auto waits = [&](StringId name) {
    if (known[name] < 0) known[name] = is_stream_wait(trace.strings()[name]);
    return known[name] == 1;
  };
  for (const TrackId host : rank_.hosts)
    for (const uint32_t event : rank_.by_track[host])
      if (trace.kinds()[event] == EventKind::api && waits(trace.names()[event]))
        wait_calls_[host].push_back(trace.begins()[event]);
  for (const TrackId stream : rank_.streams) {
    for (const uint32_t event : rank_.by_track[stream])
      if (trace.kinds()[event] == EventKind::sync && waits(trace.names()[event]))
        join_span(stream_waits_[stream], {trace.begins()[event], trace.end(event)});
  }
}

bool IdleCauses::waits_for_stream(const Gap& gap) const {
  const uint32_t call = gap.next ? launches_.call_of[*gap.next] : kNoEvent;
  if (call == kNoEvent) return false;
  const uint32_t before = gap.previous ? launches_.call_of[*gap.previous] : kNoEvent;
  const std::vector<int64_t>& calls = wait_calls_[rank_.trace->track_ids()[call]];
  if (calls.empty()) return false;
  const int64_t from = before == kNoEvent ? INT64_MIN : rank_.trace->begins()[before];
  const auto first = std::ranges::lower_bound(calls, from);
  return first != calls.end() && *first < rank_.trace->begins()[call];
}

void IdleCauses::charge_waiting(TimeSpan rest, const Gap& gap, bool stream, CauseTimes& times) const {
  const Activity& next = rank_.activities[*gap.next];
  int64_t waited = covered(stream_waits_[next.track], rest);
  if (stream && waited == 0 && waits_for_stream(gap)) waited = covered(busy_, rest);
  charge(times, IdleCause::dependency, waited);
  charge(times, IdleCause::device_other, rest.length() - waited);
}

void IdleCauses::split(const Gap& gap, bool stream, CauseTimes& times) const {
  TimeSpan rest = gap.interval;
  if (!gap.next) return charge(times, IdleCause::unattributed, rest.length());
  if (!rank_.on_device) return timeline(rank_.activities[*gap.next].track).charge(rest, times);
  const uint32_t call = launches_.call_of[*gap.next];
  if (call == kNoEvent) return charge(times, IdleCause::unattributed, rest.length());
  const Trace& trace = *rank_.trace;
  timeline(trace.track_ids()[call]).charge(cut_front(rest, trace.begins()[call]), times);
  charge(times, IdleCause::launch, cut_front(rest, trace.end(call)).length());
  const int64_t usual = delay_ > rest.length() ? rest.end : rest.begin + delay_;
  charge(times, IdleCause::latency, cut_front(rest, usual).length());
  if (rest.length() > 0) charge_waiting(rest, gap, stream, times);
}

void IdleCauses::add_device(const Gap& gap, CauseTimes& times) const { split(gap, false, times); }

void IdleCauses::add_stream(const Gap& gap, CauseTimes& times) const { split(gap, true, times); }

std::vector<Gap> device_gaps(const RankEvents& rank, TimeSpan window) {
  return gaps_of(
      rank, rank.activities.size(), [](size_t i) { return i; }, window);
}

std::vector<Gap> stream_gaps(const RankEvents& rank, std::span<const uint32_t> activities, TimeSpan window) {
  return gaps_of(
      rank, activities.size(), [&](size_t i) { return size_t{activities[i]}; }, window);
}

}  // namespace tbd
