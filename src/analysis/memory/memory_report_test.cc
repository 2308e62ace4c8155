#include "analysis/memory/memory_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/sample_profile.h"
#include "base/json.h"

namespace tbd {
namespace {

class MemoryReportOf : public testing::Test {
 protected:
  void SetUp() override {
    record_.folder = folder_.path();
    sample::add_memory(record_);
  }
  TemporaryFolder folder_;
  Record record_;
};

TEST_F(MemoryReportOf, AddsUpAtThePeak) {
  const MemoryReport report = *memory_report(record_);
  EXPECT_EQ(sum(report.study.peak.requested), 180);
  EXPECT_EQ(report.study.held_peak, *report.allocator_peak);
  EXPECT_EQ(report.difference(), 0);
  const Table table = memory_class_table(report);
  int64_t all = 0;
  for (size_t i = 0; i + 1 < table.rows.size(); ++i) all += std::get<int64_t>(table.rows[i][2]);
  EXPECT_EQ(all, std::get<int64_t>(table.rows.back()[2]));
  EXPECT_THAT(table.notes[1], testing::HasSubstr("exact"));
}

TEST_F(MemoryReportOf, SaysWhatOfResidentMemoryIsUnexplained) {
  MemoryReport report = *memory_report(record_);
  EXPECT_EQ(report.unexplained, 9 << 20);
  EXPECT_EQ(report.closed(), true);
  record_.launches[0].info.host["memory"]["resident_bytes"] = 300 << 20;
  report = *memory_report(record_);
  EXPECT_EQ(report.closed(), false);
  EXPECT_THAT(memory_closure_table(report).notes[0], testing::HasSubstr("Open"));
  record_.launches[0].info.host["memory"].erase("file_bytes");
  EXPECT_FALSE(memory_report(record_)->unexplained) << "unknown is not zero";
}

TEST_F(MemoryReportOf, NamesNodesAndPhases) {
  const MemoryReport report = *memory_report(record_);
  const Table largest = largest_tensors_table(report);
  EXPECT_EQ(std::get<std::string>(largest.rows[1][2]), "conv");
  const Json json = to_json(report);
  EXPECT_EQ(json["peak"]["classes"], (Json{{"weight", 100}, {"feature_map", 50}, {"workspace", 30}}));
  EXPECT_EQ(json["over_step"][0]["phase"], "forward");
  EXPECT_EQ(json["over_step"][0]["time_ns"], 10);
}

TEST_F(MemoryReportOf, IsAbsentWithoutItsPass) {
  record_.launches[0].info.pass = Pass::kClean;
  EXPECT_FALSE(memory_report(record_));
}

}  // namespace
}  // namespace tbd
