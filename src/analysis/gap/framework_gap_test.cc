// Two records made by hand: pytorch's step of 1,000 us, and one whose c1 backward takes 150 us longer.
#include "analysis/gap/framework_gap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/gap/shares.h"
#include "analysis/gap/split.h"
#include "analysis/sample_profile.h"

namespace tbd {
namespace {

using sample::SampleTimes;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::unique_ptr<sample::Made> made_cell(const char* framework, int64_t clean_ns, const SampleTimes& times,
                                        const char* grad = "conv_grad") {
  auto made = sample::rival(framework, clean_ns);
  sample::write_steps(made->record.folder / "launches/trace-1/trace.tbdt", 12, times, grad);
  return made;
}

FrameworkGaps gaps_of(const std::vector<const Record*>& records) {
  std::vector<GapCell> cells;
  for (const Record* record : records) {
    const RunView run = view(*record);
    cells.push_back(gap_cell(run, summarize(run)));
  }
  return framework_gaps(cells);
}

int64_t sum_of(const std::vector<GapPart>& parts) {
  int64_t sum = 0;
  for (const GapPart& part : parts) sum += part.difference();
  return sum;
}

TEST(Shares, AddUpToTheTimeInWhichAnythingRan) {
  const std::vector<Activity> activities = {{.begin = 0, .end = 10, .event = 0},
                                            {.begin = 2, .end = 9, .event = 1},
                                            {.begin = 2, .end = 5, .event = 2},
                                            {.begin = 20, .end = 40, .event = 3}};
  std::vector<int64_t> ns(4);
  share_window(activities, {1, 30}, [&](const Activity& a, int64_t part) { ns[a.event] += part; });
  // [1,2) the first alone, [2,5) three of them, [5,9) two, [9,10) the first, [20,30) the last.
  EXPECT_THAT(ns, ElementsAre(1 + 1 + 2 + 1, 1 + 2, 1, 10));
}

TEST(Shares, DistributeRoundingRemaindersWithoutLoss) {
  const std::vector<Activity> activities = {
      {.begin = 0, .end = 10, .event = 0}, {.begin = 0, .end = 10, .event = 1}, {.begin = 0, .end = 10, .event = 2}};
  std::vector<int64_t> ns(3);
  share_window(activities, {0, 10}, [&](const Activity& a, int64_t part) { ns[a.event] += part; });
  EXPECT_THAT(ns, ElementsAre(4, 3, 3));
}

TEST(StepSplit, NodesAndIdleTimeSumToTheWindow) {
  const auto made = made_cell("pytorch", 1'000'000, {});
  const StepSplit split = *split_steps(made->record);
  EXPECT_EQ(split.steps, 2) << "of 5 to 8, 6 and 7";
  EXPECT_EQ(split.window_ns, 2'000'000);
  EXPECT_EQ(split.busy_ns() + total(split.idle), split.window_ns);
  const auto conv = std::ranges::find(split.nodes, "conv_grad", &NodeShare::kernel);
  ASSERT_NE(conv, split.nodes.end());
  EXPECT_EQ(conv->node, "c1");
  EXPECT_EQ(conv->direction, "backward");
  EXPECT_EQ(conv->ns, 800'000);
}

TEST(FrameworkGap, APlantedSlowerNodeIsNamedFirstWithItsSize) {
  const auto fast = made_cell("pytorch", 1'000'000, {});
  const auto slow = made_cell("tensorflow", 1'160'000, {.backward = 550'000}, "Conv2DBackpropFilter");
  const FrameworkGaps found = gaps_of({&slow->record, &fast->record});
  ASSERT_EQ(found.gaps.size(), 1u);
  EXPECT_TRUE(found.missing.empty());
  const FrameworkGap& gap = found.gaps[0];
  EXPECT_EQ(gap.gap(), 160'000);
  EXPECT_EQ(sum_of(gap.parts), gap.gap()) << "to the nanosecond";
  EXPECT_EQ(gap.parts[0].name, "c1");
  EXPECT_EQ(gap.parts[0].direction, "backward");
  EXPECT_EQ(gap.parts[0].difference(), 150'000);
  EXPECT_EQ(gap.residual().difference(), 10'000) << "the traced steps differ by 150 us only";
  EXPECT_THAT(
      gap_paragraph(gap),
      HasSubstr("tensorflow takes 1.16 ms a step, pytorch 1.00 ms: 160 us more. Most by node: c1 backward 150 us "
                "more (Conv2DBackpropFilter against conv_grad). All other nodes"));
  EXPECT_THAT(gap_paragraph(gap), HasSubstr("residual 10.0 us (6.25 % of the difference)"));
  EXPECT_THAT(gap_paragraph(gap), Not(HasSubstr("says little")));
}

TEST(FrameworkGap, ReportsALargeResidual) {
  const auto fast = made_cell("pytorch", 1'000'000, {});
  const auto slow = made_cell("mxnet", 1'300'000, {.backward = 500'000});
  const FrameworkGap gap = gaps_of({&slow->record, &fast->record}).gaps.at(0);
  EXPECT_EQ(gap.residual().difference(), 200'000);
  EXPECT_THAT(gap_paragraph(gap), HasSubstr("says little"));
}

TEST(FrameworkGap, IdleTimeIsAPartOfItsOwn) {
  const auto fast = made_cell("pytorch", 1'000'000, {});
  const auto slow = made_cell("mxnet", 1'300'000, {.batch = 400'000});
  const FrameworkGap gap = gaps_of({&slow->record, &fast->record}).gaps.at(0);
  const auto input = std::ranges::find(gap.parts, "input", &GapPart::name);
  ASSERT_NE(input, gap.parts.end());
  EXPECT_EQ(input->difference(), 300'000);
  EXPECT_EQ(sum_of(gap.parts), 300'000);
  EXPECT_THAT(gap_paragraph(gap), HasSubstr("No node takes longer there"));
}

TEST(FrameworkGap, TruncatedPartListStillSumsToTheGap) {
  const auto fast = made_cell("pytorch", 1'000'000, {});
  const auto slow = made_cell("mxnet", 1'333'333, {.forward = 400'001, .relu = 90'003, .backward = 500'007});
  const FrameworkGap gap = gaps_of({&slow->record, &fast->record}).gaps.at(0);
  for (const size_t most : {size_t{0}, size_t{1}, size_t{2}, size_t{100}})
    EXPECT_EQ(sum_of(shortened(gap, most)), gap.gap()) << most;
  const Table table = gap_table(gap, 1);
  EXPECT_EQ(std::get<std::string>(table.rows.back()[0]), "all");
  EXPECT_EQ(std::get<std::string>(table.rows[1][0]), "3 others");
}

TEST(FrameworkGap, AMissingTraceSaysWhatToRun) {
  const auto fast = made_cell("pytorch", 1'000'000, {});
  const auto slow = made_cell("tensorflow", 1'160'000, {});
  slow->record.launches.pop_back();
  const FrameworkGaps found = gaps_of({&slow->record, &fast->record});
  EXPECT_TRUE(found.gaps.empty());
  ASSERT_EQ(found.missing.size(), 1u);
  EXPECT_EQ(found.missing[0].record, &slow->record);
  EXPECT_EQ(found.missing[0].reason, "no traced launch; measure it: tbd run net --batch 8 --passes clean,trace");
}

TEST(FrameworkGap, NamesUnverifiedWorkloadsWithoutComparingThem) {
  const auto fast = made_cell("pytorch", 1'000'000, {});
  const auto slow = made_cell("tensorflow", 1'160'000, {});
  slow->record.run.verified = std::nullopt;
  const FrameworkGaps found = gaps_of({&slow->record, &fast->record});
  EXPECT_TRUE(found.gaps.empty());
  ASSERT_EQ(found.missing.size(), 1u);
  EXPECT_THAT(found.missing[0].reason, HasSubstr("never checked"));
}

TEST(FrameworkGap, DoesNotPairDifferentMachinesBatchesOrNetworks) {
  const auto fast = made_cell("pytorch", 1'000'000, {});
  const auto slow = made_cell("tensorflow", 1'160'000, {});
  const auto none = [&] {
    const FrameworkGaps found = gaps_of({&slow->record, &fast->record});
    return found.gaps.empty() && found.missing.empty();
  };
  slow->record.run.workload.batch = 16;
  EXPECT_TRUE(none());
  slow->record.run.workload.batch = 8;
  EXPECT_FALSE(none());
  *slow->record.run.environment = {{"cpu", {{"model", "Another CPU"}}}};
  EXPECT_TRUE(none());
}

}  // namespace
}  // namespace tbd
