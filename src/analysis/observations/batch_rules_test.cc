// Rules 1, 4 and 6, on series of four batches.
#include <gmock/gmock.h>

#include "analysis/observations/sample_sweeps.h"

namespace tbd {
namespace {

using sample::Results;
using sample::Series;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::vector<int64_t> kBatches = {4, 8, 16, 32};
const std::vector<double> kRising = {10, 14, 18, 20}, kFlat = {20, 20.1, 20, 20.05}, kFalling = {20, 18, 16, 10};

Results with_throughput(const std::vector<std::vector<double>>& series) {
  Results results;
  for (size_t i = 0; i < series.size(); ++i)
    results.add({.model = cat("model", i), .batches = kBatches, .throughput = series[i]});
  return results;
}

TEST(ThroughputRises, Holds) {
  const Observation o = with_throughput({kRising, kRising})[1];
  EXPECT_EQ(o.verdict, RuleVerdict::holds) << o.effect;
  EXPECT_EQ(o.label, "CPU");
  ASSERT_EQ(o.cases.size(), 2u);
  EXPECT_EQ(o.cases[0].records.size(), 4u);
  EXPECT_NEAR(*o.cases[0].numbers[0].value, 2, 0.01);
  EXPECT_EQ(o.missing, "");
}

// One launch that drifts says nothing; of several, their interval says how far that carries the mean.
TEST(ThroughputRises, CountsLevelsThatMoveWhereLaunchesTellHowFar) {
  for (const int64_t launches : {1, 4}) {
    Results results;
    for (const char* model : {"a", "b"})
      results.add(
          {.model = model, .batches = kBatches, .throughput = {10, 20, 40, 80}, .launches = launches, .drift = 0.3});
    const Observation o = results[1];
    EXPECT_EQ(o.verdict, launches == 1 ? RuleVerdict::inconclusive : RuleVerdict::holds) << o.effect;
    EXPECT_EQ(o.notes.empty(), launches == 4);
  }
}

// The machine is slower in some rounds, and then so are all workloads.
TEST(ThroughputRises, IsJudgedByLaunchesOfTheSameRound) {
  for (const bool in_turns : {false, true}) {
    Results results;
    for (const char* model : {"a", "b"})
      results.add({.model = model,
                   .batches = kBatches,
                   .throughput = {10, 10.15, 10.3, 10.45},
                   .launches = 4,
                   .rounds = {1, 1.04, 1.02, 1.08}});
    if (!in_turns)
      for (Record& record : results.records())
        for (Launch& launch : record.launches) launch.info.start = "2026-01-31T12:00:01Z";
    const Observation o = results[1];
    EXPECT_EQ(o.verdict, in_turns ? RuleVerdict::holds : RuleVerdict::inconclusive) << o.effect;
  }
}

// Launches differ by far more than the batch changes, and all workloads by the same.
TEST(ThroughputRises, IsNotDeniedByWhatMovedAllLaunches) {
  Results results;
  for (const char* model : {"a", "b"})
    results.add({.model = model,
                 .batches = kBatches,
                 .throughput = {10, 10.8, 11.6, 12.4},
                 .launches = 4,
                 .rounds = {1, 1.5, 1.2, 1.9}});
  const Observation o = results[1];
  EXPECT_EQ(o.verdict, RuleVerdict::holds) << o.effect;
  EXPECT_NEAR(*o.cases[0].numbers[2].value, 0.02, 0.005) << "how far ratios of a round differ, not launches";
}

TEST(ThroughputRises, IsMostlySoWithFourOfFive) {
  const Observation o = with_throughput({kRising, kRising, kRising, kRising, kFalling})[1];
  EXPECT_EQ(o.verdict, RuleVerdict::mostly);
  EXPECT_THAT(o.offenders, ElementsAre("model4 pytorch fp32"));
}

TEST(ThroughputRises, FailsWhereItFallsOrStaysLevel) {
  EXPECT_EQ(with_throughput({kRising, kFalling})[1].verdict, RuleVerdict::fails);
  EXPECT_EQ(with_throughput({kFlat, kFlat})[1].verdict, RuleVerdict::fails);
}

// Of two cases one fails: 80 % cannot be reached any more.
TEST(ThroughputRises, FailsWhicheverWayTheUndecidedOneFalls) {
  Results results = with_throughput({kFalling});
  results.add({.model = "z", .batches = kBatches, .throughput = {20, 20.4, 20.8, 21}, .noise = 0.15});
  const Observation o = results[1];
  EXPECT_EQ(finding(o.cases[0]), "fails");
  EXPECT_EQ(finding(o.cases[1]), "undecided");
  EXPECT_EQ(o.verdict, RuleVerdict::fails) << o.effect;
}

TEST(ThroughputRises, IsInconclusiveWithOneSeriesAndNamesTheCommand) {
  const Observation o = with_throughput({kRising})[1];
  EXPECT_EQ(o.verdict, RuleVerdict::inconclusive);
  EXPECT_THAT(o.missing, HasSubstr("there are 1 such"));
  EXPECT_THAT(o.command, HasSubstr("tbd run "));
}

TEST(ThroughputRises, ContinuesAShortSeries) {
  Results results = with_throughput({kRising});
  results.add({.model = "bert", .batches = {2, 4}, .throughput = {1, 2}});
  EXPECT_EQ(results[1].command, "tbd run bert --batch 2,4,8,16");
}

TEST(ThroughputRises, PipelineCommandsNameTheData) {
  Results results;
  results.add({.model = "bert", .input_mode = InputMode::kPipeline, .batches = {2, 4}, .throughput = {1, 2}});
  EXPECT_EQ(results[1].command, "tbd run bert --input pipeline --data DIR --batch 2,4,8,16");
  for (Record& record : results.records()) record.run.workload.data = "books";
  EXPECT_EQ(results[1].command, "tbd run bert --input pipeline --data books --batch 2,4,8,16");
}

TEST(ThroughputRises, IsInconclusiveWhereIntervalsAreWide) {
  Results results;
  for (const char* model : {"a", "b"})
    results.add({.model = model, .batches = kBatches, .throughput = {20, 20.4, 20.8, 21}, .noise = 0.15});
  const Observation o = results[1];
  EXPECT_EQ(o.verdict, RuleVerdict::inconclusive) << o.effect;
  EXPECT_THAT(o.missing, HasSubstr("narrower intervals"));
  EXPECT_THAT(o.command, HasSubstr("--effort publish"));
}

TEST(ThroughputRises, OneStepDecidesNothing) {
  Results results;
  for (const char* model : {"a", "b"})
    results.add({.model = model, .batches = kBatches, .throughput = kRising, .steps = 5, .effort = "quick"});
  for (Record& record : results.records())
    for (Launch& launch : record.launches) launch.steps.resize(1);
  EXPECT_EQ(results[1].verdict, RuleVerdict::inconclusive);
}

Results with_use(const std::vector<std::vector<double>>& values, double spread = 0.005) {
  Results results;
  for (size_t i = 0; i < values.size(); ++i)
    results.add({.model = cat("model", i),
                 .batches = kBatches,
                 .throughput = kRising,
                 .u = values[i],
                 .f = values[i],
                 .spread = spread});
  return results;
}

const std::vector<double> kFills = {0.5, 0.7, 0.8, 0.95}, kNearOne = {0.97, 0.98, 0.985, 0.99},
                          kFallsOff = {0.9, 0.7, 0.8, 0.6};

TEST(DeviceUse, Holds) {
  const Observation o = with_use({kFills, kFills})[4];
  EXPECT_EQ(o.verdict, RuleVerdict::holds) << o.effect;
  EXPECT_EQ(o.cases[0].numbers[0].value, 1.0);
}

// No number of clean launches narrows what a trace says.
TEST(DeviceUse, IsNarrowedByTracedLaunches) {
  EXPECT_EQ(with_use({kFills})[4].cases.at(0).narrowed_by, std::vector{Pass::kTrace});
  EXPECT_EQ(with_use({kFills})[6].cases.at(0).narrowed_by, (std::vector{Pass::kClean, Pass::kTrace}));
  const Observation near_one = with_use({kNearOne})[4];
  EXPECT_TRUE(open_records(std::span(&near_one, 1)).records.empty());
}

TEST(DeviceUse, IsMostlySoWithFourOfFive) {
  EXPECT_EQ(with_use({kFills, kFills, kFills, kFills, kFallsOff})[4].verdict, RuleVerdict::mostly);
}

TEST(DeviceUse, FailsWhereItFallsWithTheBatch) {
  EXPECT_EQ(with_use({kFallsOff, kFallsOff})[4].verdict, RuleVerdict::fails);
}

TEST(DeviceUse, FailsWhereMostModelsNeverFillTheDevice) {
  EXPECT_EQ(with_use({{0.2, 0.3, 0.4, 0.5}, {0.2, 0.3, 0.4, 0.5}})[4].verdict, RuleVerdict::fails);
}

TEST(DeviceUse, NearOneEverywhereDecidesNothing) {
  const Observation o = with_use({kNearOne, kNearOne})[4];
  EXPECT_EQ(o.verdict, RuleVerdict::inconclusive);
  EXPECT_FALSE(o.cases[0].passes);
  EXPECT_THAT(o.cases[0].said, HasSubstr("near 1 everywhere"));
  EXPECT_EQ(with_use({kNearOne, kNearOne, kNearOne, kFallsOff, kFallsOff})[4].verdict, RuleVerdict::fails)
      << "no want of evidence where others decide";
}

TEST(DeviceUse, NearOneEverywhereIsNoUndecidedCase) {
  Observation o = with_use({kNearOne, kNearOne, kFills})[4];
  EXPECT_THAT(o.effect, HasSubstr("in 1 of 1 series; in 2 more it is 90 % or more at every batch"));
  EXPECT_EQ(o.verdict, RuleVerdict::inconclusive);
  EXPECT_THAT(o.missing, HasSubstr("there are 1 such"));
  EXPECT_EQ(finding(o.cases[0]), "decides nothing");
  EXPECT_EQ(finding(o.cases[2]), "passes");

  o = with_use({kNearOne, {0.5, 0.6, 0.7, 0.8}}, 0.4)[4];
  EXPECT_THAT(o.missing, AllOf(HasSubstr("undecided: model1"), Not(HasSubstr("model0")))) << "nothing narrows it";
  EXPECT_THAT(o.command, HasSubstr("model1"));
  EXPECT_THAT(with_use({kNearOne, kNearOne})[4].effect, HasSubstr("is 90 % or more at every batch in 2 series"));
}

TEST(DeviceUse, RecurrentModelsAloneDoNotShowThatTheDeviceFills) {
  Results results;
  for (const char* model : {"seq2seq", "deep_speech_2"})
    results.add({.model = model, .op = "lstm", .batches = kBatches, .throughput = kRising, .u = kFills});
  const Observation o = results[4];
  EXPECT_EQ(o.verdict, RuleVerdict::inconclusive);
  EXPECT_THAT(o.missing, HasSubstr("not recurrent"));
}

TEST(DeviceUse, IsInconclusiveWithoutTraces) {
  const Observation o = with_throughput({kRising, kRising})[4];
  EXPECT_EQ(o.verdict, RuleVerdict::inconclusive);
  EXPECT_EQ(o.command, "tbd run model0 --batch 4,8,16,32 --passes clean,trace");
}

TEST(UnitUse, HoldsFailsAndStaysOpen) {
  EXPECT_EQ(with_use({kFills, kFills})[6].verdict, RuleVerdict::holds);
  EXPECT_EQ(with_use({kFills, kFills, kFills, kFills, kFallsOff})[6].verdict, RuleVerdict::mostly);
  EXPECT_EQ(with_use({kNearOne, kNearOne})[6].verdict, RuleVerdict::fails) << "all within 2 %: ties";
  EXPECT_EQ(with_use({kFills})[6].verdict, RuleVerdict::inconclusive);
  EXPECT_EQ(with_use({kFills, kFills}, 0.4)[6].verdict, RuleVerdict::inconclusive) << "intervals of 40 %";
}

// One traced launch says little of F where other work disturbs; launches in turns say how X rises, and F with it.
TEST(UnitUse, OfDisturbedWorkloadsIsJudgedByLaunchesInTurns) {
  for (const bool in_turns : {false, true}) {
    Results results;
    for (const char* model : {"a", "b"})
      results.add({.model = model,
                   .batches = kBatches,
                   .throughput = {10, 12, 14, 16},
                   .u = {0.9, 0.9, 0.9, 0.9},
                   .f = {0.5, 0.6, 0.7, 0.8},
                   .spread = 0.01,
                   .launches = 4,
                   .rounds = {1, 1.5, 1.2, 1.9}});
    for (Record& record : results.records()) {
      OpRow& op = record.run.ops.front();
      op.forward.flop_model = op.backward.flop_model = 1000 * record.run.workload.batch;
      op.forward.flop_simd = op.backward.flop_simd = 0;
      record.run.ops.resize(1);
      for (Launch& launch : record.launches) {
        sample::hold_up(launch, 0.9);
        if (!in_turns) launch.info.start = "2026-01-31T12:00:01Z";
      }
    }
    const Observation o = results.with_wide_f(6);
    EXPECT_EQ(o.verdict, in_turns ? RuleVerdict::holds : RuleVerdict::inconclusive) << o.cases[0].said;
    EXPECT_EQ(o.cases[0].said.find("× 1.60") != std::string::npos, in_turns) << o.cases[0].said;
  }
}

}  // namespace
}  // namespace tbd
