// Eight convolutions with 18.9 MB of gradients on two workers over an emulated link, in seconds: the medians of
// forward, backward and step, and the step as replayed by hand.
#include "analysis/exchange_replay.h"

#include <gtest/gtest.h>

#include "analysis/link_model.h"

namespace tbd {
namespace {

constexpr int64_t kGradients = 18'900'000;              // bytes
constexpr double kGigabit = 119.4e6, kTenth = 11.85e6;  // bytes/s that such a link carries

LinkModel link_of(double bytes_per_second) {
  return {.engine = "gloo",
          .workers = {2},
          .alpha = {.value = 0.15e-3, .interval = {}},
          .beta = {},
          .gamma = {{DType::f32, {.value = 1 / bytes_per_second, .interval = {}}}}};
}

TEST(ExchangeReplay, WithoutOverlapIsASum) {
  const auto step = [](double forward, double backward, double update, double link) {
    const StepTimes times = {{{forward + backward, kGradients}}, forward + backward, update};
    return replayed_step(times, link_of(link), DType::f32, 2).value().step;
  };
  EXPECT_NEAR(step(0.149, 0.313, 0.003, kGigabit), 0.622, 0.004);
  EXPECT_NEAR(step(0.113, 0.265, 0.019, kTenth), 1.990, 0.006);
}

// The link is the bottleneck: each bucket waits for the one before it.
TEST(ExchangeReplay, QueuesBucketsOnASlowLink) {
  const StepTimes times = {
      {{0.200, kGradients / 4}, {0.254, kGradients / 4}, {0.308, kGradients / 4}, {0.362, kGradients / 4}},
      0.116 + 0.246,
      0.002};
  const ReplayedStep step = replayed_step(times, link_of(kTenth), DType::f32, 2).value();
  EXPECT_NEAR(step.step, 1.798, 0.002);
  EXPECT_NEAR(step.exchange, 1.596, 0.001);
  EXPECT_NEAR(step.exposed, step.step - times.update - times.backward_end, 1e-9);
}

TEST(ExchangeReplay, HidesWhatEndsBeforeBackward) {
  const StepTimes times = {{{0.1, 10}, {0.3, 10}}, 1, 0.25};
  const ReplayedStep step = replayed_step(times, [](int64_t) { return 0.1; });
  EXPECT_DOUBLE_EQ(step.step, 1.25);
  EXPECT_NEAR(step.exchange, 0.2, 1e-12);
  EXPECT_EQ(step.exposed, 0);
  EXPECT_DOUBLE_EQ(replayed_step({{}, 1, 0.25}, [](int64_t) { return 0.1; }).step, 1.25);
}

// What a sum takes from the processor comes from backward, and what is ready later is late by it.
TEST(ExchangeReplay, SumsThatComputeDelayBackward) {
  const StepTimes times = {{{0.2, 10}, {0.6, 10}}, 1, 0.25};
  const auto step = [&](double busy) {
    return replayed_step(times, [&](int64_t) { return BucketSum{.time = 0.2, .busy = busy}; });
  };
  EXPECT_NEAR(step(0).step, 1.25, 1e-12);
  EXPECT_NEAR(step(0.2).step, 1.25 + 2 * 0.2, 1e-12) << "nothing is hidden where sums need all of the processor";
  EXPECT_NEAR(step(0.05).step, 1.25 + 2 * 0.05, 1e-12);
  EXPECT_NEAR(step(0.05).exposed, 0, 1e-12);
}

TEST(ExchangeReplay, BackwardEndsInTheMiddleOfASum) {
  const StepTimes times = {{{0.9, 10}}, 1, 0.25};
  const ReplayedStep step = replayed_step(times, [](int64_t) { return BucketSum{.time = 0.4, .busy = 0.2}; });
  EXPECT_NEAR(step.step, 0.9 + 0.4 + 0.25, 1e-12);
  EXPECT_NEAR(step.exposed, 0.2, 1e-12) << "0.1 of backward at half its speed takes 0.2";
}

// Of a key-value store the next bucket is pushed while the one before comes back.
TEST(ExchangeReplay, SumsOverlapWhereTheyHoldTheLinkForAPart) {
  const StepTimes times = {{{0.5, 10}, {0.5, 10}, {0.5, 10}}, 0.6, 0.25};
  const auto step = [&](double busy) {
    return replayed_step(times, [&](int64_t) { return BucketSum{.time = 0.4, .busy = busy, .holds = 0.2}; });
  };
  EXPECT_NEAR(step(0).step, 0.5 + 2 * 0.2 + 0.4 + 0.25, 1e-12);
  EXPECT_NEAR(step(0).exchange, 0.8, 1e-12) << "from 0.5 to 1.3, whatever number of sums";
  EXPECT_NEAR(step(0).exposed, 0.7, 1e-12);
  EXPECT_NEAR(step(0.1).exposed, 0.6, 1e-12) << "the last 0.1 of backward takes 0.2 at half its speed";
}

TEST(ExchangeReplay, NeedsALinkThatIsKnown) {
  const StepTimes times = {{{0.1, 10}}, 1, 0.25};
  EXPECT_FALSE(replayed_step(times, link_of(kTenth), DType::bf16, 2));
  EXPECT_FALSE(replayed_step(times, link_of(kTenth), DType::f32, 4));
}

}  // namespace
}  // namespace tbd
