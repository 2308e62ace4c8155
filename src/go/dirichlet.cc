#include "go/dirichlet.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"

namespace tbd::go {
namespace {

double uniform_above_zero(RandomWords& words) { return 1 - (words.word() >> 8) * 0x1p-24; }

double normal(RandomWords& words) {  // Box-Muller
  const double radius = std::sqrt(-2 * std::log(uniform_above_zero(words)));
  return radius * std::cos(2 * std::numbers::pi * uniform_above_zero(words));
}

double log_gamma_of_one_or_more(double alpha, RandomWords& words) {
  const double d = alpha - 1. / 3, c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = normal(words), root = 1 + c * x;
    const double log_u = std::log(uniform_above_zero(words));
    if (root <= 0) continue;
    const double v = root * root * root;
    if (log_u < x * x / 2 + d - d * v + d * std::log(v)) return std::log(d * v);
  }
}

}  // namespace

double log_gamma_draw(double alpha, RandomWords& words) {
  require(alpha > 0, "the parameter of a gamma distribution is above 0, got ", alpha);
  if (alpha >= 1) return log_gamma_of_one_or_more(alpha, words);
  const double larger = log_gamma_of_one_or_more(alpha + 1, words);
  return larger + std::log(uniform_above_zero(words)) / alpha;
}

std::vector<double> dirichlet(double alpha, size_t count, RandomWords& words) {
  std::vector<double> drawn;
  for (size_t i = 0; i < count; ++i) drawn.push_back(log_gamma_draw(alpha, words));
  const double largest = std::ranges::max(drawn);
  double sum = 0;
  for (double& value : drawn) {
    value = std::exp(value - largest);
    sum += value;
  }
  for (double& value : drawn) value /= sum;
  return drawn;
}

}  // namespace tbd::go
