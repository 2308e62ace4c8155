#include "runner/quickstart.h"

#include <gtest/gtest.h>

namespace tbd {
namespace {

const std::vector<int64_t> kSweep = {1, 2, 4, 8, 16, 32};
bool always(int64_t) { return true; }

TEST(ChooseBatch, LeavesRoomForTwentyFiveStableSteps) {
  const int64_t batch = choose_batch(kSweep, 0.15, 75, always);
  EXPECT_EQ(batch, 8);
  EXPECT_LT(30 * 0.15 * static_cast<double>(batch), 75);
}

TEST(ChooseBatch, IsTheLargestOfTheSweepWhenTimeAllows) { EXPECT_EQ(choose_batch(kSweep, 1e-4, 75, always), 32); }

TEST(ChooseBatch, IsTheSmallestWhenNoneFits) {
  EXPECT_EQ(choose_batch(kSweep, 100, 75, always), 1);
  EXPECT_EQ(choose_batch(kSweep, 1e-4, 75, [](int64_t) { return false; }), 1);
}

TEST(ChooseBatch, StaysWithinMemory) {
  EXPECT_EQ(choose_batch(kSweep, 1e-4, 75, [](int64_t batch) { return batch <= 4; }), 4);
}

}  // namespace
}  // namespace tbd
