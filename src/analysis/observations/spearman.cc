#include "analysis/observations/spearman.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"

namespace tbd {

std::vector<double> ranks(std::span<const double> values, double epsilon) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t i) { return values[i]; });
  std::vector<double> out(values.size());
  for (size_t first = 0; first < order.size();) {
    size_t end = first + 1;
    while (end < order.size() && values[order[end]] <= (1 + epsilon) * values[order[first]]) ++end;
    const double shared = static_cast<double>(first + 1 + end) / 2;
    for (size_t i = first; i < end; ++i) out[order[i]] = shared;
    first = end;
  }
  return out;
}

double spearman(std::span<const double> x, std::span<const double> y, double epsilon) {
  require(x.size() == y.size() && x.size() >= 2, "a correlation needs two values on each side, got ", x.size(), " and ",
          y.size());
  const std::vector<double> a = ranks(x), b = ranks(y, epsilon);
  const double mean = static_cast<double>(x.size() + 1) / 2;
  double both = 0, of_a = 0, of_b = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    both += (a[i] - mean) * (b[i] - mean);
    of_a += (a[i] - mean) * (a[i] - mean);
    of_b += (b[i] - mean) * (b[i] - mean);
  }
  return of_a > 0 && of_b > 0 ? both / std::sqrt(of_a * of_b) : 0;
}

}  // namespace tbd
