#include "analysis/memory/memory_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/sample_gpu.h"
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
  EXPECT_EQ(report.closure.unexplained, 9 << 20);
  EXPECT_EQ(report.closure.closed(), true);
  Json& memory = record_.launches[0].info.host["memory"];
  memory["resident_bytes"] = 300 << 20;
  report = *memory_report(record_);
  EXPECT_EQ(report.closure.closed(), false);
  EXPECT_THAT(memory_closure_table(report).notes[0], testing::HasSubstr("Open"));
  memory["mkl_bytes"] = 150 << 20;
  memory["made_code_bytes"] = 50 << 20;
  EXPECT_EQ(memory_report(record_)->closure.unexplained, *report.closure.unexplained - (200 << 20));
  memory.erase("file_bytes");
  EXPECT_FALSE(memory_report(record_)->closure.unexplained) << "unknown is not zero";
}

// 100 bytes asked for, 112 held and 256 MiB reserved at the end.
class MemoryOfAGpu : public testing::Test {
 protected:
  void SetUp() override {
    record_.folder = folder_.path();
    record_.run.workload.device = Device("cuda:0");
    sample::add_gpu_memory(record_);
  }
  void say(int64_t process_bytes) { record_.launches[0].info.host["memory"]["device_bytes"] = process_bytes; }
  TemporaryFolder folder_;
  Record record_;
};

TEST_F(MemoryOfAGpu, ClosesToWhatTheDriverSaysOfTheProcess) {
  const MemoryReport report = *memory_report(record_);
  EXPECT_TRUE(report.closure.of_device);
  EXPECT_EQ(report.closure.total, int64_t{696} << 20);
  EXPECT_EQ(report.closure.unexplained, 40 << 20) << "what came after the first step";
  EXPECT_EQ(report.closure.closed(), true);
  int64_t sum = *report.closure.unexplained;
  for (const MemoryPart& part : report.closure.parts) sum += *part.bytes;
  EXPECT_EQ(sum, report.closure.total);
  const Table table = memory_closure_table(report);
  EXPECT_THAT(table.notes[0], testing::HasSubstr("64 MiB of the process's device memory"));
  for (const auto& row : table.rows) EXPECT_NE(std::get<std::string>(row[1]), "tracked blocks, pages touched");
  EXPECT_EQ(to_json(report)["device_bytes"], int64_t{696} << 20);
  EXPECT_EQ(to_json(report)["unexplained_bytes"], 40 << 20);
}

TEST_F(MemoryOfAGpu, WorkspacesOfLibrariesAreAPartOfTheirOwn) {
  MemoryLog log = sample::memory_log();
  log.blocks[0].kind = MemoryClass::library_workspace;
  write_memory_log(record_.folder / "launches/memory-1/memory.safetensors", log);
  const MemoryClosure closure = memory_report(record_)->closure;
  EXPECT_EQ(closure.parts[0].bytes, 0);
  EXPECT_EQ(closure.parts[1].what, "workspaces of libraries");
  EXPECT_EQ(closure.parts[1].bytes, 100);
  EXPECT_EQ(closure.unexplained, 40 << 20);
}

TEST_F(MemoryOfAGpu, IsOpenAbove64MiB) {
  say(int64_t{721} << 20);
  EXPECT_EQ(memory_report(record_)->closure.closed(), false);
  EXPECT_THAT(memory_closure_table(*memory_report(record_)).notes[0], testing::HasSubstr("Open"));
}

TEST_F(MemoryOfAGpu, WithoutTheDriversFigureNothingIsClaimed) {
  Json& memory = record_.launches[0].info.host["memory"];
  for (const char* figure : {"device_bytes", "device_reserved_bytes", "device_context_bytes", "device_library_bytes"}) {
    const Json known = memory;
    memory.erase(figure);
    const MemoryReport report = *memory_report(record_);
    EXPECT_EQ(report.closure.total.has_value(), figure != std::string_view("device_bytes")) << figure;
    EXPECT_FALSE(report.closure.unexplained) << figure;
    EXPECT_FALSE(report.closure.closed()) << figure;
    EXPECT_THAT(memory_closure_table(report).notes[0], testing::HasSubstr("the worker did not say")) << figure;
    memory = known;
  }
}

// What a worker that does not ask the driver leaves to the samples: a figure, and nothing to be closed.
TEST_F(MemoryOfAGpu, IsTheMostThatWasSampledWhereTheWorkerDidNotAsk) {
  record_.launches[0].info.host["memory"].erase("device_bytes");
  Json gpu = sample::gpu_use_json();
  gpu["use"]["process_memory_bytes"] = {{"mean", 500}, {"peak", 600}};
  record_.launches[0].info.gpu.emplace(gpu);
  const MemoryClosure closure = memory_report(record_)->closure;
  EXPECT_EQ(closure.total, 600);
  EXPECT_FALSE(closure.unexplained);
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
