#include "trace/trace.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace tbd {
namespace {

TEST(Strings, AreDeduplicatedAndReadBack) {
  StringTable strings;
  EXPECT_EQ(strings.intern(""), 0u);
  std::vector<StringId> ids;
  for (int i = 0; i < 5000; ++i) ids.push_back(strings.intern(cat("name ", i)));
  for (int i = 0; i < 5000; ++i) {
    EXPECT_EQ(strings.intern(cat("name ", i)), ids[i]);
    EXPECT_EQ(strings[ids[i]], cat("name ", i));
  }
  EXPECT_EQ(strings.size(), 5001u);
  EXPECT_THROW(strings[5001], Error);
}

TEST(Trace, HoldsWhatWasAdded) {
  Trace trace;
  const TrackId track = trace.track({.place = Track::Place::device, .device = 1, .thread = 7});
  const Event kernel{.begin = 5,
                     .duration = 3,
                     .name = trace.string("gemm"),
                     .link = 9,
                     .detail = trace.detail(KernelDetail{.grid = {1, 2, 3}}),
                     .track = track,
                     .kind = EventKind::kernel,
                     .phase = EventPhase::backward};
  trace.add(kernel);
  ASSERT_EQ(trace.size(), 1u);
  EXPECT_EQ(trace[0].end(), 8);
  EXPECT_EQ(trace.name(0), "gemm");
  EXPECT_EQ(trace[0].phase, EventPhase::backward);
  ASSERT_NE(trace.detail_of<KernelDetail>(0), nullptr);
  EXPECT_EQ(trace.detail_of<KernelDetail>(0)->grid[2], 3u);
}

TEST(Trace, DeduplicatesTracksAndKeepsTheFirstName) {
  Trace trace;
  const TrackId a = trace.track({.process = 1, .thread = 2});
  EXPECT_EQ(trace.track({.process = 1, .thread = 2, .name = trace.string("main")}), a);
  EXPECT_EQ(trace.track({.process = 1, .thread = 2, .name = trace.string("other")}), a);
  EXPECT_EQ(trace.strings()[trace.tracks()[a].name], "main");
  EXPECT_NE(trace.track({.rank = 1, .process = 1, .thread = 2}), a);
}

TEST(Trace, RejectsNegativeAndOverflowingTimes) {
  Trace trace;
  EXPECT_THROW(trace.add({}), Error);  // no track
  trace.track({});
  EXPECT_THROW(trace.add({.duration = -1}), Error);
  EXPECT_THROW(trace.add({.begin = INT64_MAX, .duration = 1}), Error);
  EXPECT_NO_THROW(trace.add({.begin = INT64_MIN, .duration = INT64_MAX}));
}

TEST(Trace, AppendIsAtomic) {
  Trace trace;
  const TrackId track = trace.track({.thread = 1});
  trace.add({.begin = 5, .track = track});
  const auto two_of_duration = [&](int64_t duration) {
    trace.append(2, [&](const EventColumns& events) {
      for (size_t i = 0; i < 2; ++i) {
        events.begin[i] = 10;
        events.duration[i] = i == 0 ? 1 : duration;
        events.name[i] = 0;
        events.link[i] = 0;
        events.detail[i] = kNoDetail;
        events.track[i] = track;
        events.kind[i] = EventKind::op;
        events.phase[i] = EventPhase::unknown;
      }
    });
  };
  EXPECT_THROW(two_of_duration(-1), Error);
  EXPECT_EQ(trace.size(), 1u);
  two_of_duration(2);
  ASSERT_EQ(trace.size(), 3u);
  EXPECT_EQ(trace.end(2), 12);
}

TEST(Trace, DeduplicatesEqualDetails) {
  Trace trace;
  for (int i = 0; i < 1000; ++i) trace.detail(CopyDetail{.bytes = i % 10});
  EXPECT_EQ(trace.details().of<CopyDetail>().rows().size(), 10u);
}

TEST(Trace, DrainsAtItsCapacity) {
  Trace trace;
  size_t drained = 0;
  trace.drain_every(10, [&](Trace& t) {
    drained += t.size();
    t.clear_events();
  });
  const TrackId track = trace.track({});
  for (int i = 0; i < 25; ++i) trace.add({.begin = i, .track = track});
  EXPECT_EQ(drained, 20u);
  EXPECT_EQ(trace.size(), 5u);
}

TEST(Trace, FaultsAreCountedAndTheFirstPlaceKept) {
  Trace trace;
  trace.fault("no name", "byte 5");
  trace.fault("no name", "byte 9", 2);
  ASSERT_EQ(trace.faults().size(), 1u);
  EXPECT_EQ(trace.faults()[0], (Fault{"no name", 3, "byte 5"}));
}

TEST(Event, SequenceNumberZeroIsALink) {
  EXPECT_EQ(link_of_sequence(0), 1u);
  EXPECT_EQ(link_of_sequence(-1), 0u);
}

TEST(Event, KindsHaveNamesThatReadBack) {
  for (size_t i = 0; i < kEventKinds; ++i)
    EXPECT_EQ(event_kind_from(name(static_cast<EventKind>(i))), static_cast<EventKind>(i));
}

}  // namespace
}  // namespace tbd
