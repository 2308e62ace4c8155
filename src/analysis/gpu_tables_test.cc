#include "analysis/gpu_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/sample_gpu.h"

namespace tbd {
namespace {

using testing::HasSubstr;

const TableCell& cell_in(const Table& table, std::string_view column, size_t row = 0) {
  const auto at = std::ranges::find(table.columns, column, &Column::key) - table.columns.begin();
  return table.rows.at(row).at(static_cast<size_t>(at));
}
double share_in(const Table& table, std::string_view column) { return std::get<double>(cell_in(table, column)); }

TEST(GpuTables, SayHowAWorkloadUsesItsGpu) {
  const auto sample = sample::made_on_gpu(Precision::kBf16);
  const CellResult result = summarize(sample->record);
  const Profile profile = *profile_of(sample->record);
  const GpuRow row{"net", result, &profile};
  const Table table = gpu_table(std::span(&row, 1));
  EXPECT_DOUBLE_EQ(share_in(table, "gpu_utilization"), 0.8);
  EXPECT_DOUBLE_EQ(share_in(table, "compute_utilization"), 0.65);
  EXPECT_NEAR(share_in(table, "tensor_active"), 600'000 / (8 * 1.3e6), 1e-12);
  EXPECT_NEAR(share_in(table, "vector_active"), 2'000 / 1.3e6, 1e-12);
  EXPECT_DOUBLE_EQ(share_in(table, "gpu_memory_bytes"), 3.2e9);
  EXPECT_DOUBLE_EQ(share_in(table, "gpu_power"), 60);
  EXPECT_EQ(table.notes.size(), 1U);
}

TEST(GpuTables, LeaveOutWhatNoPassMeasured) {
  const auto sample = sample::made_on_gpu();
  const CellResult result = summarize(sample->record);
  const GpuRow row{"net", result};
  const Table table = gpu_table(std::span(&row, 1));
  EXPECT_EQ(cell_in(table, "compute_utilization"), TableCell());
  EXPECT_EQ(cell_in(table, "tensor_active"), TableCell());
  EXPECT_THAT(table.notes[1], HasSubstr("--passes clean,trace"));
  EXPECT_TRUE(gpu_memory_table(std::span(&row, 1)).rows.empty());
}

TEST(GpuTables, LeaveOutWhatDidNotRun) {
  const auto sample = sample::made_on_gpu();
  sample->record.launches.clear();
  const CellResult result = summarize(sample->record);
  const GpuRow row{"net", result};
  EXPECT_TRUE(gpu_table(std::span(&row, 1)).rows.empty());
}

TEST(GpuTables, SplitDeviceMemoryAsThePaperDoes) {
  const auto sample = sample::made_on_gpu();
  sample::add_gpu_memory(sample->record);
  const CellResult result = summarize(sample->record);
  const MemoryReport memory = *memory_report(sample->record);
  const GpuRow rows[] = {{"untold", result}, {"net", result, nullptr, &memory}};
  const Table table = gpu_memory_table(rows);
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(cell_in(table, "weights_bytes"), TableCell(int64_t{100}));
  EXPECT_EQ(cell_in(table, "feature_maps_bytes"), TableCell(int64_t{50}));
  EXPECT_EQ(cell_in(table, "workspace_bytes"), TableCell(int64_t{30}));
  EXPECT_EQ(cell_in(table, "peak_bytes"), TableCell(int64_t{180}));
  EXPECT_EQ(cell_in(table, "process_bytes"), TableCell(int64_t{696} << 20));
  EXPECT_EQ(table.columns.size(), 6U) << "classes that nobody has are left out";
}

}  // namespace
}  // namespace tbd
