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

}  // namespace
}  // namespace tbd
