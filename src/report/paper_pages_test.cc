// The pages of the paper's tables, of then and now, and of the difference between frameworks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/sample_profile.h"
#include "analysis/sample_record.h"
#include "report/page.h"
#include "report/paper_figures.h"

namespace tbd {
namespace {

using sample::rival;
using testing::HasSubstr;

TEST(GapPage, DrawsABarThatAddsUpToTheDifference) {
  const auto fast = rival("pytorch", 1'000'000), slow = rival("mxnet", 1'250'000);
  const std::vector<Record> records = {fast->record, slow->record};
  const Page page = gap_page(report_content({records}).cells);
  ASSERT_EQ(page.charts.size(), 1u);
  double sum = 0;
  for (const ChartSeries& series : page.charts[0].series) sum += *series.y.at(0);
  EXPECT_NEAR(sum, 0.25, 1e-9);
  EXPECT_THAT(page.html, HasSubstr("mxnet takes 1.25 ms a step, pytorch 1.00 ms: 250 us more."));
  EXPECT_THAT(page.html, HasSubstr("residual 250 us (100 % of the difference)")) << "their traces are equal";
}

TEST(GapPage, IsEmptyWithoutRivalsAndSaysWhatIsMissing) {
  const auto fast = rival("pytorch", 1'000'000), slow = rival("mxnet", 1'250'000);
  const std::vector<Record> one = {fast->record};
  EXPECT_TRUE(gap_page(report_content({one}).cells).html.empty());
  slow->record.launches.pop_back();
  const std::vector<Record> records = {fast->record, slow->record};
  EXPECT_THAT(gap_page(report_content({records}).cells).html, HasSubstr("no traced launch; measure it: tbd run net"));
}

TEST(ThenPage, SaysThatDevicesDiffer) {
  const std::vector<Record> records = {sample_record()};
  const Page page = then_page(report_content({records}).cells);
  EXPECT_THAT(page.html, HasSubstr("a ratio is no ranking"));
  EXPECT_THAT(page.html, HasSubstr("unconfirmed"));
  EXPECT_EQ(page.tables.size(), 1u);
}

TEST(PaperTablesPage, HoldsTheTablesByNumber) {
  const std::vector<Record> records = {sample_record()};
  const Page page = paper_tables_page(report_content({records}).cells);
  for (const char* title : {"Table 1", "Table 2", "Table 4"}) EXPECT_THAT(page.html, HasSubstr(title));
  EXPECT_THAT(page.html, testing::Not(HasSubstr("Table 3"))) << "the records name no data set";
  EXPECT_THAT(page.html, HasSubstr("pass clean"));
}

TEST(PaperFigures, StagesAreNamesBeforeTheFirstDotAndHostileNamesStayText) {
  RunInfo run;
  run.ops = {{.node = "layer1.0.conv", .op = "Conv2d", .forward = {.flop_model = 10}, .backward = {.flop_model = 20}},
             {.node = "layer1.1.conv", .op = "Conv2d", .forward = {.flop_model = 10}, .backward = {.flop_model = 20}},
             {.node = "<b>", .op = "Linear", .forward = {.flop_model = 20}, .backward = {.flop_model = 20}}};
  const std::string svg = training_flow_figure(run);
  EXPECT_THAT(svg, HasSubstr(">layer1<"));
  EXPECT_THAT(svg, HasSubstr("20.0 %"));
  EXPECT_THAT(svg, HasSubstr("40.0 %"));
  EXPECT_THAT(svg, testing::Not(HasSubstr("<b>")));
  EXPECT_EQ(training_flow_figure({}), "");
}

TEST(PaperFigures, ManyStagesShareBoxes) {
  RunInfo run;
  for (int i = 0; i < 100; ++i)
    run.ops.push_back({.node = cat("n", i, ".x"), .op = "Linear", .forward = {.flop_model = 1}, .backward = {}});
  const std::string svg = training_flow_figure(run);
  EXPECT_THAT(svg, HasSubstr("n0 – n8"));
  EXPECT_THAT(svg, HasSubstr("n99"));
}

}  // namespace
}  // namespace tbd
