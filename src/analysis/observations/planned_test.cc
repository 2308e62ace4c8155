#include "analysis/observations/planned.h"

#include <gmock/gmock.h>

namespace tbd {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

struct Planned {
  std::string model, framework = "pytorch";
  bool recurrent = false;
  std::vector<Pass> passes = {Pass::kClean, Pass::kTrace, Pass::kMemory};
  int64_t budget = int64_t{4} << 30;
  Device device = Device::kCpu;
  std::vector<int64_t> batches = {4, 8, 16, 32};
};

std::vector<PlannedWorkload> plan(const std::vector<Planned>& sets) {
  std::vector<PlannedWorkload> cells;
  for (const Planned& set : sets)
    for (const int64_t batch : set.batches)
      cells.push_back(
          {.workload = {.model = set.model,
                        .framework = set.framework,
                        .batch = batch,
                        .device = set.device,
                        .memory_budget_bytes = set.budget > 0 ? std::optional(set.budget) : std::nullopt},
           .kind = {.lstm = set.recurrent, .recurrent = set.recurrent, .convolutional = set.model == "resnet50"},
           .passes = set.passes});
  return cells;
}

const std::vector<Planned> kFull = {{"seq2seq", "pytorch", true}, {"deep_speech_2", "pytorch", true},
                                    {"resnet50", "pytorch"},      {"bert", "pytorch"},
                                    {"transformer", "pytorch"},   {"resnet50", "tensorflow"},
                                    {"bert", "tensorflow"},       {"seq2seq", "tensorflow", true}};

TEST(Needs, FullPlanDecidesEveryObservationDecidableOnOneCpu) {
  const auto cells = plan(kFull);
  const std::vector<Need> all = needs(cells);
  ASSERT_THAT(all, SizeIs(13));
  for (const Need& need : all) {
    const bool elsewhere = need.observation == 9 || need.observation == 10 || need.observation == 13;
    EXPECT_EQ(need.decidable, !elsewhere) << need.observation << ": " << need.lacks;
    EXPECT_EQ(need.lacks.empty(), need.decidable);
    for (const auto& group : need.groups)
      for (const size_t cell : group) EXPECT_LT(cell, cells.size());
  }
  EXPECT_THAT(all[0].groups, SizeIs(8)) << "a sweep each";
  EXPECT_THAT(all[0].groups[1], testing::ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(all[2].groups, SizeIs(3)) << "a model each";
}

TEST(Needs, EmptyPlanDecidesNoObservation) {
  for (const Need& need : needs({})) {
    EXPECT_FALSE(need.decidable);
    EXPECT_THAT(need.groups, IsEmpty());
    EXPECT_FALSE(need.lacks.empty());
  }
}

TEST(Needs, FollowPassesBudgetsAndLaunches) {
  std::vector<Planned> sets = kFull;
  for (Planned& set : sets) {
    set.passes = {};
    set.budget = 0;
  }
  const std::vector<Need> all = needs(plan(sets), 1);
  for (const int decidable : {1, 12}) EXPECT_TRUE(all[static_cast<size_t>(decidable) - 1].decidable) << decidable;
  for (const int open : {2, 3, 4, 5, 6, 7, 8, 11}) EXPECT_FALSE(all[static_cast<size_t>(open) - 1].decidable) << open;
  EXPECT_THAT(all[1].lacks, HasSubstr("memory budget"));
  EXPECT_THAT(all[2].lacks, HasSubstr("1 launch a workload"));
  EXPECT_THAT(all[3].lacks, HasSubstr("trace"));
}

TEST(Needs, TwoDevicesDecideNineAndTen) {
  std::vector<Planned> sets = {{"resnet50"}, {"bert"}};
  const size_t on_cpu = sets.size();
  for (size_t i = 0; i < on_cpu; ++i) {
    Planned twin = sets[i];
    twin.device = Device("cuda:0");
    sets.push_back(twin);
  }
  const std::vector<Need> all = needs(plan(sets));
  EXPECT_TRUE(all[8].decidable);
  EXPECT_TRUE(all[9].decidable);
}

TEST(Needs, ThreeBatchesAreTooFewForASweep) {
  std::vector<Planned> sets = {{"resnet50"}, {"bert"}};
  for (Planned& set : sets) set.batches = {4, 8, 16};
  EXPECT_FALSE(needs(plan(sets))[0].decidable);
}

}  // namespace
}  // namespace tbd
