#include "analysis/trace/host_timeline.h"

#include <gtest/gtest.h>

#include <random>

namespace tbd {
namespace {

// Spans that nest, overlap, touch and have no length, each instant looked at by itself.
TEST(HostTimeline, SelectsTheHighestPriorityActivityAtEveryInstant) {
  std::mt19937_64 random(4);
  constexpr EventKind kKinds[] = {EventKind::op,      EventKind::input,    EventKind::sync,
                                  EventKind::off_cpu, EventKind::overhead, EventKind::step};
  for (int round = 0; round < 300; ++round) {
    Trace trace;
    const TrackId track = trace.track({.thread = 1});
    std::vector<uint32_t> events;
    int64_t begin = -20;
    for (uint32_t i = 0; i < random() % 12; ++i) {
      trace.add({.begin = begin += static_cast<int64_t>(random() % 6),
                 .duration = static_cast<int64_t>(random() % 20),
                 .track = track,
                 .kind = kKinds[random() % std::size(kKinds)]});
      events.push_back(i);
    }
    const HostTimeline timeline(trace, events);
    for (int64_t time = -25; time < 80; ++time) {
      IdleCause first = IdleCause::host_other;
      for (const uint32_t i : events)
        if (const auto cause = host_cause(trace.kinds()[i], {});
            cause && trace.begins()[i] <= time && time < trace.end(i))
          first = std::min(first, *cause);
      ASSERT_EQ(timeline.at(time), first) << time;
    }
  }
}

}  // namespace
}  // namespace tbd
