// LAMB. You et al. 2020, arXiv:1904.00962, with the global normalisation and trust ratios of docs/conventions.md,
// Optimizers.
#pragma once
#include <ATen/core/Tensor.h>

#include <vector>

namespace tbd::pytorch {

struct LambTensors {
  std::vector<at::Tensor> parameters, gradients, exp_avg, exp_avg_sq;
};
struct LambScalars {
  double lr, beta1, beta2, epsilon, weight_decay, correction1, correction2;
  int64_t count;  // of updates, this one included: correction1 is 1 - beta1^count
};

// g /= max(1, total), where that is |g| of all tensors together.
void lamb_normalise(const std::vector<at::Tensor>& gradients, const at::Tensor& total);
// m, v as Adam; u = m / c1 / (sqrt(v / c2) + eps) + wd w; r = |w| / |u| where wd and both norms are not 0, else 1;
// w -= lr r u.
void lamb_update(const LambTensors& tensors, const LambScalars& scalars);

}  // namespace tbd::pytorch
