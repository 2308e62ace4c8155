#include "analysis/then/paper_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/sample_profile.h"
#include "analysis/sample_record.h"
#include "analysis/then/prior_work.h"

namespace tbd {
namespace {

using testing::HasSubstr;

std::vector<const Record*> pointers(const std::vector<Record>& records) {
  std::vector<const Record*> out;
  for (const Record& record : records) out.push_back(&record);
  return out;
}

std::vector<Record> two_frameworks() {
  std::vector<Record> records = {sample_record(), sample_record({.precision = Precision::kBf16})};
  for (Record& record : records) record.run.card = {"ResNet-50 v1.5", "image classification", "ImageNet-1k", 50};
  records[1].run.workload.framework = "mxnet";
  return records;
}

TEST(PaperTables, BenchmarksAreOneRowANetwork) {
  const std::vector<Record> records = two_frameworks();
  const Table table = benchmarks_table(pointers(records));
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_THAT(to_csv(table), HasSubstr("image classification,ResNet-50 v1.5,default,25557032,118013952,50,conv2d,1,"
                                       "\"mxnet, pytorch\",ImageNet-1k,images"));
}

TEST(PaperTables, TheDominantOpHasMostFlops) {
  RunInfo run;
  run.ops = {{.node = "a", .op = "Conv2d", .forward = {.flop_model = 30}, .backward = {.flop_model = 30}},
             {.node = "b", .op = "Linear", .forward = {.flop_model = 40}, .backward = {}}};
  EXPECT_EQ(dominant_op(run).op, "Conv2d");
  EXPECT_DOUBLE_EQ(dominant_op(run).share, 0.6);
  EXPECT_EQ(dominant_op({}).op, "");
}

TEST(PaperTables, DataSetsAndMachinesAreNamedOnce) {
  const std::vector<Record> records = two_frameworks();
  const Table data = datasets_table(pointers(records));
  ASSERT_EQ(data.rows.size(), 1u);
  EXPECT_THAT(to_csv(data), HasSubstr("ImageNet-1k,\"1.28 million images"));
  const Table hardware = hardware_table(pointers(records));
  ASSERT_EQ(hardware.rows.size(), 1u);
  EXPECT_THAT(to_csv(hardware), HasSubstr("cpu,2,1.2e+12,1e+12,,,2.1e+10"));
}

TEST(PaperTables, LongestOpsComeFromTheBatchNearest32) {
  const auto made = sample::made();
  Record far = made->record, near = made->record;
  far.run.workload.framework = near.run.workload.framework = "pytorch";
  far.run.workload.model = near.run.workload.model = "resnet50";
  far.run.workload.batch = 2;
  near.run.workload.batch = 16;
  const std::vector<Record> records = {far, near};
  const std::vector<Table> tables = longest_kernel_tables(pointers(records));
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_THAT(tables[0].title, HasSubstr("pytorch, resnet50, batch 16"));
  EXPECT_FALSE(tables[0].rows.empty());
}

TEST(PaperTables, PriorWorkNamesASourceInEveryRow) {
  for (const auto& row : prior_work_table().rows)
    for (const TableCell& cell : row) EXPECT_FALSE(std::get<std::string>(cell).empty());
}

}  // namespace
}  // namespace tbd
