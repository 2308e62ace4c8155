#include "analysis/then/then_and_now.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/sample_record.h"

namespace tbd {
namespace {

using testing::HasSubstr;

std::vector<ThenNow> values_of(const std::vector<Record>& records, std::vector<CellResult>& results) {
  results.clear();
  for (const Record& record : records) results.push_back(summarize(record));
  std::vector<ThenCell> cells;
  for (size_t i = 0; i < records.size(); ++i) cells.push_back({&records[i], &results[i]});
  return then_and_now(cells);
}

const ThenNow& find(const std::vector<ThenNow>& values, std::string_view model, Counterpart counterpart,
                    std::string_view framework = "") {
  return *std::ranges::find_if(values, [&](const ThenNow& value) {
    return value.printed->model == model && value.printed->counterpart == counterpart &&
           value.printed->framework == framework;
  });
}

Record cell_record(const char* model, const char* framework, int64_t batch, double step_seconds = 0.25) {
  Record record = sample_record({.step_seconds = step_seconds, .noise = 0});
  MeasuredWorkload& w = record.run.workload;
  w.model = model;
  w.framework = framework;
  w.batch = batch;
  w.samples_per_step = batch;
  for (Launch& launch : record.launches) launch.info.batch_seen = batch;
  for (Launch& launch : record.launches)
    for (StepRow& row : launch.steps) {
      row.units = static_cast<double>(batch);
      row.samples = batch;
    }
  return record;
}

TEST(PrintedValues, NameTheirSourceAndDifferences) {
  for (const PrintedValue& value : printed_values()) {
    EXPECT_FALSE(value.what.empty());
    EXPECT_FALSE(value.source.empty()) << value.what;
    EXPECT_FALSE(value.where.empty()) << value.what;
    EXPECT_FALSE(value.differs.empty()) << value.what;
    EXPECT_GT(value.value, 0) << value.what;
    EXPECT_TRUE(value.unit != Unit::fraction || value.value <= 1) << value.what;
  }
}

TEST(ThenAndNow, TakesTheFrameworkFirstAndThenTheNearestBatch) {
  const std::vector<Record> records = {cell_record("seq2seq", "pytorch", 128),
                                       cell_record("seq2seq", "tensorflow", 8, 0.5),
                                       cell_record("seq2seq", "tensorflow", 32, 0.5)};
  std::vector<CellResult> results;
  const ThenNow value = find(values_of(records, results), "seq2seq", Counterpart::throughput, "tensorflow");
  EXPECT_THAT(value.cell, HasSubstr("tensorflow 2.11.0, batch 32"));
  ASSERT_TRUE(value.now);
  EXPECT_NEAR(*value.now, 64, 1e-6);
  EXPECT_NEAR(*value.ratio(), 64.0 / 365, 1e-9);
}

TEST(ThenAndNow, GainOfDoublingNeedsBothBatchesAndABoundHasNoRatio) {
  std::vector<CellResult> results;
  const std::vector<Record> one = {cell_record("inception_v3", "pytorch", 8)};
  const ThenNow absent = find(values_of(one, results), "inception_v3", Counterpart::gain_of_doubling);
  EXPECT_FALSE(absent.now);
  EXPECT_THAT(absent.reason, HasSubstr("two batches"));
  const std::vector<Record> two = {cell_record("inception_v3", "pytorch", 8, 0.2),
                                   cell_record("inception_v3", "pytorch", 16, 0.32)};
  const ThenNow value = find(values_of(two, results), "inception_v3", Counterpart::gain_of_doubling);
  ASSERT_TRUE(value.now);
  EXPECT_NEAR(*value.now, 0.25, 1e-6);
  EXPECT_THAT(value.cell, HasSubstr("batch 8 to 16"));
  EXPECT_FALSE(value.ratio()) << "the source says below 10 %";
}

TEST(ThenAndNow, TakesCountsAndPeaksFromTheRecords) {
  std::vector<CellResult> results;
  const std::vector<Record> records = {cell_record("resnet50", "pytorch", 8), cell_record("resnet50", "mxnet", 8)};
  const std::vector<ThenNow> values = values_of(records, results);
  EXPECT_EQ(find(values, "", Counterpart::model_count).now, 1);
  EXPECT_EQ(find(values, "", Counterpart::framework_count).now, 2);
  EXPECT_NEAR(*find(values, "", Counterpart::peak_fp32).ratio(), 1.2e12 / 5.304e12, 1e-12);
}

TEST(ThenAndNow, TheTableStatesConfidenceOfEveryRow) {
  std::vector<CellResult> results;
  const std::vector<Record> records = {cell_record("resnet50", "pytorch", 8)};
  const Table table = then_table(values_of(records, results));
  ASSERT_EQ(table.rows.size(), printed_values().size());
  for (const auto& row : table.rows)
    EXPECT_THAT(std::get<std::string>(row[5]), testing::AnyOf("read", "secondary", "unconfirmed"));
  EXPECT_THAT(to_text(table), HasSubstr("below 10.0 %"));
}

}  // namespace
}  // namespace tbd
