#include "analysis/memory/memory_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"

namespace tbd {
namespace {

// A weight of 100 bytes in 112, a feature map of 50 in step 1, a workspace of 30 beside it.
MemoryLog log_of_one_step() {
  return {.blocks = {{100, 112, 0, kNeverFreed, -1, MemoryClass::weight, MemoryPhase::setup},
                     {50, 64, 1, 4, 0, MemoryClass::feature_map, MemoryPhase::forward},
                     {30, 32, 2, 3, 1, MemoryClass::workspace, MemoryPhase::forward}},
          .event_ns = {5, 20, 30, 40, 50},
          .marks = {{0, 4, 0, MemoryPhase::setup}, {1, 10, 1, MemoryPhase::forward}, {4, 45, 1, MemoryPhase::update}},
          .nodes = {"conv", "norm"}};
}

class MemoryReportOf : public testing::Test {
 protected:
  void SetUp() override {
    record_.folder = folder_.path();
    Launch launch;
    launch.info.pass = "memory";
    launch.info.allocator_peak_bytes = 208;
    launch.info.host["memory"] = {{"allocator_live_bytes", 112},  {"ledger_held_bytes", 112},
                                  {"ledger_resident_bytes", 112}, {"runtime_bytes", 50 << 20},
                                  {"file_bytes", 40 << 20},       {"heap_free_bytes", 1 << 20},
                                  {"tool_bytes", 1000},           {"resident_bytes", (100 << 20) + 1112}};
    record_.launches.push_back(launch);
    std::filesystem::create_directories(record_.folder / "launches/memory-1");
    write_memory_log(record_.folder / "launches/memory-1/memory.safetensors", log_of_one_step());
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
  record_.launches[0].info.pass = "clean";
  EXPECT_FALSE(memory_report(record_));
}

}  // namespace
}  // namespace tbd
