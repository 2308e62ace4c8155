#include "runner/reported_rows.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace tbd {
namespace {

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

}  // namespace
}  // namespace tbd
