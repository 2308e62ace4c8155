#include "cli/step_events.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace tbd::cli {
namespace {

// What a profiler left: ranges of steps, as they come, with an op in each.
struct ProfilerTrace {
  Trace trace;
  TrackId host = trace.track({.rank = 3, .process = 7, .thread = 8});

  void add_step(int64_t number, int64_t begin, int64_t duration) {
    trace.add({.begin = begin,
               .duration = duration,
               .name = trace.string(cat("ProfilerStep#", number)),
               .track = host,
               .kind = EventKind::annotation});
    const uint32_t detail = trace.detail(OpDetail{.shapes = trace.string(cat("[[", number, "]]"))});
    trace.add({.begin = begin + 1, .duration = 2, .name = trace.string("aten::mm"), .detail = detail, .track = host});
  }
  Trace copy(const std::array<int64_t, 2>& steps, int64_t before) const {
    Trace to;
    copy_with_steps(trace, steps, before, to);
    return to;
  }
};

// "step 2: 10 to 20", one a step.
std::vector<std::string> steps_of(const Trace& trace) {
  std::vector<std::string> out;
  for (size_t i = 0; i < trace.size(); ++i)
    if (trace.kinds()[i] == EventKind::step)
      out.push_back(cat(trace.name(i), ": ", trace.begins()[i], " to ", trace.end(i)));
  return out;
}

TEST(StepEvents, RangesBecomeStepsThatAreCountedFromTheLaunch) {
  ProfilerTrace written;
  for (int64_t i = 0; i < 3; ++i) written.add_step(41 + i, 10 * i, 10);
  EXPECT_EQ(steps_of(written.copy({41, 43}, 38)),
            (std::vector<std::string>{"step 3: 0 to 10", "step 4: 10 to 20", "step 5: 20 to 30"}));
}

TEST(StepEvents, StepsOfOneExecutionShareItsTime) {
  ProfilerTrace written;
  written.add_step(1, 0, 9);
  written.add_step(4, 9, 10);
  EXPECT_EQ(steps_of(written.copy({1, 5}, 0)),
            (std::vector<std::string>{"step 1: 0 to 3", "step 2: 3 to 6", "step 3: 6 to 9", "step 4: 9 to 14",
                                      "step 5: 14 to 19"}));
}

TEST(StepEvents, RangesOutsideTheWindowAndOfADeviceAreNoSteps) {
  ProfilerTrace written;
  written.add_step(5, 0, 10);
  written.add_step(6, 10, 10);
  const TrackId stream = written.trace.track({.place = Track::Place::device, .device = 0, .thread = 7});
  written.trace.add({.begin = 50,
                     .duration = 9,
                     .name = written.trace.string("ProfilerStep#6"),
                     .track = stream,
                     .kind = EventKind::annotation});
  EXPECT_EQ(steps_of(written.copy({6, 6}, 0)), (std::vector<std::string>{"step 6: 10 to 20"}));
}

TEST(StepEvents, AllElseStaysAsItIsOnRankZero) {
  ProfilerTrace written;
  written.add_step(1, 0, 10);
  written.trace.facts["source"] = "a profiler";
  written.trace.base_epoch_ns = 5;
  written.trace.fault("events without a time", "byte 3", 2);
  const Trace copy = written.copy({1, 1}, 0);
  ASSERT_EQ(copy.size(), 2U);
  EXPECT_EQ(copy.name(1), "aten::mm");
  EXPECT_EQ(copy.strings()[copy.detail_of<OpDetail>(1)->shapes], "[[1]]");
  EXPECT_EQ(copy.tracks()[0].rank, 0);
  EXPECT_EQ(copy.tracks()[0].thread, 8);
  EXPECT_EQ(copy.facts.at("source"), "a profiler");
  EXPECT_EQ(copy.base_epoch_ns, 5);
  EXPECT_EQ(copy.faults(), written.trace.faults());
}

TEST(StepEvents, ATraceWithoutAnyOfTheStepsIsRefused) {
  ProfilerTrace written;
  written.add_step(1, 0, 10);
  EXPECT_THROW(written.copy({2, 4}, 0), Error);
}

}  // namespace
}  // namespace tbd::cli
