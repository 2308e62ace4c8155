// Linear layers whose products run in oneDNN instead of the BLAS library that torch was built with. torch takes its
// BLAS for fp32 by default; which is faster depends on the processor.
#pragma once
#include <ATen/core/Tensor.h>

#include <optional>

namespace tbd::pytorch {

// For the whole process, like torch's own switches. Throws Error(unsupported) where this torch has no such op.
void linear_by_onednn(bool on);
bool is_linear_by_onednn();

// x (..., in), weight (out, in), bias (out): x weight^T + bias, differentiable once. fp32 on a CPU.
at::Tensor onednn_linear(const at::Tensor& x, const at::Tensor& weight, const std::optional<at::Tensor>& bias);

}  // namespace tbd::pytorch
