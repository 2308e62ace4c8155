#include "runner/quickstart.h"

#include <gtest/gtest.h>

namespace tbd {
namespace {

const std::vector<int64_t> kSweep = {1, 2, 4, 8, 16, 32};
bool always(int64_t) { return true; }

TEST(ChooseBatch, LeavesRoomForTwentyFiveStableSteps) {
  const int64_t batch = choose_batch(kSweep, 0.15, 75, always);
  EXPECT_EQ(batch, 8);
  EXPECT_LT(30 * 0.15 * static_cast<double>(batch), 75);
}

TEST(ChooseBatch, IsTheLargestOfTheSweepWhenTimeAllows) { EXPECT_EQ(choose_batch(kSweep, 1e-4, 75, always), 32); }

TEST(ChooseBatch, IsTheSmallestWhenNoneFits) {
  EXPECT_EQ(choose_batch(kSweep, 100, 75, always), 1);
  EXPECT_EQ(choose_batch(kSweep, 1e-4, 75, [](int64_t) { return false; }), 1);
}

TEST(ChooseBatch, StaysWithinMemory) {
  EXPECT_EQ(choose_batch(kSweep, 1e-4, 75, [](int64_t batch) { return batch <= 4; }), 4);
}

std::vector<std::string> names(const std::vector<Workload>& cells) {
  std::vector<std::string> out;
  for (const Workload& cell : cells) out.push_back(cat(cell.framework, " ", cell.precision, " ", cell.input_mode));
  return out;
}

const Workload kLike{.model = "resnet50", .data = "/photos"};
const FrameworkOffer kBoth{"a", {Precision::kFp64, Precision::kFp32, Precision::kBf16}, true};

TEST(PlanLaunches, TakesThreeWhereHalfOfTheShareRemainsForSteps) {
  const LaunchPlan plan = plan_launches(40, 5);
  EXPECT_EQ(plan.launches, 3);
  EXPECT_NEAR(3 * (plan.limit_seconds + 5), 40, 1e-9);
}

TEST(PlanLaunches, TakesOneWhenStartUpWouldUseMostOfTheTime) {
  EXPECT_EQ(plan_launches(40, 8).launches, 1);
  EXPECT_EQ(plan_launches(40, 8).limit_seconds, 32);
  EXPECT_EQ(plan_launches(40, 39).limit_seconds, 10) << "a quarter at least";
}

TEST(QuickstartCells, MeasuresOneFrameworkInBothInputModes) {
  EXPECT_EQ(names(quickstart_cells(kLike, {kBoth})),
            (std::vector<std::string>{"a fp32 resident", "a fp32 pipeline", "a bf16 resident", "a bf16 pipeline"}));
  EXPECT_EQ(quickstart_cells(kLike, {kBoth})[1].data, "/photos");
}

TEST(QuickstartCells, ThreeFrameworksShareSixCellsWithOnePair) {
  const std::vector<FrameworkOffer> offers = {
      kBoth, {"b", {Precision::kFp32, Precision::kBf16}, true}, {"c", {Precision::kFp32}, true}};
  EXPECT_EQ(names(quickstart_cells(kLike, offers)),
            (std::vector<std::string>{"a fp32 resident", "a fp32 pipeline", "a bf16 resident", "b fp32 resident",
                                      "b bf16 resident", "c fp32 resident"}));
}

TEST(QuickstartCells, AGpuIsMeasuredWithTensorFloats) {
  FrameworkOffer offer = {"a", {Precision::kFp32, Precision::kTf32, Precision::kBf16}, false};
  EXPECT_EQ(names(quickstart_cells(kLike, {offer})), (std::vector<std::string>{"a fp32 resident", "a bf16 resident"}));
  offer.device = Device("cuda:0");
  const std::vector<Workload> cells = quickstart_cells(kLike, {offer});
  EXPECT_EQ(names(cells), (std::vector<std::string>{"a fp32 resident", "a tf32 resident", "a bf16 resident"}));
  EXPECT_EQ(cells[1].device, Device("cuda:0"));
}

TEST(QuickstartPasses, OfAGpuTellTimeAndMemoryToo) {
  const std::vector<Pass> clean = {Pass::kClean}, all = {Pass::kClean, Pass::kTrace, Pass::kMemory};
  const Workload open{.model = "resnet50"}, cpu{.model = "resnet50", .device = Device::kCpu};
  EXPECT_EQ(quickstart_passes({open, cpu}), clean);
  EXPECT_EQ(quickstart_passes({cpu, {.model = "resnet50", .device = Device{"cuda:0"}}}), all);
}

TEST(SweepOn, AGpuTakesLargerBatches) {
  EXPECT_EQ(sweep_on(Device::kCpu, kSweep), kSweep);
  const std::vector<int64_t> sweep = sweep_on(Device("cuda:0"), kSweep);
  EXPECT_EQ(sweep.front(), 1);
  EXPECT_EQ(sweep.back(), 1024);
}

TEST(QuickstartCells, AnAbsentFrameworkKeepsARow) {
  EXPECT_EQ(names(quickstart_cells(kLike, {{"gone", {}, false}, {"c", {Precision::kFp32}, false}})),
            (std::vector<std::string>{"gone fp32 resident", "c fp32 resident"}));
}

}  // namespace
}  // namespace tbd
