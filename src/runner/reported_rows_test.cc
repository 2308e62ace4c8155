#include "runner/reported_rows.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "record/steps.h"

namespace tbd {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kSecond = 1'000'000'000;

StepRow row(int64_t step, int64_t completed_ns) { return {.step = step, .completed_ns = completed_ns, .units = 8}; }

// What is wrong with rows of a worker that started ten seconds ago; empty: nothing.
std::string fault_of(const std::vector<StepRow>& rows) {
  try {
    ReportedRows reported;
    for (const StepRow& each : rows) reported.take({&each, 1}, 10 * kSecond);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::invalid);
    return e.what();
  }
  return "";
}

void expect_fault(const std::vector<StepRow>& rows, const std::string& words) {
  EXPECT_NE(fault_of(rows).find(words), std::string::npos) << fault_of(rows);
}

TEST(ReportedRows, AcceptsPlausibleRows) {
  EXPECT_EQ(fault_of({row(1, kSecond), row(2, kSecond + 1), row(3, 10 * kSecond)}), "");
}

TEST(ReportedRows, SkippedStepsAreNamed) {
  expect_fault({row(7, 1)}, "step 7 after step 0");
  expect_fault({row(1, 1), row(3, 2)}, "step 3 after step 1");
  expect_fault({row(1, 1), row(1, 2)}, "step 1 after step 1");
}

TEST(ReportedRows, ImpossibleStampsAreNamed) {
  expect_fault({row(1, 5), row(2, 5)}, "step 2 ended at 5 ns, no later than");
  expect_fault({row(1, 5), row(2, 4)}, "step 2 ended at 4 ns, no later than");
  expect_fault({row(1, 0)}, "no later than");
  expect_fault({row(1, INT64_MAX)}, "after its start, which was 10.0 s ago");
  expect_fault({row(1, 12 * kSecond)}, "step 1 ended 12.0 s after its start");
}

TEST(ReportedRows, ValuesThatARecordCannotHoldAreNamed) {
  StepRow negative = row(1, 1), endless = row(1, 1), vast = row(1, 1);
  negative.units = -1;
  endless.units = 1.0 / 0.0;
  vast.user_cpu_ns = INT64_MAX;
  for (const StepRow& each : {negative, endless, vast}) expect_fault({each}, "a value of step 1");
}

StepRow row_of_rank(int64_t step, int64_t completed_ns, double units) {
  return {.step = step, .completed_ns = completed_ns, .units = units, .samples = 4, .input_wait_ns = completed_ns};
}

std::vector<StepRow> rows_in(const fs::path& file) {
  int64_t dropped = 0;
  return parse_steps(read_file(file), dropped);
}

TEST(WorldRows, AStepIsWholeWhenTheLastRankHasEndedIt) {
  const TemporaryFolder folder;
  WorldRows world(folder.path(), 2);
  const StepRow first[] = {row_of_rank(1, 100, 3), row_of_rank(2, 200, 3)}, second[] = {row_of_rank(1, 120, 5)};
  EXPECT_TRUE(world.take(0, first, kSecond).empty());
  const std::vector<StepRow> whole = world.take(1, second, kSecond);
  ASSERT_EQ(whole.size(), 1);
  EXPECT_EQ(whole[0].completed_ns, 100) << "the stamp of rank 0";
  EXPECT_EQ(whole[0].units, 8);
  EXPECT_EQ(whole[0].samples, 8);
  EXPECT_EQ(whole[0].input_wait_ns, 120) << "the longest wait";
  EXPECT_EQ(whole[0].foreign_ns, std::nullopt);
  const StepRow last[] = {row_of_rank(2, 210, 5)};
  EXPECT_EQ(world.take(1, last, kSecond).size(), 1);
  world.describe(0, {});
  const StepRow later[] = {row_of_rank(3, 300, 3)};  // of a further run of the launch
  EXPECT_TRUE(world.take(0, later, kSecond).empty());
  world.close();
  EXPECT_EQ(rows_in(folder.path() / "rank-0/steps.csv").size(), 3);
  EXPECT_EQ(rows_in(folder.path() / "rank-1/steps.csv")[0].units, 5);
  EXPECT_TRUE(fs::exists(folder.path() / "rank-0/launch.json"));
  const std::vector<fs::path> logs = {folder.path() / "rank-0/worker.log", folder.path() / "rank-1/worker.log"};
  EXPECT_EQ(world.logs(), logs);
}

TEST(WorldRows, OfOneWorkerAreItsRowsAndNothingElse) {
  const TemporaryFolder folder;
  WorldRows world(folder.path(), 1);
  const StepRow first[] = {row_of_rank(1, 100, 3)};
  EXPECT_EQ(world.take(0, first, kSecond).size(), 1);
  world.describe(0, {});
  EXPECT_TRUE(fs::is_empty(folder.path()));
  EXPECT_TRUE(world.logs().empty());
}

TEST(WorldRows, AnImpossibleRowIsOfItsRank) {
  const TemporaryFolder folder;
  WorldRows world(folder.path(), 2);
  const StepRow second[] = {row_of_rank(2, 100, 3)};
  try {
    world.take(1, second, kSecond);
    FAIL() << "a world began with step 2";
  } catch (const Error& e) {
    EXPECT_TRUE(std::string_view(e.what()).starts_with("rank 1 of 2: the worker reported step 2 after step 0"))
        << e.what();
  }
}

}  // namespace
}  // namespace tbd
