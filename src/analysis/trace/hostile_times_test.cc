// Times that no clock gives: overlaps near the ends of int64, jumps, sums that do not fit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "analysis/trace/trace_tables.h"
#include "base/error.h"

namespace tbd {
namespace {

using testing::HasSubstr;

struct Maker {
  Trace trace;
  TrackId host = trace.track({.process = 1, .thread = 1});
  TrackId stream = trace.track({.place = Track::Place::device, .device = 0, .thread = 7});
  TrackId other = trace.track({.place = Track::Place::device, .device = 0, .thread = 8});

  void add(EventKind kind, TrackId track, int64_t begin, int64_t duration, uint32_t link = 0) {
    const StringId name = trace.string(kind == EventKind::api ? "cudaLaunchKernel" : "k");
    trace.add({.begin = begin, .duration = duration, .name = name, .link = link, .track = track, .kind = kind});
  }
};

std::string refusal(const Trace& trace) {
  try {
    analyze_rank(trace, 0);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(HostileTimes, CountsAndSkipsEventsAtExtremeTimestamps) {
  Maker m;
  m.add(EventKind::kernel, m.stream, INT64_MAX, 0);
  m.add(EventKind::kernel, m.stream, INT64_MIN, INT64_MAX);
  m.add(EventKind::kernel, m.stream, 100, 50);
  m.add(EventKind::kernel, m.other, 120, 50);
  const RankAnalysis a = analyze_rank(m.trace, 0, TraceWindow::trace);
  EXPECT_EQ(a.window, (TimeSpan{100, 170}));
  EXPECT_EQ(a.beyond, 2);
  const Table faults = fault_table(m.trace, std::span(&a, 1));
  EXPECT_THAT(std::get<std::string>(faults.rows.back()[0]), HasSubstr("73 years"));
}

TEST(HostileTimes, RejectsARankWithOnlyExtremeTimestamps) {
  Maker m;
  m.add(EventKind::kernel, m.stream, INT64_MAX, 0);
  EXPECT_THAT(refusal(m.trace), HasSubstr("1 events lie 73 years"));
}

TEST(HostileTimes, SumsThatDoNotFitAreRefused) {
  Maker m;
  for (int i = 0; i < 5; ++i) m.add(EventKind::kernel, m.stream, -kFarthest + 1, 2 * kFarthest - 2);
  EXPECT_THAT(refusal(m.trace), HasSubstr("more than 292 years"));
}

TEST(HostileTimes, AClockThatJumpsIsNamed) {
  Maker m;
  m.add(EventKind::kernel, m.stream, 0, 50);
  m.add(EventKind::kernel, m.stream, INT64_C(1'700'000'000'000'000'000), 50);
  const RankAnalysis a = analyze_rank(m.trace, 0);
  EXPECT_EQ(a.clock_jumps, 1);
  EXPECT_EQ(a.masks.busy(), 100);
  const Table faults = fault_table(m.trace, std::span(&a, 1));
  EXPECT_THAT(std::get<std::string>(faults.rows.back()[0]), HasSubstr("more than an hour"));
  EXPECT_THAT(std::get<std::string>(faults.rows.back()[2]), HasSubstr("before 'k'"));
}

// Anything at all within the range adds to the window, and nothing overflows (the sanitizers watch).
TEST(HostileTimes, TimeIdentitiesHoldAtLargeOffsets) {
  std::mt19937_64 random(3);
  const auto some = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  for (int i = 0; i < 500; ++i) {
    Maker m;
    for (int j = 0; j < 20; ++j) {
      const int64_t begin = some(-kFarthest + 1, kFarthest - 2);
      const int64_t length = some(0, j % 4 ? 1000 : (kFarthest - 1 - begin) / 40);
      const TrackId track = j % 3 == 0 ? m.host : j % 3 == 1 ? m.stream : m.other;
      const EventKind kind = track != m.host ? EventKind::kernel : j % 2 ? EventKind::api : EventKind::step;
      m.add(kind, track, begin, std::min(length, kFarthest - 1 - begin), static_cast<uint32_t>(some(0, 5)));
    }
    for (const TraceWindow window : {TraceWindow::activity, TraceWindow::steps, TraceWindow::trace}) {
      const RankAnalysis a = analyze_rank(m.trace, 0, window);
      ASSERT_EQ(a.masks.window(), a.window.length());
      ASSERT_EQ(total(a.causes), a.masks.idle());
      for (const StreamAnalysis& stream : a.streams) ASSERT_EQ(total(stream.causes), stream.idle_ns);
    }
  }
}

}  // namespace
}  // namespace tbd
