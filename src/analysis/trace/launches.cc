#include "analysis/trace/launches.h"

#include <algorithm>
#include <unordered_map>

namespace tbd {
namespace {

// Ids are dense as a rule: a vector; where they are not, a map.
class CallsByLink {
 public:
  CallsByLink(uint32_t largest, size_t events) {
    if (largest <= 8 * events + (1 << 20)) dense_.assign(size_t{largest} + 1, kNoEvent);
  }
  uint32_t& operator[](uint32_t link) {
    if (!dense_.empty()) return dense_[link];
    return sparse_.try_emplace(link, kNoEvent).first->second;
  }

 private:
  std::vector<uint32_t> dense_;
  std::unordered_map<uint32_t, uint32_t> sparse_;
};

bool may_launch(EventKind kind) { return kind == EventKind::api || kind == EventKind::sync; }

uint32_t largest_link(const Trace& trace) {
  uint32_t largest = 0;
  for (size_t i = 0; i < trace.size(); ++i) {
    const EventKind kind = trace.kinds()[i];
    if (kind != EventKind::op && kind != EventKind::backward_op) largest = std::max(largest, trace.links()[i]);
  }
  return largest;
}

void collect_calls(const RankEvents& rank, CallsByLink& calls, Launches& out) {
  const Trace& trace = *rank.trace;
  for (const TrackId host : rank.hosts)
    for (const uint32_t event : rank.by_track[host]) {
      if (!may_launch(trace.kinds()[event]) || trace.links()[event] == 0) continue;
      uint32_t& call = calls[trace.links()[event]];
      if (call == kNoEvent)
        call = event;
      else {
        ++out.clashing_calls;
        call = trace.begins()[event] < trace.begins()[call] ? event : call;
      }
    }
}

void count_lost_launches(const RankEvents& rank, CallsByLink& calls, Launches& out) {
  const Trace& trace = *rank.trace;
  for (const uint32_t call : out.call_of)
    if (call != kNoEvent) calls[trace.links()[call]] = kNoEvent;
  for (const TrackId host : rank.hosts)
    for (const uint32_t event : rank.by_track[host]) {
      const uint32_t link = trace.links()[event];
      if (trace.kinds()[event] != EventKind::api || link == 0 || calls[link] != event) continue;
      if (is_launch(trace.name(event))) ++out.calls_without_activity;
    }
}

}  // namespace

Launches join_launches(const RankEvents& rank) {
  Launches out;
  out.call_of.assign(rank.activities.size(), kNoEvent);
  if (!rank.on_device) return out;
  const Trace& trace = *rank.trace;
  CallsByLink calls(largest_link(trace), trace.size());
  collect_calls(rank, calls, out);
  for (size_t i = 0; i < rank.activities.size(); ++i) {
    const Activity& activity = rank.activities[i];
    const uint32_t link = trace.links()[activity.event];
    if (link != 0) out.call_of[i] = calls[link];
    if (out.call_of[i] == kNoEvent)
      ++out.activities_without_call;
    else if (activity.begin < trace.begins()[out.call_of[i]])
      ++out.before_their_call;
  }
  count_lost_launches(rank, calls, out);
  return out;
}

}  // namespace tbd
