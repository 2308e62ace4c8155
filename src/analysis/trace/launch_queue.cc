#include "analysis/trace/launch_queue.h"

#include <algorithm>
#include <cmath>

namespace tbd {
namespace {

// Calls of one thread are in order as a rule, and sorting what is sorted costs a look.
void sort_if_needed(std::vector<int64_t>& times) {
  if (!std::ranges::is_sorted(times)) std::ranges::sort(times);
}

int64_t count_until(const std::vector<int64_t>& times, int64_t time) {
  return std::ranges::upper_bound(times, time) - times.begin();
}

void add(GapTimes& sum, int64_t ns) {
  ++sum.count;
  sum.ns += ns;
}

GapTimes& operator+=(GapTimes& sum, const GapTimes& more) {
  sum.count += more.count;
  sum.ns += more.ns;
  return sum;
}

}  // namespace

int64_t QueueUse::launches() const {
  int64_t sum = 0;
  for (const auto& [depth, count] : depths) sum += count;
  return sum;
}

int64_t QueueUse::onto_empty() const {
  const auto empty_queue = depths.find(0);
  return empty_queue == depths.end() ? 0 : empty_queue->second;
}

int64_t QueueUse::depth_at(double share) const {
  const auto wanted = static_cast<int64_t>(std::ceil(share * static_cast<double>(launches())));
  int64_t seen = 0;
  for (const auto& [depth, count] : depths) {
    seen += count;
    if (seen >= wanted) return depth;
  }
  return 0;
}

QueueUse& QueueUse::operator+=(const QueueUse& other) {
  for (const auto& [depth, count] : other.depths) depths[depth] += count;
  queued += other.queued;
  empty += other.empty;
  unknown += other.unknown;
  launch_bound += other.launch_bound;
  return *this;
}

LaunchQueue::LaunchQueue(const RankEvents& rank, const Launches& launches) : launches_(launches) {
  const Trace& trace = *rank.trace;
  std::vector<bool> seen(trace.size(), false);
  for (size_t i = 0; i < rank.activities.size(); ++i) {
    const uint32_t call = launches.call_of[i];
    if (call == kNoEvent) continue;
    if (!seen[call]) calls_.push_back(trace.begins()[call]);
    seen[call] = true;
    // A call of no length must not find itself in the queue.
    const int64_t entered = std::max(trace.end(call), trace.begins()[call] + 1);
    if (entered >= rank.activities[i].begin) continue;
    entered_.push_back(entered);
    begun_.push_back(rank.activities[i].begin);  // activities come by begin
  }
  sort_if_needed(calls_);
  sort_if_needed(entered_);
}

int64_t LaunchQueue::depth(int64_t time) const { return count_until(entered_, time) - count_until(begun_, time); }

void LaunchQueue::add_launches(TimeSpan window, QueueUse& use) const {
  auto call = std::ranges::lower_bound(calls_, window.begin);
  for (; call != calls_.end() && *call < window.end; ++call) ++use.depths[depth(*call)];
}

void LaunchQueue::add_gap(const Gap& gap, const CauseTimes& causes, QueueUse& use) const {
  const int64_t length = gap.interval.length();
  if (!gap.next || launches_.call_of[*gap.next] == kNoEvent) return add(use.unknown, length);
  if (depth(gap.interval.begin) > 0) return add(use.queued, length);
  add(use.empty, length);
  int64_t launching = 0;
  for (const IdleCause cause : {IdleCause::dispatch, IdleCause::launch, IdleCause::latency})
    launching += causes[static_cast<size_t>(cause)];
  if (launching > 0) add(use.launch_bound, launching);
}

QueueUse queue_use(const RankEvents& rank, const Launches& launches, const IdleCauses& causes, TimeSpan window) {
  const LaunchQueue queue(rank, launches);
  QueueUse use;
  queue.add_launches(window, use);
  visit_gaps(rank, window, [&](const Gap& gap) {
    CauseTimes times{};
    causes.add_device(gap, times);
    queue.add_gap(gap, times, use);
  });
  return use;
}

}  // namespace tbd
