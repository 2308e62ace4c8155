#include "backends/mlx/gemm.h"

#include <mlx/ops.h>
#include <mlx/random.h>
#include <mlx/transforms.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "backends/mlx/tensors.h"

namespace tbd::mlx {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::optional<mx::Dtype> element_type(const Precision& precision) {
  if (precision == Precision::kFp64) return mx::float64;
  if (precision == Precision::kFp32) return mx::float32;
  if (precision == Precision::kBf16) return mx::bfloat16;
  if (precision == Precision::kFp16) return mx::float16;
  return std::nullopt;
}

double product_seconds(const array& a, const array& b) {
  const Clock::time_point start = Clock::now();
  mx::eval(mx::matmul(a, b));
  return seconds_since(start);
}

}  // namespace

std::optional<double> best_gemm_rate(const Precision& precision, double seconds) {
  const std::optional<mx::Dtype> type = element_type(precision);
  if (!type) return std::nullopt;
  double best = 0;
  for (const int size : {512, 1024, 2048}) {
    const array a = mx::astype(mx::random::normal({size, size}), *type);
    const array b = mx::astype(mx::random::normal({size, size}), *type);
    mx::eval(a, b);
    const Clock::time_point begin = Clock::now();
    do {
      best = std::max(best, 2.0 * std::pow(size, 3) / product_seconds(a, b));
    } while (seconds_since(begin) < seconds / 3);
    if (seconds_since(begin) > seconds) break;  // a slow BLAS: a larger one takes eight times as long
  }
  return best;
}

}  // namespace tbd::mlx
