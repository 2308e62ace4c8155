#include "runner/largest_batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/json.h"

namespace tbd {
namespace {

constexpr int64_t kMebibyte = 1 << 20;

// A made-up process: `real` bytes with a batch, `predicted` of the step alone.
struct Made {
  std::function<int64_t(int64_t)> real, predicted;
  BatchSearch search{.budget = 1000 * kMebibyte};
  std::set<int64_t> tried;

  LargestBatch find() {
    const auto try_batch = [&](int64_t batch) {
      EXPECT_TRUE(tried.insert(batch).second) << "batch " << batch << " was tried twice";
      EXPECT_LE(batch, search.most);
      const int64_t bytes = real(batch);
      BatchProbe probe{.fits = bytes <= search.budget};
      if (probe.fits) probe.observed_bytes = bytes;
      return probe;
    };
    return find_largest_batch(search, predicted, try_batch, [] { return 0.0; });
  }
};

std::function<int64_t(int64_t)> line(int64_t fixed, int64_t each) {
  return [=](int64_t batch) { return (fixed + each * batch) * kMebibyte; };
}

// The batch fits and one within 5 % or one sample above does not.
void expect_edge(const Made& made, const LargestBatch& found) {
  ASSERT_TRUE(found.too_large);
  EXPECT_TRUE(found.closed);
  EXPECT_LE(made.real(found.batch), made.search.budget);
  EXPECT_GT(made.real(*found.too_large), made.search.budget);
  EXPECT_LE(static_cast<double>(*found.too_large - found.batch),
            std::max(1.0, 0.05 * static_cast<double>(found.batch)));
}

TEST(LargestBatch, WhatGrowsOverTheFirstStepsIsMadeSmaller) {
  BatchSearch search{.budget = 1000 * kMebibyte};
  const auto bytes = line(300, 7);
  const auto probe = [&](double growth) {
    return [=](int64_t batch) {
      const auto grown = static_cast<int64_t>(growth * static_cast<double>(bytes(batch)));
      return BatchProbe{.fits = grown <= search.budget, .observed_bytes = grown, .fault = {}};
    };
  };
  const LargestBatch found = find_largest_batch(
      search, line(100, 7), probe(1), [] { return 0.0; }, probe(1.08));
  EXPECT_LE(1.08 * static_cast<double>(bytes(found.batch)), static_cast<double>(search.budget));
  EXPECT_GE(found.batch, 80) << "no smaller than it must be";
  EXPECT_TRUE(found.closed);
  EXPECT_EQ(found.observed_bytes, static_cast<int64_t>(1.08 * static_cast<double>(bytes(found.batch))));
  EXPECT_EQ(find_largest_batch(
                search, line(100, 7), probe(1), [] { return 0.0; }, probe(9))
                .batch,
            0);
}

TEST(LargestBatch, AnExactPredictionNeedsThreeProbes) {
  Made made{.real = line(300, 7), .predicted = line(100, 7)};
  const LargestBatch found = made.find();
  expect_edge(made, found);
  EXPECT_EQ(found.batch, 100);
  EXPECT_EQ(found.probes, 3);
  EXPECT_EQ(found.observed_bytes, 1000 * kMebibyte);
  EXPECT_DOUBLE_EQ(found.prediction_error.value(), 0);
}

TEST(LargestBatch, AWrongPredictionIsMendedAndItsErrorSaid) {
  for (const int64_t each : {1, 3, 20, 60, 300}) {
    Made made{.real = line(300, each), .predicted = line(100, 7)};
    const LargestBatch found = made.find();
    expect_edge(made, found);
    EXPECT_LE(found.probes, 14) << each;
    const double expected = static_cast<double>(made.real(1) / kMebibyte + 7 * (found.batch - 1)) /
                                static_cast<double>(300 + each * found.batch) -
                            1;
    EXPECT_NEAR(found.prediction_error.value(), expected, 1e-9) << each;
  }
}

TEST(LargestBatch, ABatchBelowTwentyIsFoundToTheSample) {
  Made made{.real = line(300, 50), .predicted = line(100, 21)};
  const LargestBatch found = made.find();
  EXPECT_EQ(found.batch, 14);
  EXPECT_EQ(found.too_large, 15);
}

TEST(LargestBatch, StepsOfAnAllocatorAreFound) {
  Made made{.real = [](int64_t batch) { return (200 + 128 * ((batch * 9 + 127) / 128)) * kMebibyte; },
            .predicted = line(150, 9)};
  expect_edge(made, made.find());
}

TEST(LargestBatch, NoiseStillGivesABatchThatFitted) {
  Made made{.real = [](int64_t batch) { return (300 + 7 * batch + (batch * 2654435761 % 97) - 48) * kMebibyte; },
            .predicted = line(100, 7)};
  expect_edge(made, made.find());
}

TEST(LargestBatch, NothingFits) {
  Made made{.real = line(2000, 7), .predicted = line(100, 7)};
  const LargestBatch found = made.find();
  EXPECT_EQ(found.batch, 0);
  EXPECT_EQ(found.too_large, 1);
  EXPECT_EQ(found.probes, 1);
  EXPECT_FALSE(found.prediction_error);
}

TEST(LargestBatch, AllFitUpToTheMost) {
  Made made{.real = line(10, 1), .predicted = line(5, 40)};
  made.search.most = 64;
  const LargestBatch found = made.find();
  EXPECT_EQ(found.batch, 64);
  EXPECT_FALSE(found.too_large);
  EXPECT_TRUE(found.closed);
}

TEST(LargestBatch, OneSampleAtMostIsOneProbe) {
  Made made{.real = line(10, 1), .predicted = line(5, 1)};
  made.search.most = 1;
  EXPECT_EQ(made.find().batch, 1);
  EXPECT_EQ(made.tried.size(), 1u);
}

TEST(LargestBatch, ACapOfProbesLeavesItOpen) {
  Made made{.real = line(0, 1), .predicted = line(100, 90)};
  made.search.probes = 4;
  const LargestBatch found = made.find();
  EXPECT_EQ(found.probes, 4);
  EXPECT_FALSE(found.closed);
  EXPECT_LE(made.real(found.batch), made.search.budget);
}

TEST(LargestBatch, ACapOfTimeLeavesItOpen) {
  double seconds = 0;
  const LargestBatch found = find_largest_batch(
      {.budget = 1000, .seconds = 25}, [](int64_t batch) { return batch; },
      [](int64_t batch) { return BatchProbe{.fits = batch < 100, .observed_bytes = batch}; },
      [&] { return seconds += 10; });
  EXPECT_EQ(found.probes, 2);
  EXPECT_FALSE(found.closed);
}

TEST(LargestBatch, AnotherFaultEndsTheSearch) {
  const Outcome crash{.kind = OutcomeKind::failed, .reason = "it crashed", .repro = ""};
  const LargestBatch found = find_largest_batch(
      {.budget = 1000}, [](int64_t batch) { return batch; },
      [&](int64_t batch) {
        return batch == 1 ? BatchProbe{.fits = true, .observed_bytes = 1} : BatchProbe{.fault = crash};
      },
      [] { return 0.0; });
  ASSERT_TRUE(found.fault);
  EXPECT_EQ(found.fault->reason, "it crashed");
  EXPECT_FALSE(found.closed);
}

TEST(LargestBatch, ComesBackFromJson) {
  Made made{.real = line(300, 7), .predicted = line(100, 7)};
  const Json json = to_json(made.find());
  EXPECT_EQ(to_json(largest_batch_from(json)), json);
}

}  // namespace
}  // namespace tbd
