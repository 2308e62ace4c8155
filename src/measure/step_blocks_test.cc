#include "measure/step_blocks.h"

#include <gtest/gtest.h>

#include <thread>

#include "measure/clock.h"
#include "measure/cores.h"

namespace tbd {
namespace {

TEST(StepBlocks, MeasuresBetweenBlocksOfHalfASecondAndStampsTheirPause) {
  StepBlocks blocks(allowed_cpus());
  int64_t began = now_ns(), paused = 0, whole = 0;
  blocks.begin();
  for (int block = 0; block < 3;) {
    StepRow row;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const int64_t ended = now_ns();
    const bool over = blocks.is_over();
    if (over) blocks.end(row);
    ASSERT_EQ(over, row.pause_ns.has_value());
    ASSERT_EQ(over, row.read_byte_rate.has_value());
    if (!over) continue;
    EXPECT_GE(now_ns() - *row.pause_ns - began, 500'000'000);
    EXPECT_GT(*row.pause_ns, 0);
    EXPECT_LE(*row.pause_ns, now_ns() - ended);
    EXPECT_TRUE(row.foreign_ns);
    whole += now_ns() - ended;
    began = ended + *row.pause_ns;
    paused += *row.pause_ns;
    ++block;
  }
  EXPECT_NEAR(static_cast<double>(paused), static_cast<double>(whole), 0.1 * static_cast<double>(whole));
}

TEST(StepBlocks, LengthensBlocksSoThatMeasuringStaysRare) {
  StepBlocks blocks(allowed_cpus());
  // Stamps of this loop lie around those of the blocks, however long it waits for a processor between.
  int64_t began_at_earliest = now_ns(), last_pause = 0;
  blocks.begin();
  for (int block = 0; block < 3;) {
    StepRow row;
    const int64_t before = now_ns();
    if (!blocks.is_over()) continue;
    blocks.end(row);
    const int64_t ended_at_latest = now_ns() - *row.pause_ns;
    if (block > 0) {
      EXPECT_GE(static_cast<double>(ended_at_latest - began_at_earliest + 1), static_cast<double>(last_pause) / 0.003);
    }
    last_pause = *row.pause_ns;
    began_at_earliest = before + last_pause;
    ++block;
  }
}

}  // namespace
}  // namespace tbd
