// The focal loss with a gradient of its own: autograd would keep several maps of the logits' size for each of its
// parts, this keeps the logits alone. Both passes go through blocks of rows, beside which they make the gradient alone.
#pragma once
#include <ATen/core/Tensor.h>

#include "graph/ops/sigmoid_focal.h"

namespace tbd::pytorch {

// logits (..., K), classes (...): a scalar, differentiable once.
at::Tensor focal_loss(const SigmoidFocal& op, const at::Tensor& logits, const at::Tensor& classes);

}  // namespace tbd::pytorch
