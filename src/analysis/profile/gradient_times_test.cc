#include "analysis/profile/gradient_times.h"

#include <gtest/gtest.h>

#include "analysis/profile/windows.h"
#include "base/error.h"
#include "base/text.h"

namespace tbd {
namespace {

constexpr int64_t kMillis = 1'000'000;

void add(Trace& trace, int64_t begin, int64_t length, const char* name, const char* node, EventKind kind,
         EventPhase phase) {
  const uint32_t detail = trace.detail(OpDetail{.node = trace.string(node)});
  trace.add({.begin = begin * kMillis,
             .duration = length * kMillis,
             .name = trace.string(name),
             .detail = detail,
             .track = trace.track({.process = 1, .thread = 1}),
             .kind = kind,
             .phase = phase});
}

// Six steps of 100 ms: forward to 40, backward of fc to 60 and of conv to 90 and of another layer, update.
Trace trace_of_steps() {
  Trace trace;
  for (int64_t step = 1; step <= 6; ++step) {
    const int64_t at = 100 * step;
    add(trace, at, 100, cat("step ", step).c_str(), "", EventKind::step, EventPhase::unknown);
    add(trace, at, 20, "conv", "conv", EventKind::op, EventPhase::forward);
    add(trace, at + 20, 20, "mm", "fc", EventKind::op, EventPhase::forward);
    add(trace, at + 40, 20, "mm_backward", "fc", EventKind::backward_op, EventPhase::backward);
    add(trace, at + 60, 10, "conv_backward", "conv", EventKind::backward_op, EventPhase::backward);
    add(trace, at + 70, 20, "accumulate", "conv", EventKind::op, EventPhase::backward);
    add(trace, at + 92, 8, "sgd", "", EventKind::op, EventPhase::update);
  }
  return trace;
}

TracedGradients gradients_seen(const Trace& trace, const std::vector<Gradient>& gradients) {
  const RankEvents rank = rank_events(trace, 0);
  return gradient_times(rank, inner_windows(rank, {{2, 5}}), gradients);
}

TEST(GradientTimes, AGradientIsReadyWhenTheLastBackwardWorkOfItsNodesEnds) {
  const TracedGradients times = gradients_seen(trace_of_steps(), {{.parameter = "conv.weight", .nodes = {"conv"}},
                                                                  {.parameter = "fc.weight", .nodes = {"fc"}},
                                                                  {.parameter = "tied", .nodes = {"fc", "conv"}}});
  ASSERT_EQ(times.steps.size(), 2u) << "the first and the last of a window are left out";
  EXPECT_DOUBLE_EQ(times.steps[0].ready.at(0), 0.09);
  EXPECT_DOUBLE_EQ(times.steps[0].ready.at(1), 0.06);
  EXPECT_DOUBLE_EQ(times.steps[0].ready.at(2), 0.09);
  EXPECT_DOUBLE_EQ(times.steps[1].backward_end, 0.09);
  EXPECT_DOUBLE_EQ(times.steps[1].end, 0.1);
  EXPECT_TRUE(times.unseen.empty());
}

TEST(GradientTimes, WhatTheTraceDoesNotNameIsReadyAtTheEndOfBackward) {
  const TracedGradients times = gradients_seen(trace_of_steps(), {{.parameter = "w", .nodes = {"elsewhere"}}});
  EXPECT_DOUBLE_EQ(times.steps[0].ready.at(0), 0.09);
  EXPECT_EQ(times.unseen, (std::vector<std::string>{"w"}));
}

TEST(GradientTimes, NeedsStepsThatGoBackward) {
  Trace forward;
  for (int64_t step = 1; step <= 6; ++step)
    add(forward, 100 * step, 100, cat("step ", step).c_str(), "", EventKind::step, EventPhase::unknown);
  EXPECT_THROW(gradients_seen(forward, {}), Error);
  EXPECT_THROW(gradients_seen(Trace(), {}), Error);
}

std::vector<Gradient> gradients_of_kib(const std::vector<int64_t>& sizes) {
  std::vector<Gradient> out;
  for (const int64_t kib : sizes)
    out.push_back({.parameter = cat("p", out.size()), .elements = kib * 256, .nodes = {}});
  return out;
}

TEST(Buckets, AreThoseOfEachEngine) {
  constexpr int64_t kMebi = int64_t{1} << 20;
  const std::vector<Gradient> gradients = gradients_of_kib({100, 3000, 600, 600, 500});
  const std::vector<double> ready = {5, 4, 1, 3, 2};
  using Buckets = std::vector<std::vector<size_t>>;
  EXPECT_EQ(buckets_of("gloo", gradients, ready, 4 * kMebi), (Buckets{{2, 4}, {3, 1, 0}}))
      << "as they are ready; the first bucket is full with 1 MiB";
  EXPECT_EQ(buckets_of("gloo", gradients, ready, 3 * kMebi), (Buckets{{2, 4}, {3, 1}, {0}}));
  EXPECT_EQ(buckets_of("grpc", gradients, ready, 4 * kMebi), (Buckets{{4, 3}, {2, 1, 0}}));
  EXPECT_EQ(buckets_of("kvstore", gradients, ready, 4 * kMebi), (Buckets{{4}, {3}, {2}, {1}, {0}}));
  EXPECT_EQ(buckets_of("gloo", gradients, ready, 512 * 1024), (Buckets{{2}, {4, 3}, {1}, {0}}))
      << "small buckets are small from the first";
}

TEST(Buckets, AreReadyWithTheirLastGradientAndAsLargeAsTheyTravel) {
  const std::vector<Gradient> gradients = gradients_of_kib({1, 2});
  const GradientTimes times = {.ready = {0.5, 0.25}, .backward_end = 0.6, .end = 0.75};
  const StepTimes step = replayable_step(times, {{1, 0}}, gradients, [](DType) { return DType::bf16; });
  ASSERT_EQ(step.buckets.size(), 1u);
  EXPECT_EQ(step.buckets[0].ready, 0.5);
  EXPECT_EQ(step.buckets[0].bytes, 3 * 512);
  EXPECT_EQ(step.backward_end, 0.6);
  EXPECT_DOUBLE_EQ(step.update, 0.15);
}

}  // namespace
}  // namespace tbd
