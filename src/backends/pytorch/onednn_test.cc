#include "backends/pytorch/onednn.h"

#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

namespace tbd::pytorch {
namespace {

double difference(const at::Tensor& a, const at::Tensor& b) { return ((a - b).norm() / b.norm()).item<double>(); }

// Results and all gradients are torch's own to fp32's rounding.
void expect_torchs(const at::Tensor& ours, const at::Tensor& torchs, const std::vector<at::Tensor>& wrt) {
  ASSERT_EQ(ours.sizes(), torchs.sizes());
  EXPECT_LT(difference(ours, torchs), 1e-6);
  const at::Tensor upstream = at::randn(ours.sizes());
  const auto mine = torch::autograd::grad({ours}, wrt, {upstream}),
             theirs = torch::autograd::grad({torchs}, wrt, {upstream});
  for (size_t i = 0; i < wrt.size(); ++i) EXPECT_LT(difference(mine[i], theirs[i]), 1e-6) << i;
}

void expect_linear(const at::Tensor& x, bool bias) {
  const at::Tensor weight = at::randn({7, x.size(-1)}).requires_grad_();
  const std::optional<at::Tensor> b = bias ? std::optional(at::randn({7}).requires_grad_()) : std::nullopt;
  std::vector<at::Tensor> wrt = {x, weight};
  if (b) wrt.push_back(*b);
  expect_torchs(onednn_linear(x, weight, b), at::linear(x, weight, b), wrt);
}

TEST(OneDnn, LinearIsTorchs) {
  at::manual_seed(1);
  for (const bool bias : {false, true}) {
    expect_linear(at::randn({5, 12}).requires_grad_(), bias);
    expect_linear(at::randn({1, 12}).requires_grad_(), bias);
    expect_linear(at::randn({5, 1}).requires_grad_(), bias);
    expect_linear(at::randn({2, 3, 12}).requires_grad_(), bias);
    expect_linear(at::randn({3, 2, 12}).transpose(0, 1).requires_grad_(), bias);
    expect_linear(at::randn({12, 5}).t().requires_grad_(), bias);
  }
}

// One that every element shares, as of a sum.
TEST(OneDnn, LinearTakesAnExpandedGradient) {
  at::manual_seed(1);
  const at::Tensor x = at::randn({5, 12}).requires_grad_(), weight = at::randn({7, 12}).requires_grad_();
  const auto mine = torch::autograd::grad({onednn_linear(x, weight, {}).sum()}, {x, weight}),
             theirs = torch::autograd::grad({at::linear(x, weight).sum()}, {x, weight});
  for (size_t i = 0; i < 2; ++i) EXPECT_LT(difference(mine[i], theirs[i]), 1e-6) << i;
}

// As by a gradient penalty.
TEST(OneDnn, GradientsAreDifferentiatedAgain) {
  at::manual_seed(1);
  const at::Tensor x = at::randn({5, 12}).requires_grad_(), weight = at::randn({7, 12}).requires_grad_();
  const auto of_slopes = [&](const at::Tensor& y) {
    const at::Tensor slope = torch::autograd::grad({y.pow(3)}, {x}, {at::ones_like(y)}, /*retain_graph=*/true,
                                                   /*create_graph=*/true)[0];
    return torch::autograd::grad({slope.pow(2).sum()}, {x, weight});
  };
  const auto mine = of_slopes(onednn_linear(x, weight, {})), theirs = of_slopes(at::linear(x, weight));
  for (size_t i = 0; i < 2; ++i) EXPECT_LT(difference(mine[i], theirs[i]), 1e-5) << i;
}

TEST(OneDnn, BatchedProductIsTorchs) {
  at::manual_seed(1);
  const at::Tensor a = at::randn({3, 5, 4}).requires_grad_(), b = at::randn({3, 4, 6}).requires_grad_(),
                   transposed = at::randn({3, 6, 4}).requires_grad_(), one = at::randn({3, 4, 1}).requires_grad_();
  expect_torchs(onednn_bmm(a, b), at::bmm(a, b), {a, b});
  expect_torchs(onednn_bmm(a, transposed.mT()), at::bmm(a, transposed.mT()), {a, transposed});
  expect_torchs(onednn_bmm(b.mT(), a.mT()), at::bmm(b.mT(), a.mT()), {a, b});
  expect_torchs(onednn_bmm(a, one), at::bmm(a, one), {a, one});
}

TEST(OneDnn, IsPreferredForSinglePrecisionAlone) {
  prefer_onednn(false);  // other tests' sessions choose for the process
  EXPECT_FALSE(by_onednn(at::randn({2})));
  prefer_onednn(true);
  EXPECT_TRUE(by_onednn(at::randn({2})));
  EXPECT_FALSE(by_onednn(at::randn({2}).to(at::kDouble)));
  EXPECT_FALSE(by_onednn(at::randn({0, 3})));
  prefer_onednn(false);
}

}  // namespace
}  // namespace tbd::pytorch
