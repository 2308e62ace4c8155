#include "backends/pytorch/autograd.h"

#include <ATen/ops/ones_like.h>
#include <torch/csrc/autograd/autograd.h>

namespace tbd::pytorch {

void run_backward(const std::vector<at::Tensor>& roots, const std::vector<at::Tensor>& upstream) {
  torch::autograd::backward(roots, upstream);
}

at::Tensor input_gradient(const at::Tensor& y, const at::Tensor& x) {
  return torch::autograd::grad({y}, {x}, {at::ones_like(y)}, /*retain_graph=*/true, /*create_graph=*/true)[0];
}

}  // namespace tbd::pytorch
