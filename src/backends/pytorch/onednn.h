// Mode eager-onednn: matrix products in oneDNN instead of the BLAS library that torch was built with, and what else an
// op does another way there. torch takes its BLAS for fp32 by default; which is faster depends on the processor.
#pragma once
#include <ATen/core/Tensor.h>

#include <optional>

namespace tbd::pytorch {

// For the whole process, like torch's own switches. Throws Error(unsupported) where this torch has no such product.
void prefer_onednn(bool on);
bool prefers_onednn();
// Whether it is preferred for products of x: of fp32 on a CPU, not empty.
bool by_onednn(const at::Tensor& x);

// x (..., in), weight (out, in), bias (out): x weight^T + bias. fp32 on a CPU.
at::Tensor onednn_linear(const at::Tensor& x, const at::Tensor& weight, const std::optional<at::Tensor>& bias);
// a (B, M, K), b (B, K, N): a b. fp32 on a CPU.
at::Tensor onednn_bmm(const at::Tensor& a, const at::Tensor& b);

}  // namespace tbd::pytorch
