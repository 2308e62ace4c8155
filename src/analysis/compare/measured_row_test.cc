#include "analysis/compare/measured_row.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/sample_record.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

namespace tbd {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

TEST(MeasuredRows, HaveAThroughputForEachLaunch) {
  const MeasuredRow row = measured_row(sample_record({.launches = 3}));
  EXPECT_THAT(row.total, SizeIs(3));
  EXPECT_NEAR(row.total[0], 32, 0.5);
  EXPECT_EQ(row.settings.at("software.kernel"), "6.1");
  EXPECT_FALSE(row.settings.contains("cpu.model"));
  EXPECT_THAT(row.machine, HasSubstr("Sample CPU"));
  EXPECT_THAT(row.withheld, IsEmpty());
}

TEST(MeasuredRows, SayWhyThereIsNoThroughput) {
  Record record = sample_record();
  record.launches.clear();
  record.run.outcome = {OutcomeKind::oom, "it ran out of memory", ""};
  const MeasuredRow row = measured_row(record);
  EXPECT_THAT(row.total, IsEmpty());
  EXPECT_THAT(row.withheld, HasSubstr("oom"));
}

TEST(MeasuredRows, TakeTheBestRecordOfAWorkloadAndCountersOfAll) {
  std::vector<Record> records = {sample_record({.launches = 1}), sample_record({.launches = 3})};
  const std::vector<MeasuredRow> rows = measured_rows(records);
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_THAT(rows[0].total, SizeIs(3));
  EXPECT_EQ(rows[0].counters.at(0).name, "parameters");
  records[0].run.workload.batch = 16;
  EXPECT_THAT(measured_rows(records), SizeIs(2));
}

TEST(Baselines, ReadBackAsTheyWereWritten) {
  std::vector<MeasuredRow> rows = measured_rows(std::vector<Record>{sample_record({.launches = 3})});
  rows[0].workload.repro = "tbd run /home/someone/net.json";
  rows[0].undisturbed = {31, 32, 33};
  const std::string text = baseline_text(rows);
  EXPECT_THAT(text, Not(HasSubstr("someone")));
  EXPECT_THAT(text, Not(HasSubstr("results/")));
  const std::vector<MeasuredRow> read = rows_of_baseline(text, "base.json");
  ASSERT_THAT(read, SizeIs(1));
  EXPECT_EQ(read[0].total, rows[0].total);
  EXPECT_EQ(read[0].undisturbed, rows[0].undisturbed);
  EXPECT_EQ(read[0].settings, rows[0].settings);
  EXPECT_EQ(read[0].counters, rows[0].counters);
  EXPECT_EQ(read[0].label(), rows[0].label());
  EXPECT_EQ(read[0].record, "base.json");
  EXPECT_EQ(baseline_text(read), text);
}

std::string baseline_refusal(const std::string& text) {
  try {
    rows_of_baseline(text, "base.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Baselines, RefuseWhatTheyDoNotWrite) {
  const std::string text = baseline_text(measured_rows(std::vector<Record>{sample_record({.launches = 3})}));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    return baseline_refusal(changed);
  };
  EXPECT_THAT(with("\"version\": 1", "\"version\": 2"), testing::AllOf(HasSubstr("base.json"), HasSubstr("version 2")));
  EXPECT_THAT(with("\"total\":[", "\"total\":[\"nan\","), HasSubstr("positive"));
  EXPECT_THAT(with("\"total\":[", "\"total\":[-1,"), HasSubstr("positive"));
  EXPECT_THAT(with("\"workload\":{", "\"workload\":7,\"x\":{"), HasSubstr("base.json"));
  EXPECT_THAT(baseline_refusal("{}"), HasSubstr("version"));
  EXPECT_THAT(baseline_refusal("no json"), HasSubstr("base.json"));
}

}  // namespace
}  // namespace tbd
