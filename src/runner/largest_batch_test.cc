#include "runner/largest_batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/json.h"
#include "graph/memory.h"
#include "models/model.h"

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

TEST(LargestBatch, ReducesTheBatchWhenMemoryGrowsOverTheFirstSteps) {
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

TEST(LargestBatch, PredictsByTheFrameworksRules) {
  const Program program = load_program("resnet50", "tiny").program;
  const auto predicted = [&](const char* framework) { return bytes_of_step(program, framework)(8); };
  const auto by = [&](Keeper keeper) { return predict_memory(program, {{"N", 8}}, {}, keeper).peak().value; };
  EXPECT_EQ(predicted("pytorch"), by(Keeper::pytorch));
  EXPECT_EQ(predicted("tensorflow@2.21"), by(Keeper::tensorflow));
  EXPECT_NE(predicted("pytorch"), predicted("tensorflow"));
}

TEST(LargestBatch, TriesNoneBelowTheLeast) {
  Made little{.real = line(900, 70), .predicted = line(100, 70)};
  little.search.least = 2;
  const LargestBatch none = little.find();
  EXPECT_EQ(none.batch, 0);
  EXPECT_EQ(none.too_large, 2);
  EXPECT_EQ(little.tried, std::set<int64_t>{2});

  const BatchSearch search{.budget = 1000 * kMebibyte, .least = 2};
  std::set<int64_t> confirmed;
  const auto fits = [](int64_t) { return BatchProbe{.fits = true, .observed_bytes = kMebibyte, .fault = {}}; };
  const auto grows = [&](int64_t batch) {
    confirmed.insert(batch);
    return BatchProbe{.fits = false};
  };
  const LargestBatch grown = find_largest_batch(
      search, line(100, 7), fits, [] { return 0.0; }, grows);
  EXPECT_EQ(grown.batch, 0);
  EXPECT_EQ(*confirmed.begin(), 2);
}

TEST(LargestBatch, NeedsFourProbesWhenMemoryIsLinear) {
  Made made{.real = line(300, 7), .predicted = line(100, 7)};
  const LargestBatch found = made.find();
  expect_edge(made, found);
  EXPECT_EQ(found.batch, 100);
  EXPECT_EQ(found.tried.size(), 4u) << "two make the line, one is its guess, one is above";
  EXPECT_EQ(found.observed_bytes, 1000 * kMebibyte);
  EXPECT_DOUBLE_EQ(found.prediction_error.value(), 0);
}

TEST(LargestBatch, TheSlopeIsCalibratedByTwoProbes) {
  for (const int64_t each : {1, 3, 20, 45}) {
    Made made{.real = line(300, each), .predicted = line(100, 7)};
    const LargestBatch found = made.find();
    expect_edge(made, found);
    EXPECT_LE(found.tried.size(), 6u) << each;
    EXPECT_NEAR(found.prediction_error.value(), 0, 1e-6) << each;
  }
}

TEST(LargestBatch, ExcludesPerThreadBuffersFromTheSlope) {
  const auto real = [](int64_t batch) { return ((batch > 1 ? 140 : 96) + batch) * kMebibyte; };
  Made made{.real = real, .predicted = line(1, 1), .search = {.budget = 380 * kMebibyte}};
  EXPECT_NEAR(made.find().prediction_error.value(), 0, 1e-6);
  EXPECT_FALSE(made.tried.contains(1));
}

TEST(LargestBatch, PredictionErrorUsesThePredictionMadeBeforeTheProbe) {
  const auto real = [](int64_t batch) { return (300 + 4 * batch + batch * batch / 100) * kMebibyte; };
  Made made{.real = real, .predicted = line(100, 4)};
  const LargestBatch found = made.find();
  expect_edge(made, found);
  EXPECT_FALSE(found.tried.front().predicted_bytes) << "there was no line yet";
  const auto tried = std::ranges::find(found.tried, found.batch, &TriedBatch::batch);
  ASSERT_NE(tried, found.tried.end());
  EXPECT_EQ(found.predicted_bytes, tried->predicted_bytes);
  EXPECT_LT(found.prediction_error.value(), -0.001);
  EXPECT_GT(*found.prediction_error, -0.1);
}

TEST(LargestBatch, OvershootsLittleWhenTheAllocatorGrowsLate) {
  const auto real = [](int64_t batch) { return (batch < 600 ? 255 : 255 + (batch - 600)) * kMebibyte; };
  Made made{.real = real, .predicted = line(100, 1)};
  const LargestBatch found = made.find();
  expect_edge(made, found);
  EXPECT_LE(*made.tried.rbegin(), 4 * found.batch);
}

TEST(LargestBatch, HasNoPredictionErrorForACalibrationBatch) {
  for (const int64_t each : {230, 300}) {
    Made made{.real = line(300, each), .predicted = line(100, 7)};
    const LargestBatch found = made.find();
    expect_edge(made, found);
    EXPECT_EQ(found.batch, 700 / each);
    EXPECT_FALSE(found.prediction_error) << "no 0 %";
  }
}

TEST(LargestBatch, FindsABatchBelowTwentyExactly) {
  Made made{.real = line(300, 50), .predicted = line(100, 21)};
  const LargestBatch found = made.find();
  EXPECT_EQ(found.batch, 14);
  EXPECT_EQ(found.too_large, 15);
}

TEST(LargestBatch, HandlesAnAllocatorThatGrowsInSteps) {
  Made made{.real = [](int64_t batch) { return (200 + 128 * ((batch * 9 + 127) / 128)) * kMebibyte; },
            .predicted = line(150, 9)};
  expect_edge(made, made.find());
}

TEST(LargestBatch, NoiseStillGivesABatchThatFitted) {
  Made made{.real = [](int64_t batch) { return (300 + 7 * batch + (batch * 2654435761 % 97) - 48) * kMebibyte; },
            .predicted = line(100, 7)};
  expect_edge(made, made.find());
}

TEST(LargestBatch, ReportsZeroWhenNothingFits) {
  Made made{.real = line(2000, 7), .predicted = line(100, 7)};
  const LargestBatch found = made.find();
  EXPECT_EQ(found.batch, 0);
  EXPECT_EQ(found.too_large, 1);
  EXPECT_EQ(found.tried.size(), 2u);
  EXPECT_FALSE(found.prediction_error);
}

TEST(LargestBatch, ReturnsTheUpperLimitWhenAllBatchesFit) {
  Made made{.real = line(10, 1), .predicted = line(5, 40)};
  made.search.most = 64;
  const LargestBatch found = made.find();
  EXPECT_EQ(found.batch, 64);
  EXPECT_FALSE(found.too_large);
  EXPECT_TRUE(found.closed);
}

TEST(LargestBatch, NeedsOneProbeWhenTheLimitIsOne) {
  Made made{.real = line(10, 1), .predicted = line(5, 1)};
  made.search.most = 1;
  EXPECT_EQ(made.find().batch, 1);
  EXPECT_EQ(made.tried.size(), 1u);
}

TEST(LargestBatch, ProbeLimitLeavesTheSearchOpen) {
  Made made{.real = line(0, 1), .predicted = line(100, 90)};
  made.search.probes = 3;
  const LargestBatch found = made.find();
  EXPECT_EQ(found.tried.size(), 3u);
  EXPECT_FALSE(found.closed);
  EXPECT_LE(made.real(found.batch), made.search.budget);
}

TEST(LargestBatch, TimeLimitLeavesTheSearchOpen) {
  double seconds = 0;
  const LargestBatch found = find_largest_batch(
      {.budget = 1000, .seconds = 25}, [](int64_t batch) { return batch; },
      [](int64_t batch) { return BatchProbe{.fits = batch < 100, .observed_bytes = batch}; },
      [&] { return seconds += 10; });
  EXPECT_EQ(found.tried.size(), 2u);
  EXPECT_FALSE(found.closed);
}

LargestBatch crashing_above(int64_t batch, const Outcome& crash) {
  return find_largest_batch(
      {.budget = 1000}, [](int64_t n) { return n; },
      [&](int64_t n) {
        return n <= batch ? BatchProbe{.fits = true, .observed_bytes = n, .seen = "trained"}
                          : BatchProbe{.fault = crash};
      },
      [] { return 0.0; });
}

TEST(LargestBatch, AnotherFaultAbortsTheSearch) {
  const Outcome crash{.kind = OutcomeKind::failed, .reason = "it crashed", .repro = ""};
  for (const int64_t batch : {0, 2, 400}) {
    const LargestBatch found = crashing_above(batch, crash);
    ASSERT_TRUE(found.fault);
    EXPECT_EQ(found.fault->reason, "it crashed");
    EXPECT_FALSE(found.closed);
    EXPECT_EQ(found.batch, 0);
    EXPECT_FALSE(found.prediction_error);
    const Json json = to_json(found);
    EXPECT_FALSE(json.contains("batch"));
    EXPECT_FALSE(json.contains("prediction_error"));
    EXPECT_EQ(json["tried"].back()["seen"], "it crashed");
    EXPECT_EQ(to_json(largest_batch_from(json)), json);
  }
}

TEST(LargestBatch, ComesBackFromJson) {
  Made made{.real = line(300, 7), .predicted = line(100, 7)};
  const Json json = to_json(made.find());
  EXPECT_EQ(json["tried"].size(), made.tried.size());
  EXPECT_EQ(to_json(largest_batch_from(json)), json);
}

}  // namespace
}  // namespace tbd
