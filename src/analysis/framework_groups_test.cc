#include "analysis/framework_groups.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "analysis/sample_record.h"

namespace tbd {
namespace {

using testing::HasSubstr;

CellResult row(const std::string& framework, std::optional<bool> verified, const SampleOptions& options = {}) {
  Record record = sample_record(options);
  MeasuredWorkload& w = record.run.workload;
  w.framework = framework;
  w.mode = framework == "pytorch" ? Mode::kEager : Mode::kGraph;
  w.layout = framework == "tensorflow" ? ImageLayout::kNhwc : ImageLayout::kNchw;
  record.run.verified = verified;
  return summarize(record);
}

TEST(FrameworkGroups, RowsThatPassedAreComparedToTheReference) {
  const std::vector<CellResult> rows = {row("mxnet", true, {.step_seconds = 0.5}), row("pytorch", true)};
  const std::vector<FrameworkGroup> groups = framework_groups(rows);
  ASSERT_EQ(groups.size(), 1);
  ASSERT_EQ(groups[0].compared.size(), 2);
  EXPECT_EQ(groups[0].compared[0], &rows[1]);
  const Table table = comparison_table(groups);
  const auto ratio = std::ranges::find(table.columns, "ratio", &Column::key) - table.columns.begin();
  EXPECT_NEAR(std::get<double>(table.rows[1][static_cast<size_t>(ratio)]), 0.5, 0.005);
  EXPECT_TRUE(apart_table(groups).rows.empty());
  EXPECT_THAT(mode_sentence(groups), HasSubstr("Modes: mxnet graph, pytorch eager. PyTorch's rows are eager"));
}

TEST(FrameworkGroups, RowsThatDidNotPassStandApartWithTheReason) {
  const std::vector<CellResult> rows = {row("pytorch", true), row("tensorflow", false), row("mxnet", std::nullopt)};
  const std::vector<FrameworkGroup> groups = framework_groups(rows);
  ASSERT_EQ(groups.size(), 1);
  EXPECT_EQ(groups[0].compared.size(), 1);
  ASSERT_EQ(groups[0].apart.size(), 2);
  EXPECT_THAT(groups[0].apart[0].reason, HasSubstr("does not train the same network"));
  EXPECT_THAT(groups[0].apart[1].reason, HasSubstr("never checked"));
  EXPECT_THAT(print(apart_table(groups), Format::text), HasSubstr("tensorflow 2.11.0"));
}

TEST(FrameworkGroups, FormNoGroupFromDifferentWorkloadsOrOneFramework) {
  const std::vector<CellResult> rows = {row("pytorch", true),
                                        row("pytorch", true, {.input_mode = InputMode::kPipeline}),
                                        row("mxnet", true, {.precision = Precision::kBf16})};
  EXPECT_TRUE(framework_groups(rows).empty());
}

TEST(FrameworkGroups, DoNotCompareUnsteadyOrSmokeRows) {
  const std::vector<CellResult> rows = {row("pytorch", true, {.effort = "smoke"}),
                                        row("mxnet", true, {.effort = "smoke"})};
  const std::vector<FrameworkGroup> groups = framework_groups(rows);
  ASSERT_EQ(groups.size(), 1);
  EXPECT_TRUE(groups[0].compared.empty());
  EXPECT_THAT(groups[0].apart[0].reason, HasSubstr("smoke"));
}

}  // namespace
}  // namespace tbd
