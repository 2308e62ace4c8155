#include "worker/planned_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

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
  MemoryLedger ledger;
  PlannedMemory memory(ledger, "a note");
  memory.owns("param/w", 100);
  int64_t step = 0;
  for (const auto& [in_use, blocks] : {std::pair<int64_t, size_t>{700, 2}, {700, 2}, {900, 3}, {90, 3}}) {
    memory.begin_step(++step);
    memory.end_step_keeping(in_use);
    EXPECT_EQ(ledger.live_bytes(), std::max<int64_t>(in_use, 100));
    EXPECT_EQ(ledger.log().blocks.size(), blocks) << "a block for each size";
  }
  EXPECT_EQ(ledger.peak_bytes(), 900);
}

}  // namespace
}  // namespace tbd
