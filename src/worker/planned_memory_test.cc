#include "worker/planned_memory.h"

#include <gtest/gtest.h>

namespace tbd {
namespace {

int64_t bytes_as(const MemoryTotals& totals, MemoryClass kind) { return totals[static_cast<size_t>(kind)]; }

TEST(PlannedMemory, IsWhatAStepHasInUseBesideWhatIsOwned) {
  MemoryLedger ledger;
  PlannedMemory memory(ledger, "a note");
  memory.owns("param/w", 100);
  memory.owns("state/w/momentum", 100);
  memory.owns("state/w/ema", 50);
  for (int i = 0; i < 2; ++i) memory.stages("image", 30);
  EXPECT_EQ(ledger.live_bytes(), 280);
  EXPECT_EQ(bytes_as(ledger.live(), MemoryClass::weight), 100);
  EXPECT_EQ(bytes_as(ledger.live(), MemoryClass::optimizer_state), 100);
  EXPECT_EQ(bytes_as(ledger.live(), MemoryClass::auxiliary), 50);
  EXPECT_EQ(bytes_as(ledger.live(), MemoryClass::input), 30);
  memory.begin_step(1);
  memory.end_step(1000);
  EXPECT_EQ(ledger.peak_bytes(), 1000);
  EXPECT_EQ(ledger.live_bytes(), 280) << "between steps";
  memory.begin_step(2);
  memory.end_step(10);  // less than is owned: a count that missed something
  EXPECT_EQ(ledger.peak_bytes(), 1000);
  EXPECT_EQ(ledger.log().evidence, MemoryEvidence::plan);
}

TEST(PlannedMemory, StaysWhereTheFrameworkKeepsIt) {
  constexpr int64_t kMebibyte = 1 << 20;
  MemoryLedger ledger;
  PlannedMemory memory(ledger, "a note");
  memory.owns("param/w", kMebibyte);
  struct Step {
    int64_t in_use, live;
    size_t blocks;  // one for each size that is told
  };
  int64_t number = 0;
  for (const Step& step : {Step{7 * kMebibyte, 7 * kMebibyte, 2}, Step{7 * kMebibyte + 640, 7 * kMebibyte, 2},
                           Step{9 * kMebibyte, 9 * kMebibyte, 3}, Step{kMebibyte / 2, kMebibyte, 3}}) {
    memory.begin_step(++number);
    memory.end_step_keeping(step.in_use);
    EXPECT_EQ(ledger.live_bytes(), step.live);
    EXPECT_EQ(ledger.log().blocks.size(), step.blocks);
  }
  EXPECT_EQ(ledger.peak_bytes(), 9 * kMebibyte);
}

}  // namespace
}  // namespace tbd
