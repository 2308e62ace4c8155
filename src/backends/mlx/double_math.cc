#include "backends/mlx/double_math.h"

#include <mlx/ops.h>
#include <mlx/transforms.h>

#include <cmath>
#include <numbers>

namespace tbd::mlx {
namespace {

namespace mx = ::mlx::core;

bool is_double(const array& x) { return x.dtype() == mx::float64; }
array f64(double value) { return array(value, mx::float64); }

// 2 / sqrt(pi) exp(-x^2) sum of 2^n x^(2n + 1) / (1 3 5 ... (2n + 1)): all terms of one sign. Beyond 6 it is 1 in
// double.
array erf_series(const array& given) {
  constexpr int kTerms = 140;
  const array x = mx::clip(given, f64(-6), f64(6)), twice = mx::multiply(f64(2), mx::square(x));
  array term = x, sum = x;
  for (int n = 1; n < kTerms; ++n) {
    term = mx::divide(mx::multiply(term, twice), f64(2 * n + 1));
    sum = mx::add(sum, term);
  }
  return mx::multiply(mx::multiply(f64(2 * std::numbers::inv_sqrtpi), exact_exp(mx::negative(mx::square(x)))), sum);
}

}  // namespace

// The number e to the power x.
array exact_exp(const array& x) { return is_double(x) ? mx::power(f64(std::numbers::e), x) : mx::exp(x); }

array exact_erf(const array& x) {
  if (!is_double(x)) return mx::erf(x);
  const auto slope = [](const std::vector<array>& primals, const std::vector<array>& upstream,
                        const std::vector<array>&) {
    const array bell = exact_exp(mx::negative(mx::square(primals[0])));
    return std::vector{mx::multiply(upstream[0], mx::multiply(f64(2 * std::numbers::inv_sqrtpi), bell))};
  };
  const auto value = [](const std::vector<array>& in) { return std::vector{erf_series(in[0])}; };
  return mx::custom_vjp(value, slope)({x}).front();
}

array exact_sigmoid(const array& x) {
  if (!is_double(x)) return mx::sigmoid(x);
  const array half = f64(0.5);
  return mx::multiply(half, mx::add(f64(1), mx::tanh(mx::multiply(half, x))));
}

array exact_softmax(const array& x) {
  if (!is_double(x)) return mx::softmax(x, -1, /*precise=*/true);
  const array powers = exact_exp(mx::subtract(x, mx::stop_gradient(mx::max(x, -1, true))));
  return mx::divide(powers, mx::sum(powers, -1, true));
}

array exact_log_sum(const array& x, bool keep_axis) {
  if (!is_double(x)) return mx::logsumexp(x, -1, keep_axis);
  const array greatest = mx::stop_gradient(mx::max(x, -1, true));
  const array sum = mx::add(mx::log(mx::sum(exact_exp(mx::subtract(x, greatest)), -1, true)), greatest);
  return keep_axis ? sum : mx::squeeze(sum, -1);
}

array softplus(const array& x) {
  const array zero = mx::zeros_like(x);
  if (!is_double(x)) return mx::logaddexp(x, zero);
  return exact_log_sum(mx::stack({x, zero}, -1), /*keep_axis=*/false);
}

}  // namespace tbd::mlx
