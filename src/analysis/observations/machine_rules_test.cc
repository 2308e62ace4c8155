// Rules 9 to 13: processors, devices, memory, workers.
#include <gmock/gmock.h>

#include "analysis/observations/sample_sweeps.h"
#include "analysis/observations/scope.h"

namespace tbd {
namespace {

using sample::Results;
using sample::Series;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

Results on_gpu(const std::vector<double>& shares) {
  Results results;
  const std::vector<std::string> models = {"resnet50", "bert", "llama", "a", "b", "minigo"};
  for (size_t i = 0; i < shares.size(); ++i)
    results.add({.model = models[i],
                 .device = Device("cuda:0"),
                 .domain = models[i] == "minigo" ? "reinforcement learning" : "",
                 .batches = {4},
                 .throughput = {10},
                 .machine_use = shares[i]});
  return results;
}

TEST(Processors, HoldMostlyAndFail) {
  const Observation o = on_gpu({0.05, 0.1})[9];
  EXPECT_EQ(o.verdict, RuleVerdict::holds);
  EXPECT_THAT(o.cases[0].said, HasSubstr("cores busy"));
  EXPECT_EQ(on_gpu({0.05, 0.1, 0.1, 0.1, 0.3})[9].verdict, RuleVerdict::mostly);
  EXPECT_EQ(on_gpu({0.05, 0.3})[9].verdict, RuleVerdict::fails);
  EXPECT_EQ(on_gpu({0.05, 0.05, 0.05, 0.05, 0.05, 0.9})[9].verdict, RuleVerdict::holds) << "minigo plays games";
}

TEST(Processors, AreInconclusiveWithOneCellAndNotApplicableOnACpu) {
  const Observation o = on_gpu({0.05})[9];
  EXPECT_EQ(o.verdict, RuleVerdict::inconclusive);
  EXPECT_THAT(o.command, HasSubstr("--device cuda:0"));
  Results cpu;
  cpu.add({.batches = {4}, .throughput = {10}, .machine_use = 0.9});
  EXPECT_EQ(cpu[9].verdict, RuleVerdict::not_applicable);
}

Results two_machines(double fast, double u_fast, double spread = 0.005) {
  Results results;
  for (const char* model : {"resnet50", "bert", "llama"}) {
    results.add(
        {.model = model, .batches = {4, 8}, .throughput = {8, 10}, .u = {0.8, 0.9}, .f = {0.4, 0.5}, .spread = spread});
    results.add({.model = model,
                 .machine = "Fast CPU",
                 .batches = {8, 16},
                 .throughput = {fast, fast},
                 .u = {u_fast, u_fast},
                 .f = {0.55, 0.55},
                 .spread = spread,
                 .peak = 2.4e12});
  }
  return results;
}

TEST(Devices, HoldAndFail) {
  const Observation o = two_machines(15, 0.7)[10];
  EXPECT_EQ(o.verdict, RuleVerdict::holds) << o.effect;
  EXPECT_THAT(o.label, HasSubstr("Fast CPU"));
  EXPECT_THAT(o.label, HasSubstr("CPU: "));
  EXPECT_EQ(o.cases.size(), 3u);
  EXPECT_THAT(o.cases[0].said, HasSubstr("peak × 2.00"));
  EXPECT_THAT(o.cases[0].said, HasSubstr("batch 8"));
  EXPECT_EQ(two_machines(25, 0.7)[10].verdict, RuleVerdict::fails) << "gains more than its peak";
  EXPECT_EQ(two_machines(15, 0.95)[10].verdict, RuleVerdict::fails) << "neither U nor F is lower";
}

TEST(Devices, AreInconclusiveWithWideIntervalsOrWithoutCommonCells) {
  EXPECT_EQ(two_machines(15, 0.85, 0.2)[10].verdict, RuleVerdict::inconclusive);
  Results results;
  results.add({.model = "bert", .batches = {4}, .throughput = {10}});
  results.add({.model = "resnet50", .machine = "Fast CPU", .batches = {4}, .throughput = {10}, .peak = 2.4e12});
  EXPECT_EQ(results[10].verdict, RuleVerdict::inconclusive);
  EXPECT_EQ(results[10].command, "tbd run bert --batch 4 --passes clean,trace");
}

TEST(Devices, AreNotApplicableWithOneDevice) {
  Results results;
  results.add({.batches = {4}, .throughput = {10}});
  EXPECT_EQ(results[10].verdict, RuleVerdict::not_applicable);
}

Results with_maps(const std::vector<double>& shares) {
  Results results;
  const std::vector<std::string> models = {"resnet50", "bert", "llama", "a", "b"};
  for (size_t i = 0; i < shares.size(); ++i)
    results.add({.model = models[i], .batches = {4, 8}, .throughput = {8, 10}, .feature_maps = {0.1, shares[i]}});
  return results;
}

TEST(FeatureMaps, HoldMostlyAndFail) {
  EXPECT_EQ(with_maps({0.6, 0.9})[11].verdict, RuleVerdict::holds);
  EXPECT_EQ(with_maps({0.6, 0.9, 0.9, 0.9, 0.2})[11].verdict, RuleVerdict::mostly);
  const Observation o = with_maps({0.6, 0.2})[11];
  EXPECT_EQ(o.verdict, RuleVerdict::fails);
  EXPECT_THAT(o.offenders, ElementsAre("bert pytorch fp32"));
}

TEST(FeatureMaps, CountInMemoryPassRecords) {
  Results results = with_maps({0.6, 0.9});
  for (Record& record : results.records())
    for (Launch& launch : record.launches) {
      launch.info.pass = Pass::kMemory;
      launch.steps.clear();
    }
  EXPECT_EQ(results[11].verdict, RuleVerdict::holds);
}

TEST(FeatureMaps, AreInconclusiveWithoutAPassAtTheLargestBatch) {
  Results results = with_maps({0.6});
  results.add({.model = "wgan_gp", .batches = {4, 8}, .throughput = {8, 10}});
  const Observation o = results[11];
  EXPECT_EQ(o.verdict, RuleVerdict::inconclusive);
  EXPECT_EQ(o.command, "tbd run wgan_gp --batch 8 --passes clean,memory");
}

Series filling(const std::string& model, std::vector<double> throughput, std::vector<int64_t> peaks) {
  return {.model = model, .batches = {4, 8, 16}, .throughput = std::move(throughput), .peaks = std::move(peaks)};
}

TEST(Waste, HoldsWithTwoModels) {
  Results results;
  results.add(filling("resnet50", {18, 19.8, 20}, {300, 500, 900})).add(filling("bert", {20, 20, 20}, {300, 500, 900}));
  results.add(filling("seq2seq", {5, 10, 20}, {300, 500, 900}));
  const Observation o = results[12];
  EXPECT_EQ(o.verdict, RuleVerdict::holds) << o.effect;
  EXPECT_THAT(o.effect, HasSubstr("2 of 3 models"));
  EXPECT_TRUE(o.offenders.empty());
}

TEST(Waste, FailsWhereSmallerBatchesAreSlowOrAsLarge) {
  Results results;
  results.add(filling("resnet50", {5, 10, 20}, {300, 500, 900})).add(filling("bert", {20, 20, 20}, {800, 850, 900}));
  EXPECT_EQ(results[12].verdict, RuleVerdict::fails);
}

TEST(Waste, IsInconclusiveWithOneModelOrWideIntervals) {
  Results results;
  results.add(filling("resnet50", {20, 20, 20}, {300, 500, 900}));
  EXPECT_EQ(results[12].verdict, RuleVerdict::inconclusive);
  EXPECT_THAT(results[12].missing, HasSubstr("there are 1"));
  Series wide = filling("bert", {18, 19, 20}, {300, 500, 900});
  wide.noise = 0.3;
  results.add(wide);
  EXPECT_EQ(results[12].verdict, RuleVerdict::inconclusive);
  EXPECT_THAT(results[12].command, HasSubstr("bert --batch 4,8,16 --effort publish"));
}

rules::ScalingPoint scaled(bool fast, double all, int64_t batch = 8) {
  static const Sweep kSweep;
  return {.what = "resnet50",
          .workers = 2,
          .batch = batch,
          .fast_link = fast,
          .emulated = true,
          .speedup = {all / 10, all / 10 * 0.98, all / 10 * 1.02},
          .records = {"r0"},
          .sweep = &kSweep};
}

TEST(Scaling, HoldsFailsAndStaysOpen) {
  const auto verdict = [](std::vector<rules::ScalingPoint> points) {
    return rules::scaling_needs_network({}, points).verdict;
  };
  EXPECT_EQ(verdict({scaled(false, 8), scaled(true, 18)}), RuleVerdict::holds);
  EXPECT_EQ(verdict({scaled(false, 8), scaled(true, 12)}), RuleVerdict::fails);
  EXPECT_EQ(verdict({scaled(false, 12), scaled(true, 18)}), RuleVerdict::fails);
  EXPECT_EQ(verdict({scaled(false, 12, 16), scaled(false, 8), scaled(true, 18)}), RuleVerdict::holds)
      << "on the slow link the smallest batch counts";
  EXPECT_EQ(verdict({scaled(true, 18)}), RuleVerdict::inconclusive);
  EXPECT_EQ(verdict({scaled(false, 10), scaled(true, 18)}), RuleVerdict::inconclusive) << "half undecided";
  EXPECT_EQ(verdict({}), RuleVerdict::not_applicable);
}

TEST(Scaling, IsJudgedByWorkersOverLinks) {
  Series one = filling("resnet50", {10, 10, 10}, {300, 500, 900});
  Series slow = filling("resnet50", {8, 12, 16}, {300, 500, 900});
  slow.workers = 2;
  slow.link = "100Mbit";
  Series fast = filling("resnet50", {18, 19, 19}, {300, 500, 900});
  fast.workers = 2;
  Results results;
  results.add(one).add(fast);
  EXPECT_EQ(results[13].verdict, RuleVerdict::inconclusive) << "there is no slow link";
  EXPECT_THAT(results[13].command, HasSubstr("tbd run resnet50 "));
  EXPECT_THAT(results[13].command, HasSubstr(" --workers 1,2 "));
  EXPECT_THAT(results[13].command, HasSubstr(" --link loopback,100Mbit "));
  results.add(slow);
  EXPECT_EQ(results[13].verdict, RuleVerdict::holds) << results[13].effect;
  EXPECT_EQ(results[13].cases.size(), 4u) << "the smallest batch over the slow link, each over the fast one";
  EXPECT_THAT(results[13].label, HasSubstr("emulated links"));
  Series wide = fast;
  wide.throughput = {16, 16, 16};
  wide.noise = 0.3;
  Results open;
  open.add(one).add(slow).add(wide);
  EXPECT_EQ(open[13].verdict, RuleVerdict::inconclusive) << "E is 0.8, about";
  EXPECT_THAT(open[13].command, AllOf(HasSubstr(" --workers 1,2 "), HasSubstr(" --effort publish")));
  Results alone;
  alone.add(slow).add(fast);
  EXPECT_EQ(alone[13].verdict, RuleVerdict::not_applicable) << "one worker is missing";
}

TEST(Scaling, OverASlowLinkLooksAtTheSmallestBatchOfEachModel) {
  Results results;
  for (const auto& [model, batch] : {std::pair{"resnet50", 4}, {"bert", 8}}) {
    results.add({.model = model, .batches = {batch}, .throughput = {10}});
    results.add({.model = model, .batches = {batch}, .throughput = {8}, .workers = 2, .link = "100Mbit"});
    results.add({.model = model, .batches = {batch}, .throughput = {18}, .workers = 2});
  }
  EXPECT_EQ(results[13].cases.size(), 4u);
}

TEST(Scaling, OfWorkersThatOtherWorkDisturbedIsOpen) {
  Series one = filling("resnet50", {10, 10, 10}, {300, 500, 900});
  one.drift = 0.3;
  Series slow = filling("resnet50", {8, 12, 16}, {300, 500, 900});
  slow.workers = 2;
  slow.link = "100Mbit";
  Series fast = filling("resnet50", {18, 19, 19}, {300, 500, 900});
  fast.workers = 2;
  Results results;
  results.add(one).add(slow).add(fast);
  EXPECT_EQ(results[13].verdict, RuleVerdict::inconclusive);
  EXPECT_THAT(results[13].effect, HasSubstr("4 undecided"));
  EXPECT_THAT(results[13].command, AllOf(HasSubstr(" --workers 1,2 "), HasSubstr(" --effort publish")));
}

// No block of any launch was quiet; four launches of each took turns.
TEST(Scaling, OfDisturbedWorkersThatTookTurnsIsDecidedByPairs) {
  Results results;
  const auto add = [&](double x, int64_t workers, const char* link) {
    results.add({.batches = {4},
                 .throughput = {x},
                 .launches = 4,
                 .rounds = {1, 1.04, 1.02, 1.08},
                 .workers = workers,
                 .link = link});
    for (Launch& launch : results.records().back().launches) sample::hold_up(launch, 1);
  };
  add(10, 1, "");
  add(8, 2, "100Mbit");
  add(19, 2, "");
  EXPECT_FALSE(results.sweeps()[0].points[0].bounded);
  EXPECT_EQ(results[13].verdict, RuleVerdict::holds) << results[13].effect;
  for (Record& record : results.records())
    for (Launch& launch : record.launches) launch.info.start = "2026-01-31T12:00:01Z";
  EXPECT_EQ(results[13].verdict, RuleVerdict::inconclusive) << "one after the other";
  EXPECT_NEAR(*results[13].cases[0].numbers[0].value, 0.95, 0.01) << "shown all the same";
  EXPECT_THAT(results[13].missing, HasSubstr("3 launches or more in turns where other work disturbs"));
}

}  // namespace
}  // namespace tbd
