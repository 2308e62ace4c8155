#include "backends/pytorch/onednn_linear.h"

#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

namespace tbd::pytorch {
namespace {

double difference(const at::Tensor& a, const at::Tensor& b) { return ((a - b).norm() / b.norm()).item<double>(); }

// Results and all gradients are torch's own to fp32's rounding.
void expect_linear(const at::Tensor& x, bool bias) {
  const at::Tensor weight = at::randn({7, x.size(-1)}).requires_grad_();
  const std::optional<at::Tensor> b = bias ? std::optional(at::randn({7}).requires_grad_()) : std::nullopt;
  const at::Tensor ours = onednn_linear(x, weight, b), torchs = at::linear(x, weight, b);
  ASSERT_EQ(ours.sizes(), torchs.sizes());
  EXPECT_LT(difference(ours, torchs), 1e-6);
  std::vector<at::Tensor> wrt = {x, weight};
  if (b) wrt.push_back(*b);
  const at::Tensor upstream = at::randn(ours.sizes());
  const auto mine = torch::autograd::grad({ours}, wrt, {upstream}),
             theirs = torch::autograd::grad({torchs}, wrt, {upstream});
  for (size_t i = 0; i < wrt.size(); ++i) EXPECT_LT(difference(mine[i], theirs[i]), 1e-6) << i;
}

TEST(OneDnnLinear, IsLinear) {
  at::manual_seed(1);
  linear_by_onednn(true);
  for (const bool bias : {false, true}) {
    expect_linear(at::randn({5, 12}).requires_grad_(), bias);
    expect_linear(at::randn({2, 3, 12}).requires_grad_(), bias);
    expect_linear(at::randn({3, 2, 12}).transpose(0, 1).requires_grad_(), bias);
  }
  EXPECT_TRUE(is_linear_by_onednn());
  linear_by_onednn(false);
  EXPECT_FALSE(is_linear_by_onednn());
}

}  // namespace
}  // namespace tbd::pytorch
