#include "backends/pytorch/gemm.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/randn.h>

#include <algorithm>
#include <chrono>

#include "backends/pytorch/tensors.h"

namespace tbd::pytorch {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::optional<at::ScalarType> element_type(const Precision& precision) {
  if (precision == Precision::kFp64) return at::kDouble;
  if (precision == Precision::kFp32 || precision == Precision::kTf32) return at::kFloat;
  if (precision == Precision::kBf16) return at::kBFloat16;
  if (precision == Precision::kFp16) return at::kHalf;
  return std::nullopt;
}

double best_rate(int64_t size, at::ScalarType type, double seconds, const at::Device& device) {
  const auto options = at::TensorOptions(at::kFloat).device(device);
  const at::Tensor a = at::randn({size, size}, options).to(type), b = at::randn({size, size}, options).to(type);
  at::Tensor product = at::mm(a, b);  // warms up: packing buffers, kernels chosen
  synchronize(device);
  const double flops = 2.0 * static_cast<double>(size) * static_cast<double>(size) * static_cast<double>(size);
  double best = 0;
  const Clock::time_point begin = Clock::now();
  do {
    const Clock::time_point start = Clock::now();
    at::mm_out(product, a, b);
    synchronize(device);
    best = std::max(best, flops / seconds_since(start));
  } while (seconds_since(begin) < seconds);
  return best;
}

}  // namespace

std::optional<double> best_gemm_rate(const Precision& precision, double seconds, const at::Device& device) {
  const std::optional<at::ScalarType> type = element_type(precision);
  if (!type) return std::nullopt;
  const at::NoGradGuard no_grad;
  double best = 0;
  for (const int64_t size : {512, 1024, 2048}) best = std::max(best, best_rate(size, *type, seconds / 3, device));
  return best;
}

}  // namespace tbd::pytorch
