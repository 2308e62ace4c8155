// What the updates take of memory.
#include <ATen/ops/full.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <cmath>

#include "backends/pytorch/lamb.h"
#include "backends/pytorch/memory.h"
#include "backends/pytorch/onednn.h"

namespace tbd::pytorch {
namespace {

LambTensors lamb_tensors(size_t count, int64_t elements) {
  LambTensors t;
  for (size_t i = 0; i < count; ++i)
    for (auto* list : {&t.parameters, &t.gradients, &t.exp_avg, &t.exp_avg_sq})
      list->push_back(at::full({elements}, 0.5 + static_cast<double>(i), at::TensorOptions(at::kFloat)));
  return t;
}

TEST(Lamb, HoldsTemporariesOfAFewTensorsAtOnceAndGivesTheSameNumbers) {
  constexpr size_t kCount = 6;
  constexpr int64_t kElements = int64_t{1} << 20;
  const LambScalars scalars = {1e-2, 0.9, 0.999, 1e-6, 0.01, 0.1, 0.001, 1};
  const LambTensors all = lamb_tensors(kCount, kElements), alone = lamb_tensors(kCount, kElements);
  count_memory();
  const int64_t before = counted_memory(at::kCPU).live_bytes.value();
  reset_counted_peak(at::kCPU);
  lamb_update(all, scalars);
  constexpr int64_t kBytes = 4 * kElements, kAtOnce = 4, kTemporaries = 2;
  EXPECT_LT(counted_memory(at::kCPU).peak_bytes.value() - before, kTemporaries * kAtOnce * kBytes + (1 << 16));
  for (size_t i = 0; i < kCount; ++i) {
    lamb_update({{alone.parameters[i]}, {alone.gradients[i]}, {alone.exp_avg[i]}, {alone.exp_avg_sq[i]}}, scalars);
    EXPECT_TRUE(all.parameters[i].equal(alone.parameters[i])) << i;
    EXPECT_FALSE(all.parameters[i][0].item<float>() == 0.5f + static_cast<float>(i));
  }
}

// Two updates of tensors of random numbers, one of 0.
void expect_fused_lamb(double weight_decay) {
  const auto made = [] {
    at::manual_seed(3);
    LambTensors t;
    for (const int64_t elements : {3, 40, 7})
      for (auto* list : {&t.parameters, &t.gradients, &t.exp_avg, &t.exp_avg_sq})
        list->push_back(at::randn({elements}, at::TensorOptions(at::kDouble)).abs_());
    t.parameters.back().zero_();
    return t;
  };
  const LambTensors composed = made(), fused = made();
  for (const int64_t count : {4, 5}) {
    const auto power = static_cast<double>(count);
    const LambScalars scalars = {
        1e-2, 0.9, 0.999, 1e-6, weight_decay, 1 - std::pow(0.9, power), 1 - std::pow(0.999, power), count};
    prefer_onednn(false);
    lamb_update(composed, scalars);
    prefer_onednn(true);
    lamb_update(fused, scalars);
  }
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(fused.parameters[i].allclose(composed.parameters[i], 1e-12, 1e-14)) << i;
    EXPECT_TRUE(fused.exp_avg[i].allclose(composed.exp_avg[i], 1e-12, 1e-14)) << i;
    EXPECT_TRUE(fused.exp_avg_sq[i].allclose(composed.exp_avg_sq[i], 1e-12, 1e-14)) << i;
  }
  prefer_onednn(false);
}

TEST(Lamb, FusedIsComposed) {
  expect_fused_lamb(0.01);
  expect_fused_lamb(0);
}

}  // namespace
}  // namespace tbd::pytorch
