#include <ATen/core/Reduction.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/mse_loss.h>

#include "backends/pytorch/lowering.h"

namespace tbd::pytorch {

// logits (N, classes), label (N): the sum over rows. torch's smoothing is our `all`. It wants labels of 64 bits.
at::Tensor lower(const SoftmaxCrossEntropy& op, const Args& in) {
  const at::Tensor& label = in[1];
  const at::Tensor wide = label.scalar_type() == at::kLong ? label : label.to(at::kLong);
  return at::cross_entropy_loss(in[0], wide, /*weight=*/{}, at::Reduction::Sum, /*ignore_index=*/-100, op.smoothing);
}

at::Tensor lower(const SquaredError&, const Args& in) { return at::mse_loss(in[0], in[1], at::Reduction::Sum); }

}  // namespace tbd::pytorch
