// Every value is worked out by hand from the formulas of the schedules, not from the code.
#include "graph/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tbd {
namespace {

using Kind = Schedule::Kind;
using Unit = Schedule::Unit;

TEST(LearningRate, ConstantReturnsTheBaseRate) {
  for (const int64_t step : {1, 7, 100000}) EXPECT_EQ(learning_rate({.base = 0.3}, step, 8), 0.3);
}

TEST(LearningRate, GrowsWithTheBatchFromItsReference) {
  EXPECT_DOUBLE_EQ(learning_rate({.base = 0.1, .batch_reference = 256}, 1, 8), 0.003125);
  EXPECT_DOUBLE_EQ(learning_rate({.base = 0.1, .batch_reference = 256, .batch_power = 0.5}, 1, 1024), 0.2);
  EXPECT_DOUBLE_EQ(learning_rate({.base = 0.1}, 1, 1024), 0.1);
}

TEST(LearningRate, StepFallsAfterItsMilestones) {
  const Schedule s = {.kind = Kind::step, .base = 1, .milestones = {3, 5}, .factor = 0.1};
  EXPECT_DOUBLE_EQ(learning_rate(s, 3, 1), 1);    // two steps done
  EXPECT_DOUBLE_EQ(learning_rate(s, 4, 1), 0.1);  // three steps done
  EXPECT_DOUBLE_EQ(learning_rate(s, 5, 1), 0.1);
  EXPECT_DOUBLE_EQ(learning_rate(s, 6, 1), 0.01);
}

TEST(LearningRate, EpochsCountFromZeroInWholeBatches) {
  const Schedule s = {.kind = Kind::step, .base = 1, .unit = Unit::epoch, .epoch_samples = 103, .milestones = {30}};
  // Batch 10: ten steps an epoch; epoch 30 begins with step 301.
  EXPECT_DOUBLE_EQ(learning_rate(s, 300, 10), 1);
  EXPECT_DOUBLE_EQ(learning_rate(s, 301, 10), 0.1);
  EXPECT_DOUBLE_EQ(learning_rate(s, 30, 1000), 1);  // a batch above the epoch: one step an epoch
  EXPECT_DOUBLE_EQ(learning_rate(s, 31, 1000), 0.1);
}

TEST(LearningRate, WarmUpIsLinearThenTheWrappedScheduleHolds) {
  const Schedule s = {.base = 1, .warmup = 10, .warmup_from = 0.2};
  EXPECT_DOUBLE_EQ(learning_rate(s, 1, 1), 0.28);
  EXPECT_DOUBLE_EQ(learning_rate(s, 5, 1), 0.6);
  EXPECT_DOUBLE_EQ(learning_rate(s, 10, 1), 1);
  EXPECT_DOUBLE_EQ(learning_rate(s, 11, 1), 1);
}

TEST(LearningRate, WarmUpCanBeGivenInEpochs) {
  const Schedule s = {
      .kind = Kind::step, .base = 1, .unit = Unit::epoch, .epoch_samples = 100, .milestones = {30}, .warmup = 5};
  EXPECT_DOUBLE_EQ(learning_rate(s, 1, 10), 0.02);  // 50 steps of warm-up
  EXPECT_DOUBLE_EQ(learning_rate(s, 25, 10), 0.5);
  EXPECT_DOUBLE_EQ(learning_rate(s, 50, 10), 1);
}

TEST(LearningRate, CosineEndsAtZero) {
  const Schedule s = {.kind = Kind::cosine, .base = 2, .warmup = 10, .total = 110};
  EXPECT_DOUBLE_EQ(learning_rate(s, 5, 1), 1);
  EXPECT_DOUBLE_EQ(learning_rate(s, 10, 1), 2);
  EXPECT_NEAR(learning_rate(s, 60, 1), 1, 1e-15);
  EXPECT_NEAR(learning_rate(s, 35, 1), 1 + std::sqrt(0.5), 1e-15);
  EXPECT_NEAR(learning_rate(s, 110, 1), 0, 1e-15);
  EXPECT_NEAR(learning_rate(s, 500, 1), 0, 1e-15);
}

TEST(LearningRate, NoamRisesThenFallsByTheRoot) {
  const Schedule s = {.kind = Kind::noam, .base = 2, .warmup = 100, .width = 64};
  EXPECT_DOUBLE_EQ(learning_rate(s, 1, 1), 2.0 / 8 / 1000);
  EXPECT_DOUBLE_EQ(learning_rate(s, 100, 1), 2.0 / 8 / 10);
  EXPECT_DOUBLE_EQ(learning_rate(s, 400, 1), 2.0 / 8 / 20);
}

TEST(LearningRate, PolyTakesItsWarmUpAsAFraction) {
  const Schedule s = {.kind = Kind::poly, .base = 4, .warmup = 0.25, .total = 100, .degree = 0.5};
  EXPECT_DOUBLE_EQ(learning_rate(s, 10, 1), 1.6);
  EXPECT_DOUBLE_EQ(learning_rate(s, 36, 1), 3.2);  // 4 sqrt(0.64)
  EXPECT_DOUBLE_EQ(learning_rate(s, 100, 1), 0);
  EXPECT_DOUBLE_EQ(learning_rate(s, 101, 1), 0);
}

TEST(LearningRate, LinearDecayReachesItsBaseAtTheEndOfWarmUp) {
  const Schedule s = {.kind = Kind::linear_decay, .base = 4, .warmup = 0.2, .total = 100};
  EXPECT_DOUBLE_EQ(learning_rate(s, 10, 1), 2);
  EXPECT_DOUBLE_EQ(learning_rate(s, 20, 1), 4);
  EXPECT_DOUBLE_EQ(learning_rate(s, 60, 1), 2);
  EXPECT_DOUBLE_EQ(learning_rate(s, 100, 1), 0);
}

TEST(LearningRate, ExponentialWarmUpPrecedesStepDecay) {
  const Schedule s = {.kind = Kind::exp_warmup_step,
                      .base = 1,
                      .factor = 0.5,
                      .warmup = 10,
                      .total = 100,
                      .decay_from = 0.6,
                      .decays = 4};
  EXPECT_DOUBLE_EQ(learning_rate(s, 5, 1), 0.1);  // 0.01^(5/10)
  EXPECT_DOUBLE_EQ(learning_rate(s, 10, 1), 1);
  EXPECT_DOUBLE_EQ(learning_rate(s, 59, 1), 1);
  EXPECT_DOUBLE_EQ(learning_rate(s, 60, 1), 0.5);  // then every ten steps
  EXPECT_DOUBLE_EQ(learning_rate(s, 69, 1), 0.5);
  EXPECT_DOUBLE_EQ(learning_rate(s, 70, 1), 0.25);
  EXPECT_DOUBLE_EQ(learning_rate(s, 90, 1), 0.0625);
  EXPECT_DOUBLE_EQ(learning_rate(s, 400, 1), 0.0625);  // at most four times
}

TEST(LearningRate, ExponentialDecayMultipliesEachEpoch) {
  const Schedule s = {.kind = Kind::exp_decay, .base = 8, .epoch_samples = 40, .factor = 0.5};
  EXPECT_DOUBLE_EQ(learning_rate(s, 4, 10), 8);
  EXPECT_DOUBLE_EQ(learning_rate(s, 5, 10), 4);
  EXPECT_DOUBLE_EQ(learning_rate(s, 9, 10), 2);
}

TEST(LearningRate, AnEpochInSamplesHoldsItsLastBatch) {
  const Schedule s = {.kind = Kind::exp_decay, .base = 8, .unit = Unit::sample, .epoch_samples = 41, .factor = 0.5};
  EXPECT_DOUBLE_EQ(learning_rate(s, 5, 10), 8);  // five steps: 41 / 10 rounded up
  EXPECT_DOUBLE_EQ(learning_rate(s, 6, 10), 4);
  EXPECT_DOUBLE_EQ(learning_rate(s, 41, 1), 8);
  EXPECT_DOUBLE_EQ(learning_rate(s, 42, 1), 4);
}

TEST(LearningRate, TotalsInSamplesRoundUpToWholeSteps) {
  // 3 passes of 100 samples: 300 / 32 is 9.375, so ten steps.
  const Schedule s = {.kind = Kind::linear_decay, .base = 1, .unit = Unit::sample, .warmup = 0.5, .total = 300};
  EXPECT_DOUBLE_EQ(learning_rate(s, 1, 32), 0.2);
  EXPECT_DOUBLE_EQ(learning_rate(s, 5, 32), 1);
  EXPECT_DOUBLE_EQ(learning_rate(s, 10, 32), 0);
  EXPECT_DOUBLE_EQ(learning_rate(s, 150, 1), 1);
  const Schedule step = {
      .kind = Kind::step, .base = 1, .unit = Unit::sample, .milestones = {90}, .factor = 0.1, .warmup = 30};
  EXPECT_DOUBLE_EQ(learning_rate(step, 1, 20), 0.5);  // two steps of warm-up
  EXPECT_DOUBLE_EQ(learning_rate(step, 5, 20), 1);
  EXPECT_DOUBLE_EQ(learning_rate(step, 6, 20), 0.1);  // five steps done
}

TEST(LearningRate, RefusesAScheduleWithoutWhatItNeeds) {
  EXPECT_THROW(learning_rate({.kind = Kind::step, .unit = Unit::epoch}, 1, 1), Error);
  EXPECT_THROW(learning_rate({.kind = Kind::cosine}, 1, 1), Error);
  EXPECT_THROW(learning_rate({.kind = Kind::cosine, .warmup = 5, .total = 5}, 1, 1), Error);
  EXPECT_THROW(learning_rate({.kind = Kind::noam, .warmup = 10}, 1, 1), Error);
  EXPECT_THROW(learning_rate({.kind = Kind::poly, .warmup = 2, .total = 10}, 1, 1), Error);
  EXPECT_THROW(learning_rate({}, 0, 1), Error);
  EXPECT_THROW(learning_rate({}, 1, 0), Error);
}

TEST(UpdateScalars, CorrectAdamsMomentsByAppliedUpdates) {
  const Update update = {.optimizer = {.kind = Optimizer::Kind::adam, .beta1 = 0.5, .beta2 = 0.9},
                         .schedule = {.base = 1}};
  const UpdateScalars first = update_scalars(update, 9, 0, 1);
  EXPECT_TRUE(first.first);
  EXPECT_DOUBLE_EQ(first.correction1, 0.5);
  EXPECT_DOUBLE_EQ(first.correction2, 1 - 0.9);
  const UpdateScalars third = update_scalars(update, 9, 2, 1);
  EXPECT_FALSE(third.first);
  EXPECT_DOUBLE_EQ(third.correction1, 0.875);
  EXPECT_DOUBLE_EQ(third.correction2, 1 - 0.729);
}

TEST(UpdateScalars, AreOneWithoutBiasCorrection) {
  Update update = {.optimizer = {.kind = Optimizer::Kind::adamw, .bias_correction = false}};
  EXPECT_EQ(update_scalars(update, 1, 0, 1).correction1, 1);
  update.optimizer = {.kind = Optimizer::Kind::sgd};
  EXPECT_EQ(update_scalars(update, 1, 0, 1).correction2, 1);
}

TEST(UpdateScalars, TakeAnOverriddenRate) { EXPECT_EQ(update_scalars({}, 1, 0, 1, 0.7).lr, 0.7); }

TEST(LossScale, HalvesOnOverflowAndDoublesAfterTwoThousandCleanUpdates) {
  LossScale scale;
  EXPECT_EQ(scale.value(), 65536);
  scale.update(true);
  EXPECT_EQ(scale.value(), 32768);
  for (int i = 0; i < 1999; ++i) scale.update(false);
  EXPECT_EQ(scale.value(), 32768);
  scale.update(false);
  EXPECT_EQ(scale.value(), 65536);
  for (int i = 0; i < 1999; ++i) scale.update(false);
  scale.update(true);  // the count starts anew
  for (int i = 0; i < 1999; ++i) scale.update(false);
  EXPECT_EQ(scale.value(), 32768);
}

}  // namespace
}  // namespace tbd
