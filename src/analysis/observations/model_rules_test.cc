// Rules 3, 5, 7 and 8: frameworks and kinds of models side by side.
#include <gmock/gmock.h>

#include "analysis/observations/sample_sweeps.h"

namespace tbd {
namespace {

using sample::Results;
using sample::Series;
using testing::ElementsAre;
using testing::HasSubstr;

Results rivals(const std::vector<double>& pytorch, const std::vector<double>& tensorflow, int64_t launches = 3) {
  Results results;
  const std::vector<std::string> models = {"resnet50", "bert", "seq2seq", "llama"};
  for (size_t i = 0; i < pytorch.size(); ++i)
    for (const auto& [framework, x] : {std::pair{"pytorch", pytorch[i]}, std::pair{"tensorflow", tensorflow[i]}})
      results.add({.model = models[i],
                   .framework = framework,
                   .batches = {4, 8},
                   .throughput = {x / 2, x},
                   .launches = launches});
  return results;
}

TEST(NoFrameworkWins, HoldsWithAWitness) {
  const Observation o = rivals({20, 20, 20}, {10, 30, 10})[3];
  EXPECT_EQ(o.verdict, RuleVerdict::holds) << o.effect;
  EXPECT_EQ(o.cases.size(), 3u);
  EXPECT_TRUE(o.offenders.empty());
}

TEST(NoFrameworkWins, FailsWhereOneIsFastestEverywhere) {
  EXPECT_EQ(rivals({20, 20, 20}, {10, 15, 10})[3].verdict, RuleVerdict::fails);
}

TEST(NoFrameworkWins, IsInconclusiveWithTwoModels) {
  const Observation o = rivals({20, 20}, {10, 15})[3];
  EXPECT_EQ(o.verdict, RuleVerdict::inconclusive);
  EXPECT_THAT(o.missing, HasSubstr("three models"));
}

TEST(NoFrameworkWins, IsInconclusiveWithOneLaunchEach) {
  const Observation o = rivals({20, 20, 20}, {10, 30, 10}, 1)[3];
  EXPECT_EQ(o.verdict, RuleVerdict::inconclusive);
  EXPECT_THAT(o.command, HasSubstr("--effort publish"));
}

// Of four launches of each, two have no quiet block: too few for the levels of quiet blocks to decide.
TEST(NoFrameworkWins, IsDecidedByPairsOfDisturbedLaunchesThatTookTurns) {
  for (const bool in_turns : {false, true}) {
    Results results;
    const auto add = [&](const char* model, const char* framework, double x) {
      results.add({.model = model,
                   .framework = framework,
                   .batches = {4},
                   .throughput = {x},
                   .launches = 4,
                   .rounds = {1, 1.04, 1.02, 1.08}});
    };
    for (const auto& [model, tensorflow] : {std::pair{"resnet50", 10.0}, {"bert", 30.0}, {"llama", 10.0}}) {
      add(model, "pytorch", 20);
      add(model, "tensorflow", tensorflow);
    }
    for (Record& record : results.records())
      for (Launch& launch : record.launches) {
        sample::hold_up(launch, launch.info.number > 2 ? 0.9 : 1);
        if (!in_turns) launch.info.start = "2026-01-31T12:00:01Z";
      }
    const Observation o = results[3];
    EXPECT_EQ(o.cases.size(), 3u) << "what other work disturbed is evidence all the same";
    EXPECT_EQ(o.verdict, in_turns ? RuleVerdict::holds : RuleVerdict::inconclusive) << o.effect;
  }
}

// Of three launches of each other work took a share that differs; what remains quiet tells them apart.
TEST(NoFrameworkWins, IsDecidedByQuietLevelsWhereThreePairsAreFew) {
  Results results;
  const auto add = [&](const char* model, const char* framework, double x, const std::vector<double>& shares) {
    results.add({.model = model,
                 .framework = framework,
                 .batches = {4},
                 .throughput = {x},
                 .launches = 3,
                 .rounds = {1, 1, 1}});
    for (Launch& launch : results.records().back().launches)
      sample::hold_up(launch, shares[static_cast<size_t>(launch.info.number - 1)]);
  };
  for (const auto& [model, tensorflow] : {std::pair{"resnet50", 10.0}, {"bert", 14.0}, {"llama", 10.0}}) {
    add(model, "pytorch", 12, {0.75, 0.95, 0.85});
    add(model, "tensorflow", tensorflow, {0.95, 0.75, 0.85});
  }
  const Observation o = results[3];
  EXPECT_EQ(o.verdict, RuleVerdict::holds) << o.effect << o.cases[0].said;
}

TEST(NoFrameworkWins, SaysWhatIsMissingWhereThreeLaunchesDidNotDecide) {
  Results results;
  for (const char* model : {"resnet50", "bert", "llama"})
    for (const char* framework : {"pytorch", "tensorflow"})
      results.add({.model = model,
                   .framework = framework,
                   .batches = {4},
                   .throughput = {20},
                   .launches = 3,
                   .rounds = {1, 1.3, 0.8}});
  const Observation o = results[3];
  EXPECT_EQ(o.verdict, RuleVerdict::inconclusive);
  EXPECT_THAT(o.missing, HasSubstr("narrower intervals"));
}

TEST(NoFrameworkWins, LeavesOutWhatWasNotVerifiedAndCountsIt) {
  Results results = rivals({20, 20, 20}, {10, 30, 10});
  for (Record& record : results.records())
    if (record.run.workload.framework == "tensorflow") record.run.verified = {};
  const Observation o = results[3];
  EXPECT_EQ(o.verdict, RuleVerdict::inconclusive);
  EXPECT_THAT(o.notes, ElementsAre(HasSubstr("6 workloads left out: never checked")));
  for (Record& record : results.records())
    if (record.run.workload.framework == "tensorflow") record.run.verified = false;
  EXPECT_THAT(results[3].notes, ElementsAre(HasSubstr("6 workloads left out: not the same network")));
}

Results kinds(const std::vector<double>& recurrent, const std::vector<double>& others, double spread = 0.005) {
  Results results;
  const std::vector<std::string> names = {"seq2seq", "deep_speech_2", "seq2seq_large", "a", "b"};
  for (size_t i = 0; i < recurrent.size(); ++i)
    results.add({.model = names[i],
                 .op = "lstm_cell",
                 .title = i == 1 ? "Deep Speech 2" : "",
                 .domain = i == 1 ? "speech recognition" : "translation",
                 .batches = {4},
                 .throughput = {10},
                 .u = {recurrent[i]},
                 .f = {recurrent[i]},
                 .spread = spread});
  const std::vector<std::string> rest = {"resnet50", "bert", "llama"};
  for (size_t i = 0; i < others.size(); ++i)
    results.add(
        {.model = rest[i], .batches = {4}, .throughput = {10}, .u = {others[i]}, .f = {others[i]}, .spread = spread});
  return results;
}

class RecurrentUse : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Rules, RecurrentUse, testing::Values(5, 7));

TEST_P(RecurrentUse, Holds) {
  const Observation o = kinds({0.4, 0.5}, {0.8, 0.9, 1.0})[GetParam()];
  EXPECT_EQ(o.verdict, RuleVerdict::holds) << o.effect;
  EXPECT_THAT(o.effect, HasSubstr("Deep Speech 2: 0.556"));
}

TEST_P(RecurrentUse, IsMostlySoWithFourOfFive) {
  EXPECT_EQ(kinds({0.4, 0.4, 0.4, 0.4, 0.9}, {0.8, 0.9, 1.0})[GetParam()].verdict, RuleVerdict::mostly);
}

TEST_P(RecurrentUse, Fails) {
  const Observation o = kinds({0.4, 0.8}, {0.8, 0.9, 1.0})[GetParam()];
  EXPECT_EQ(o.verdict, RuleVerdict::fails);
  EXPECT_THAT(o.offenders, ElementsAre("deep_speech_2 pytorch fp32"));
}

TEST_P(RecurrentUse, IsInconclusiveWithOneRecurrentSeriesOrOneOther) {
  EXPECT_EQ(kinds({0.4}, {0.8, 0.9, 1.0})[GetParam()].verdict, RuleVerdict::inconclusive);
  const Observation o = kinds({0.4, 0.4}, {0.8})[GetParam()];
  EXPECT_EQ(o.verdict, RuleVerdict::inconclusive);
  EXPECT_THAT(o.missing, HasSubstr("there are 2 and 1"));
  EXPECT_THAT(o.command, HasSubstr("--passes clean,trace"));
}

TEST_P(RecurrentUse, IsInconclusiveWhereIntervalsReachTheBound) {
  EXPECT_EQ(kinds({0.55, 0.55}, {0.8, 0.9, 1.0}, 0.3)[GetParam()].verdict, RuleVerdict::inconclusive);
}

// The intervals of F reach far, those of the ratios of launches in turns do not.
TEST(RecurrentUse, OfDisturbedWorkloadsIsJudgedByLaunchesInTurns) {
  for (const bool in_turns : {false, true}) {
    Results results;
    const auto add = [&](const char* model, const char* op, double x) {
      results.add({.model = model,
                   .op = op,
                   .batches = {4},
                   .throughput = {x},
                   .u = {0.9},
                   .f = {x / 20},
                   .spread = 0.01,
                   .launches = 4,
                   .rounds = {1, 1.5, 1.2, 1.9}});
      for (Launch& launch : results.records().back().launches) {
        sample::hold_up(launch, 0.9);
        if (!in_turns) launch.info.start = "2026-01-31T12:00:01Z";
      }
    };
    for (const auto& [model, x] : {std::pair{"seq2seq", 4.0}, {"deep_speech_2", 5.0}}) add(model, "lstm_cell", x);
    for (const auto& [model, x] : {std::pair{"resnet50", 9.0}, {"bert", 10.0}, {"llama", 11.0}})
      add(model, "conv2d", x);
    const Observation o = results.with_wide_f(7);
    EXPECT_EQ(o.verdict, in_turns ? RuleVerdict::holds : RuleVerdict::inconclusive) << o.effect;
    EXPECT_NEAR(*o.cases[0].numbers[2].value, 0.5, 0.11);
  }
}

TEST(RecurrentUse, OneSeriesWithoutAnIntervalDoesNotLeaveTheMedianWithout) {
  Results results = kinds({0.1, 0.12}, {0.5, 0.6});
  const auto verdict = [&](std::optional<double> spread) {
    std::vector<Sweep> sweeps = results.sweeps();
    for (Sweep& sweep : sweeps)
      if (sweep.workload.model == "llama")
        for (SweepPoint& point : sweep.points) {
          point.flop_active = {.value = 0.55, .low = {}, .high = {}, .reason = ""};
          if (spread) point.flop_active.low = point.flop_active.high = 0.55;
        }
    const std::vector<Observation> all = observe(sweeps, sample::networks());
    return *std::ranges::find(all, 7, &Observation::number);
  };
  results.add({.model = "llama", .batches = {4}, .throughput = {10}, .u = {0.5}, .f = {0.5}});
  EXPECT_EQ(verdict(0).verdict, RuleVerdict::holds);
  EXPECT_THAT(verdict(0).cases[0].said, HasSubstr("of 3 other series"));
  EXPECT_EQ(verdict({}).verdict, RuleVerdict::holds);
  EXPECT_THAT(verdict({}).cases[0].said, HasSubstr("of 2 other series"));
}

TEST(RecurrentKinds, GruIsRecurrentButNoLstm) {
  Results results = kinds({0.4, 0.5}, {0.8, 0.9, 1.0});
  for (Record& record : results.records())
    if (record.run.ops.front().op == "lstm_cell") record.run.ops.front().op = "gru";
  EXPECT_EQ(results[7].verdict, RuleVerdict::holds);
  EXPECT_EQ(results[5].verdict, RuleVerdict::inconclusive);
}

TEST(RecurrentKinds, PrecisionsAreNotSetAgainstEachOther) {
  Results results = kinds({0.4, 0.5}, {});
  for (const char* model : {"resnet50", "bert"})
    results.add({.model = model, .precision = Precision::kBf16, .batches = {4}, .throughput = {10}, .u = {0.9}});
  EXPECT_EQ(results[5].verdict, RuleVerdict::inconclusive);
}

// Ops of known times and utilizations; the mean is 0.5.
Observation with_kernels(int64_t slow_ns, int64_t fast_ns, bool has_profile = true) {
  Results results;
  results.add({.batches = {4}, .throughput = {10}, .u = {0.9}, .f = {0.5}});
  std::vector<Sweep> sweeps = results.sweeps();
  if (has_profile) {
    Profile& profile = sweeps[0].points[0].profile.emplace();
    for (const auto& [name, ns, use] : {std::tuple{"conv", fast_ns, 0.6}, std::tuple{"norm", slow_ns, 0.1}}) {
      ProfileOp op;
      op.main_op = name;
      op.direction = "forward";
      op.total_ns = ns;
      op.utilization = use;
      profile.ops.push_back(op);
    }
  } else {
    sweeps[0].points[0].flop_active = sweeps[0].points[0].compute_utilization = absent("not traced");
  }
  return observe(sweeps, sample::networks())[7];
}

TEST(LongKernels, HoldsFailsAndLacksATrace) {
  const Observation o = with_kernels(200, 800);
  EXPECT_EQ(o.number, 8);
  EXPECT_EQ(o.verdict, RuleVerdict::holds) << o.effect;
  EXPECT_THAT(o.effect, HasSubstr("norm (forward)"));
  EXPECT_EQ(with_kernels(50, 950).verdict, RuleVerdict::fails);
  const Observation none = with_kernels(0, 0, false);
  EXPECT_EQ(none.verdict, RuleVerdict::inconclusive);
  EXPECT_EQ(none.command, "tbd run resnet50 --batch 4 --passes clean,trace");
}

TEST(LongKernels, OfAGpuAreKernelsByName) {
  Results results;
  results.add({.device = Device("cuda:0"), .batches = {4}, .throughput = {10}, .u = {0.9}, .f = {0.5}});
  std::vector<Sweep> sweeps = results.sweeps();
  Profile& profile = sweeps[0].points[0].profile.emplace();
  profile.kernels = {{.name = "void at::native::gemm<float>(int)", .direction = "forward", .total_ns = 800},
                     {.name = "void at::native::norm<float>(int)", .direction = "backward", .total_ns = 200}};
  profile.kernels[0].utilization = 0.6;
  profile.kernels[1].utilization = 0.1;
  const Observation o = observe(sweeps, sample::networks())[7];
  EXPECT_EQ(o.verdict, RuleVerdict::holds) << o.effect;
  EXPECT_THAT(o.effect, AllOf(HasSubstr("20.0 %"), HasSubstr("norm<float> (backward)")));
}

TEST(LongKernels, RecurrentModelsAreNoEvidence) {
  Results results;
  results.add({.model = "seq2seq", .op = "lstm", .batches = {4}, .throughput = {10}, .u = {0.9}, .f = {0.5}});
  EXPECT_EQ(results[8].verdict, RuleVerdict::inconclusive);
}

}  // namespace
}  // namespace tbd
