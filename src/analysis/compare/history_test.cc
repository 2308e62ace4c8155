#include "analysis/compare/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/sample_record.h"
#include "base/text.h"

namespace tbd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Records of days 1, 2, ... with these rates.
std::vector<MeasuredRow> days(const std::vector<double>& rates) {
  std::vector<MeasuredRow> rows;
  for (const double rate : rates) {
    MeasuredRow row = measured_row(sample_record({.launches = 3}));
    row.total = {rate, rate * 1.002, rate * 0.998};
    row.created = cat("2026-02-", rows.size() + 10, "T00:00:00Z");
    row.record = cat("results/day-", rows.size());
    rows.push_back(std::move(row));
  }
  return rows;
}

TEST(Histories, NameTheFirstBadRecordAndWhatDiffersThere) {
  std::vector<MeasuredRow> rows = days({100, 101, 99, 100, 100.5, 90, 90.5, 89.5, 90});
  for (size_t i = 5; i < rows.size(); ++i) rows[i].workload.framework_version = "2.15.0";
  std::swap(rows[0], rows[7]);  // in whatever order they are given
  const std::vector<History> found = histories(rows);
  ASSERT_THAT(found, SizeIs(1));
  ASSERT_THAT(found[0].changes, SizeIs(1));
  EXPECT_EQ(found[0].changes[0].at, 5u);
  EXPECT_NEAR(found[0].changes[0].ratio, 0.9, 0.01);
  EXPECT_THAT(history_sentences(found),
              ElementsAre(testing::AllOf(HasSubstr("slower since 2026-02-15"), HasSubstr("results/day-5"))));
  EXPECT_THAT(to_text(change_table(found)), HasSubstr("framework_version 2.11.0 to 2.15.0"));
  EXPECT_THAT(history_table(found).rows, SizeIs(9));
}

TEST(Histories, KeepWorkloadsAndMachinesApart) {
  std::vector<MeasuredRow> rows = days({100, 100, 50, 50});
  rows[2].machine = rows[3].machine = "Another CPU";
  const std::vector<History> found = histories(rows);
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_THAT(found[0].changes, IsEmpty());
  EXPECT_THAT(history_sentences(found), ElementsAre(HasSubstr("fewer than 4 records")));
}

TEST(Histories, LeaveOutRecordsWithoutANumber) {
  std::vector<MeasuredRow> rows = days({100, 101, 99, 100, 100.5});
  rows[2].total.clear();
  rows[2].withheld = "oom: no memory";
  const std::vector<History> found = histories(rows);
  EXPECT_THAT(found[0].rows, SizeIs(4));
  EXPECT_THAT(history_sentences(found), ElementsAre(HasSubstr("without a change")));
}

}  // namespace
}  // namespace tbd
