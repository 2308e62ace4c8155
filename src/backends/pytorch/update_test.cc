// What the updates take of memory.
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include "backends/pytorch/lamb.h"
#include "backends/pytorch/memory.h"

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
  const LambScalars scalars = {1e-2, 0.9, 0.999, 1e-6, 0.01, 0.1, 0.001};
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

}  // namespace
}  // namespace tbd::pytorch
