#include "backends/pytorch/gemm.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/randn.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <chrono>
#include <cmath>

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

constexpr double kRowSeconds = 0.01;  // of products between two waits for a GPU: far more than a wait takes

double best_rate(int64_t size, at::ScalarType type, double seconds, const at::Device& device) {
  const auto options = at::TensorOptions(at::kFloat).device(device);
  const at::Tensor a = at::randn({size, size}, options).to(type), b = at::randn({size, size}, options).to(type);
  at::Tensor product = at::mm(a, b);  // warms up: packing buffers, kernels chosen
  const auto row_seconds = [&](int64_t products) {
    synchronize(device);
    const Clock::time_point start = Clock::now();
    for (int64_t i = 0; i < products; ++i) at::mm_out(product, a, b);
    synchronize(device);
    return seconds_since(start);
  };
  const int64_t products = device.is_cpu() ? 1 : std::max<int64_t>(1, std::llround(kRowSeconds / row_seconds(1)));
  const double flops = 2.0 * std::pow(static_cast<double>(size), 3) * static_cast<double>(products);
  double best = 0;
  const Clock::time_point begin = Clock::now();
  do {
    best = std::max(best, flops / row_seconds(products));
  } while (seconds_since(begin) < seconds);
  return best;
}

}  // namespace

std::optional<double> best_gemm_rate(const Precision& precision, double seconds, const at::Device& device) {
  const std::optional<at::ScalarType> type = element_type(precision);
  if (!type) return std::nullopt;
  const at::NoGradGuard no_grad;
  const int64_t smallest = device.is_cpu() ? 512 : 2048;
  double best = 0;
  for (const int64_t size : {smallest, 2 * smallest, 4 * smallest}) {
    try {
      best = std::max(best, best_rate(size, *type, seconds / 3, device));
    } catch (const c10::OutOfMemoryError&) {
      if (best == 0) throw;
      break;
    }
  }
  return best;
}

}  // namespace tbd::pytorch
