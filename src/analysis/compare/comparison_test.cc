#include "analysis/compare/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/compare/comparison_tables.h"
#include "analysis/sample_record.h"
#include "base/error.h"

namespace tbd {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

MeasuredRow measured(std::vector<double> launches = {100, 101, 99, 100.5, 99.5}) {
  MeasuredRow row = measured_row(sample_record({.launches = 3}));
  row.total = launches;
  row.undisturbed.clear();
  row.disturbance.clear();
  row.counters = {{"flops", {1'000}}, {"allocations", {7, 7}}};
  return row;
}

MeasuredRow times(MeasuredRow row, double factor) {
  for (double& rate : row.total) rate *= factor;
  return row;
}

RowComparison compared(const std::vector<MeasuredRow>& a, const std::vector<MeasuredRow>& b,
                       const CompareOptions& options = {}) {
  return compare_rows(a, b, options);
}

TEST(CompareRows, SaysWhetherBIsFasterThanA) {
  const std::vector<MeasuredRow> a = {measured()};
  for (const auto& [factor, verdict] : {std::pair(1.1, Verdict::faster), std::pair(0.9, Verdict::slower),
                                        std::pair(1.0, Verdict::same), std::pair(1.02, Verdict::undecided)}) {
    const std::vector<MeasuredRow> b = {times(measured(), factor)};
    const RowComparison comparison = compared(a, b);
    ASSERT_EQ(comparison.pairs.size(), 1u);
    EXPECT_EQ(comparison.pairs[0].verdict, verdict) << factor;
    EXPECT_NEAR(comparison.pairs[0].result->ratio.value, factor, 1e-12);
    EXPECT_EQ(comparison.pairs[0].reason.empty(), verdict != Verdict::undecided);
    EXPECT_GE(comparison.pairs[0].launches_to_find.value(), 3);
  }
}

TEST(CompareRows, TakesTheUndisturbedLevelWhereBothHaveOne) {
  std::vector<MeasuredRow> a = {measured()}, b = {measured()};
  a[0].undisturbed = {200, 201, 199};
  EXPECT_NEAR(compared(a, b).pairs[0].result->ratio.value, 1, 1e-12) << "B has none: totals";
  b[0].undisturbed = {300, 301, 299};
  EXPECT_NEAR(compared(a, b).pairs[0].result->ratio.value, 1.5, 1e-2);
}

TEST(CompareRows, ADifferenceOfTheGpusClockIsNone) {
  std::vector<MeasuredRow> a = {measured()}, b = {times(measured(), 1.1)};
  a[0].clocks_mhz.assign(5, 1500);
  b[0].clocks_mhz.assign(5, 1650);
  EXPECT_EQ(compared(a, b).pairs[0].verdict, Verdict::undecided);
  EXPECT_THAT(compared(a, b).pairs[0].reason, HasSubstr("work per clock cycle"));
  b[0].clocks_mhz.assign(5, 1500);
  EXPECT_EQ(compared(a, b).pairs[0].verdict, Verdict::faster);
  const std::vector<MeasuredRow> again = rows_of_baseline(baseline_text(b), "kept");
  EXPECT_EQ(again[0].clocks_mhz, b[0].clocks_mhz);
}

TEST(CompareRows, LeavesADisturbedRowUndecidedAndShowsItsRatio) {
  const std::vector<MeasuredRow> a = {measured()};
  std::vector<MeasuredRow> b = {times(measured(), 2)};
  b[0].disturbance = "other work 60 %";
  const RowComparison comparison = compared(a, b);
  EXPECT_EQ(comparison.pairs[0].verdict, Verdict::undecided);
  EXPECT_THAT(comparison.pairs[0].reason, HasSubstr("other work 60 %"));
  EXPECT_NEAR(comparison.pairs[0].result->ratio.value, 2, 1e-12);
}

TEST(CompareRows, NeedsThreeLaunches) {
  const std::vector<MeasuredRow> a = {measured({100})}, b = {measured({200, 201, 202})};
  const RowPair pair = compared(a, b).pairs[0];
  EXPECT_EQ(pair.verdict, Verdict::undecided);
  EXPECT_THAT(pair.reason, HasSubstr("one launch"));
}

TEST(CompareRows, JoinsWhatMayChangeUnderAProgramAndSaysSo) {
  const std::vector<MeasuredRow> a = {measured()};
  std::vector<MeasuredRow> b = {measured()};
  b[0].workload.framework_version = "2.15.0";
  b[0].workload.lowered_hash = "l2";
  b[0].settings["software.kernel"] = "7.0";
  b[0].settings["variables.OMP_SCHEDULE"] = "static";
  const RowPair pair = compared(a, b).pairs.at(0);
  EXPECT_THAT(
      pair.differences,
      ElementsAre(Difference{"lowered_hash", "l1", "l2"}, Difference{"framework_version", "2.11.0", "2.15.0"},
                  Difference{"software.kernel", "6.1", "7.0"}, Difference{"variables.OMP_SCHEDULE", "–", "static"}));
}

TEST(CompareRows, RefusesUnlikeWorkloadsWithWhatDiffers) {
  const std::vector<MeasuredRow> a = {measured()};
  std::vector<MeasuredRow> b = {measured()};
  b[0].workload.batch = 16;
  RowComparison comparison = compared(a, b);
  EXPECT_THAT(comparison.pairs, IsEmpty());
  ASSERT_EQ(comparison.unpaired.size(), 2u);
  EXPECT_THAT(comparison.unpaired[0].reason, HasSubstr("batch 8 here, 16 there"));
  b[0] = measured();
  b[0].machine = "Other CPU, 64 cores";
  comparison = compared(a, b);
  ASSERT_EQ(comparison.unpaired.size(), 2u);
  EXPECT_THAT(comparison.unpaired[0].reason, HasSubstr("Other CPU"));
  EXPECT_EQ(compared(a, b, {.across = {"machine"}}).pairs.size(), 1u);
  b[0] = measured();
  b[0].workload.model = "bert";
  EXPECT_THAT(compared(a, b).unpaired[0].reason, HasSubstr("B has no resnet50"));
}

TEST(CompareRows, JoinsAcrossTheFieldsThatAreNamed) {
  const std::vector<MeasuredRow> a = {measured()};
  std::vector<MeasuredRow> b = {times(measured(), 1.2)};
  b[0].workload.mode = Mode::kGraph;
  EXPECT_THAT(compared(a, b).pairs, IsEmpty());
  EXPECT_EQ(compared(a, b, {.across = {"mode"}}).pairs.at(0).verdict, Verdict::faster);
  b[0].workload.framework = "mxnet";
  b[0].workload.layout = ImageLayout();
  EXPECT_EQ(compared(a, b, {.across = {"framework"}}).pairs.size(), 1u);
  EXPECT_THROW(compared(a, b, {.across = {"mod"}}), Error);
}

TEST(CompareRows, GivesEachRowItsOwnPartnerFirst) {
  std::vector<MeasuredRow> a = {measured(), measured()}, b;
  a[0].workload.mode = Mode::kGraph;
  b = {a[1], a[0]};
  const RowComparison comparison = compared(a, b, {.across = {"mode"}});
  ASSERT_EQ(comparison.pairs.size(), 2u);
  for (const RowPair& pair : comparison.pairs) EXPECT_EQ(pair.a->workload.mode, pair.b->workload.mode);
}

TEST(CompareRows, HoldsFalseDiscoveriesOverManyRows) {
  // One row whose p-value is a little below 5 %, among nineteen that are equal.
  std::vector<MeasuredRow> a, b;
  for (int64_t i = 0; i < 20; ++i) {
    a.push_back(measured());
    a.back().workload.batch = i + 1;
    b.push_back(i == 0 ? times(measured({100, 102, 98, 101, 99.5}), 1.0415)
                       : times(measured(), 1 + 1e-4 * static_cast<double>(i)));
    b.back().workload.batch = i + 1;
  }
  const std::vector<MeasuredRow> first_a(a.begin(), a.begin() + 1), first_b(b.begin(), b.begin() + 1);
  ASSERT_EQ(compared(first_a, first_b).pairs[0].verdict, Verdict::faster);
  const RowComparison all = compared(a, b);
  EXPECT_EQ(all.pairs[0].verdict, Verdict::undecided);
  EXPECT_THAT(all.pairs[0].reason, HasSubstr("among 20 rows"));
  EXPECT_EQ(all.pairs[1].verdict, Verdict::same);
}

TEST(CompareRows, SaysWhichSideHasNoNumber) {
  const std::vector<MeasuredRow> a = {measured()};
  std::vector<MeasuredRow> b = {measured({})};
  b[0].withheld = "nonfinite: the loss of step 3 is not finite";
  const RowComparison broken = compared(a, b);
  EXPECT_TRUE(broken.pairs[0].broken);
  EXPECT_THAT(broken.pairs[0].reason, AllOf(HasSubstr("B has no number"), HasSubstr("step 3")));
  EXPECT_TRUE(any_has(broken, "failed"));
  EXPECT_FALSE(any_has(broken, "undecided"));
  const RowComparison mended = compared(b, a);
  EXPECT_FALSE(any_has(mended, "failed"));
  EXPECT_THAT(mended.pairs[0].reason, HasSubstr("A has no number"));
}

TEST(CompareRows, NamesOutcomesThatMayFail) {
  const std::vector<MeasuredRow> a = {measured()};
  std::vector<MeasuredRow> b = {times(measured(), 0.9)};
  b[0].counters = {{"flops", {1'001}}, {"allocations", {7, 8}}};
  const RowComparison comparison = compared(a, b);
  EXPECT_TRUE(any_has(comparison, "slower"));
  EXPECT_TRUE(any_has(comparison, "counters"));
  EXPECT_FALSE(any_has(comparison, "faster"));
  EXPECT_FALSE(any_has(comparison, "missing"));
  EXPECT_TRUE(any_has(compared(a, {}), "missing"));
  EXPECT_THROW(any_has(comparison, "slow"), Error);
}

TEST(ComparisonTables, SayCountersAndDifferencesOnce) {
  std::vector<MeasuredRow> a = {measured(), measured()}, b = {times(measured(), 0.9), times(measured(), 0.9)};
  a[1].workload.batch = b[1].workload.batch = 16;
  for (MeasuredRow& each : b) {
    each.tool = "tbd 0.2.0";
    each.counters = {{"flops", {1'001}}, {"allocations", {7, 8}}};
  }
  const RowComparison comparison = compared(a, b);
  EXPECT_EQ(verdict_table(comparison).rows.size(), 2u);
  EXPECT_THAT(to_text(counter_table(comparison)), AllOf(HasSubstr("1,001"), HasSubstr("changed"), HasSubstr("varies")));
  const Table differences = difference_table(comparison);
  ASSERT_EQ(differences.rows.size(), 1u);
  EXPECT_EQ(differences.rows[0][3], TableCell(int64_t{2}));
  EXPECT_THAT(comparison_sentences(comparison),
              ElementsAre(HasSubstr("2 workloads are slower in B than in A"), HasSubstr("Counters changed in 2 of 2")));
}

TEST(ComparisonTables, JUnitFailsTheCasesThatWereNamed) {
  std::vector<MeasuredRow> a = {measured(), measured(), measured()}, b = {times(measured(), 0.9), measured()};
  a[1].workload.batch = b[1].workload.batch = 16;
  a[2].workload.batch = 32;
  a[0].workload.config = "a<b&\"c\"";
  b[0].workload.config = a[0].workload.config;
  const RowComparison comparison = compared(a, b);
  const std::string strict = junit_xml(comparison, std::vector<std::string>{"slower", "missing"});
  EXPECT_THAT(strict, AllOf(HasSubstr("tests=\"3\" failures=\"2\" skipped=\"0\""), HasSubstr("type=\"slower\""),
                            HasSubstr("type=\"missing\""), Not(HasSubstr("a<b"))));
  EXPECT_THAT(junit_xml(comparison, {}), HasSubstr("failures=\"0\" skipped=\"1\""));
}

}  // namespace
}  // namespace tbd
