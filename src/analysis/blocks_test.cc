#include "analysis/blocks.h"

#include <gmock/gmock.h>

namespace tbd {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr CoreRates kBest = {.fma_flop_rate = 100e9, .read_byte_rate = 20e9};

std::vector<StepRow> steps(int64_t count, double units = 1) {
  std::vector<StepRow> rows(static_cast<size_t>(count));
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].step = static_cast<int64_t>(i + 1);
    rows[i].units = units;
  }
  return rows;
}

std::vector<Block> blocks_of(const std::vector<StepRow>& rows, double step_time) {
  const std::vector<double> times(rows.size(), step_time);
  const std::vector<CoreRates> rates = steady_rates(rows);
  return step_blocks({.rows = rows, .times = times, .rates = rates, .before = {}}, 2, kBest);
}

TEST(StepBlocksOfARecord, EndWhereHalfASecondIsFull) {
  const std::vector<Block> blocks = blocks_of(steps(7, 32), 0.25);
  ASSERT_EQ(blocks.size(), 4u);
  EXPECT_EQ(blocks[1].begin, 2u);
  EXPECT_EQ(blocks[1].end, 4u);
  EXPECT_DOUBLE_EQ(blocks[1].seconds, 0.5);
  EXPECT_DOUBLE_EQ(blocks[1].units, 64);
  EXPECT_DOUBLE_EQ(blocks[3].units, 32) << "the last block is what is left";
}

TEST(StepBlocksOfARecord, EndWhereTheSpeedProbeRan) {
  std::vector<StepRow> rows = steps(6);
  rows[3].pause_ns = 1000;
  const std::vector<Block> blocks = blocks_of(rows, 0.25);
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].end, 4u);
}

// Half-second blocks, each with a measurement at its end.
std::vector<StepRow> probed_steps(const std::vector<int64_t>& gflop_rates) {
  std::vector<StepRow> rows = steps(std::ssize(gflop_rates));
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].pause_ns = 1000;
    rows[i].fma_flop_rate = gflop_rates[i] * 1'000'000'000;
  }
  return rows;
}

TEST(StepBlocksOfARecord, UseTheSlowerOfTheProbesAtBothEnds) {
  const std::vector<Block> blocks = blocks_of(probed_steps({99, 99, 99, 99, 90, 90, 90, 90, 90}), 0.5);
  ASSERT_EQ(blocks.size(), 9u);
  EXPECT_NEAR(blocks[2].fma_loss.value(), 0.01, 1e-9);
  EXPECT_TRUE(blocks[2].undisturbed());
  EXPECT_NEAR(blocks[4].fma_loss.value(), 0.10, 1e-9);
  EXPECT_THAT(blocks[4].reasons(), ElementsAre("cores slower by 10.00 %"));
  EXPECT_FALSE(blocks[4].read_loss) << "the probe did not read";
}

TEST(StepBlocksOfARecord, IgnoreASingleSlowProbe) {
  for (const Block& block : blocks_of(probed_steps({99, 99, 99, 60, 99, 99, 50, 99, 99}), 0.5))
    EXPECT_TRUE(block.undisturbed()) << "a measurement lasts a thousandth of the block";
}

TEST(StepBlocksOfARecord, BestRatesIgnoreASingleFastProbe) {
  Launch launch;
  launch.steps = probed_steps({99, 99, 130, 98, 99, 99, 97});
  EXPECT_EQ(best_rates(std::vector{launch}).fma_flop_rate, 99e9);
}

TEST(StepBlocksOfARecord, KnowWaitAndOtherWorkAsShares) {
  std::vector<StepRow> rows = steps(2);
  for (StepRow& row : rows) {
    row.runqueue_wait_ns = 50'000'000;
    row.user_cpu_ns = 400'000'000;
    row.system_cpu_ns = 50'000'000;
    row.steal_ticks = 1;  // of 10 ms
  }
  rows[1].foreign_ns = 100'000'000;
  const std::vector<Block> blocks = blocks_of(rows, 0.25);
  ASSERT_EQ(blocks.size(), 1u);
  EXPECT_NEAR(blocks[0].runqueue.value(), 0.10, 1e-9) << "of the time that threads could run";
  EXPECT_NEAR(blocks[0].steal.value(), 0.02, 1e-9) << "of two processors for half a second";
  EXPECT_NEAR(blocks[0].foreign.value(), 0.10, 1e-9);
}

TEST(StepBlocksOfARecord, IgnoreWaitsBetweenTheWorkersOwnThreads) {
  std::vector<StepRow> rows = steps(2);
  for (StepRow& row : rows) {
    row.runqueue_wait_ns = 80'000'000;
    row.user_cpu_ns = 400'000'000;
    row.system_cpu_ns = 0;
  }
  EXPECT_FALSE(blocks_of(rows, 0.25)[0].undisturbed()) << "nothing tells whom they waited for";
  rows[1].foreign_ns = 10'000'000;
  EXPECT_TRUE(blocks_of(rows, 0.25)[0].undisturbed());
  rows[1].foreign_ns = 30'000'000;
  EXPECT_FALSE(blocks_of(rows, 0.25)[0].undisturbed());
}

TEST(StepBlocksOfARecord, WithoutEvidenceAreNeitherDisturbedNorUndisturbed) {
  for (const Block& block : blocks_of(steps(4), 0.25)) {
    EXPECT_FALSE(block.judged());
    EXPECT_FALSE(block.undisturbed());
    EXPECT_THAT(block.reasons(), IsEmpty());
  }
}

}  // namespace
}  // namespace tbd
