// Rule 2.
#include <gmock/gmock.h>

#include "analysis/observations/sample_sweeps.h"
#include "base/json.h"

namespace tbd {
namespace {

using sample::Results;
using sample::Series;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kBudget = int64_t{4} << 30;

Series limited(const std::string& model, const std::string& op, std::vector<double> throughput) {
  return {.model = model,
          .op = op,
          .batches = {4, 8, 16},
          .throughput = std::move(throughput),
          .oom_at = 32,
          .budget = kBudget};
}
const std::vector<double> kGains = {10, 16, 26}, kSaturated = {10, 19, 20};

Results usual(const std::vector<double>& recurrent, const std::vector<double>& others) {
  Results results;
  results.add(limited("seq2seq", "lstm", recurrent));
  for (const char* model : {"resnet50", "transformer", "wgan_gp"}) results.add(limited(model, "conv2d", others));
  return results;
}

TEST(Saturation, Holds) {
  const Observation o = usual(kGains, kSaturated)[2];
  EXPECT_EQ(o.verdict, RuleVerdict::holds) << o.effect;
  EXPECT_EQ(o.label, "CPU, memory-limited, budget 4 GiB");
  EXPECT_EQ(o.cases.size(), 4u);
}

TEST(Saturation, HoldsWithTwoThirdsOfTheOthers) {
  Results results;
  results.add(limited("seq2seq", "lstm", kGains)).add(limited("resnet50", "conv2d", kSaturated));
  results.add(limited("bert", "matmul", kSaturated)).add(limited("llama", "matmul", kGains));
  const Observation o = results[2];
  EXPECT_EQ(o.verdict, RuleVerdict::holds);
  EXPECT_THAT(o.offenders, ElementsAre("llama pytorch fp32"));
}

TEST(Saturation, FailsWhereARecurrentModelSaturates) {
  EXPECT_EQ(usual(kSaturated, kSaturated)[2].verdict, RuleVerdict::fails);
}

TEST(Saturation, FailsWhereTheOthersGain) { EXPECT_EQ(usual(kGains, kGains)[2].verdict, RuleVerdict::fails); }

TEST(Saturation, IsInconclusiveWithoutAnEndInMemory) {
  Results results = usual(kGains, kSaturated);
  for (Record& record : results.records())
    if (record.run.outcome.kind == OutcomeKind::oom) record.run.outcome.kind = OutcomeKind::timeout;
  const Observation o = results[2];
  EXPECT_EQ(o.verdict, RuleVerdict::inconclusive);
  EXPECT_EQ(o.command,
            "tbd run deep_speech_2 inception_v3 minigo bert --batch 8,16,32,64,128,256,512,1024 --memory 4GiB");
}

TEST(Saturation, NamesWhatLacks) {
  Results results;
  for (const char* model : {"resnet50", "transformer", "wgan_gp"}) results.add(limited(model, "conv2d", kSaturated));
  const Observation o = results[2];
  EXPECT_EQ(o.verdict, RuleVerdict::inconclusive);
  EXPECT_THAT(o.missing, HasSubstr("there are 0 and 3"));
  EXPECT_EQ(o.command, "tbd run seq2seq --batch 4,8,16,32,64 --memory 4GiB");
}

TEST(Saturation, AcceptsAWorkloadSkippedForPredictedMemoryAsEndOfSweep) {
  Results results = usual(kGains, kSaturated);
  for (Record& record : results.records()) {
    if (record.run.outcome.kind != OutcomeKind::oom) continue;
    record.run.outcome = {
        .kind = OutcomeKind::skipped, .reason = "a step is predicted to need 5 GiB of memory", .repro = ""};
    record.launches.clear();
    record.run.workload.optimizer = "sgd";
    record.run.environment = Json::object();
  }
  EXPECT_EQ(results[2].verdict, RuleVerdict::holds);
  for (Record& record : results.records())
    if (record.launches.empty()) record.run.outcome.reason = "left out by the time budget";
  EXPECT_EQ(results[2].verdict, RuleVerdict::inconclusive);
}

// The recurrent model's interval reaches both sides of its bound.
Results with_wide_recurrent(const std::vector<double>& others) {
  Results results;
  Series wide = limited("seq2seq", "lstm", {10, 16, 20});
  wide.noise = 0.3;
  results.add(wide);
  for (const char* model : {"resnet50", "transformer", "wgan_gp"}) results.add(limited(model, "conv2d", others));
  return results;
}

TEST(Saturation, IsInconclusiveWhereIntervalsAreWide) {
  const Observation o = with_wide_recurrent(kSaturated)[2];
  EXPECT_EQ(o.verdict, RuleVerdict::inconclusive) << o.effect;
}

TEST(Saturation, FailsWhereTheOthersGainWhateverRecurrentModelsDo) {
  const Observation o = with_wide_recurrent(kGains)[2];
  EXPECT_EQ(o.verdict, RuleVerdict::fails) << o.effect;
}

}  // namespace
}  // namespace tbd
