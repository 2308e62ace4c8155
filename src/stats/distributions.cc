#include "stats/distributions.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"

namespace tbd {
namespace {

// The continued fraction of I_x(a, b), DLMF 8.17.22, by the modified Lentz method. Fast for x < (a + 1) / (a + b + 2).
double beta_fraction(double x, double a, double b) {
  constexpr double kTiny = 1e-300;
  constexpr int kMostTerms = 10'000;
  const auto nonzero = [](double v) { return std::abs(v) < kTiny ? kTiny : v; };
  double c = 1, d = 1 / nonzero(1 - (a + b) * x / (a + 1)), value = d;
  const auto multiply = [&](double term) {
    d = 1 / nonzero(1 + term * d);
    c = nonzero(1 + term / c);
    value *= c * d;
    return std::abs(c * d - 1);
  };
  for (int m = 1; m < kMostTerms; ++m) {
    multiply(m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)));
    if (multiply(-(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))) < 1e-15) break;
  }
  return value;
}

// lgamma(a) without the global sign that std::lgamma writes: arguments here are positive.
double log_gamma(double a) {
  int sign = 0;
  return ::lgamma_r(a, &sign);
}

double student_t_density(double t, double df) {
  const double log_norm = log_gamma((df + 1) / 2) - log_gamma(df / 2) - 0.5 * std::log(df * std::numbers::pi);
  return std::exp(log_norm - (df + 1) / 2 * std::log1p(t * t / df));
}

}  // namespace

double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

// Newton steps on the tail from the median outwards: the tail is convex there, so each iterate stays inside the root
// and they approach it without overshooting.
double normal_quantile(double p) {
  require(p > 0 && p < 1, "a quantile needs a probability between 0 and 1, got ", p);
  const double tail = std::min(p, 1 - p);
  double z = 0;
  for (int i = 0; i < 200; ++i) {
    const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
    const double step = (normal_cdf(-z) - tail) / density;
    z += step;
    if (std::abs(step) < 1e-14 * (1 + z)) break;
  }
  return p < 0.5 ? -z : z;
}

double incomplete_beta(double x, double a, double b) {
  require(a > 0 && b > 0, "the incomplete beta function needs positive parameters, got ", a, " and ", b);
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incomplete_beta(1 - x, b, a);
  const double log_front = log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * std::log(x) + b * std::log1p(-x);
  return std::exp(log_front) * beta_fraction(x, a, b) / a;
}

double student_t_cdf(double t, double df) {
  require(df > 0, "Student's t needs positive degrees of freedom, got ", df);
  const double tail = 0.5 * incomplete_beta(df / (df + t * t), df / 2, 0.5);
  return t > 0 ? 1 - tail : tail;
}

// As normal_quantile; the normal quantile lies inside Student's, so it is a safe start.
double student_t_quantile(double p, double df) {
  require(p > 0 && p < 1, "a quantile needs a probability between 0 and 1, got ", p);
  const double tail = std::min(p, 1 - p), z = std::abs(normal_quantile(p));
  double t = df < 5 ? z : z + (z * z * z + z) / (4 * df);
  for (int i = 0; i < 500; ++i) {
    const double step = (student_t_cdf(-t, df) - tail) / student_t_density(t, df);
    t += step;
    if (std::abs(step) < 1e-13 * (1 + std::abs(t))) break;
  }
  return p < 0.5 ? -t : t;
}

double binomial_cdf(int64_t k, int64_t n, double p) {
  if (k < 0) return 0;
  if (k >= n) return 1;
  return incomplete_beta(1 - p, static_cast<double>(n - k), static_cast<double>(k + 1));
}

}  // namespace tbd
