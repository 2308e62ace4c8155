#include "stats/series.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"

namespace tbd {
namespace {

void require_some(Series x) { require(!x.empty(), "no values to describe"); }

}  // namespace

double mean(Series x) {
  require_some(x);
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

double variance(Series x) {
  if (x.size() < 2) {
    require_some(x);
    return 0.0;
  }
  const double centre = mean(x);
  double sum = 0;
  for (const double v : x) sum += (v - centre) * (v - centre);
  return sum / static_cast<double>(x.size() - 1);
}

double median(Series x) {
  require_some(x);
  std::vector<double> copy(x.begin(), x.end());
  const auto middle = copy.begin() + static_cast<std::ptrdiff_t>(copy.size() / 2);
  std::nth_element(copy.begin(), middle, copy.end());
  if (copy.size() % 2 == 1) return *middle;
  return 0.5 * (*middle + *std::max_element(copy.begin(), middle));
}

double quantile_sorted(Series x, double q) {
  require_some(x);
  require(q >= 0 && q <= 1, "a quantile lies between 0 and 1, got ", q);
  const double position = q * static_cast<double>(x.size() - 1);
  const auto below = static_cast<size_t>(position);
  const size_t above = std::min(below + 1, x.size() - 1);
  return x[below] + (position - static_cast<double>(below)) * (x[above] - x[below]);
}

double quantile(Series x, double q) {
  std::vector<double> sorted(x.begin(), x.end());
  std::sort(sorted.begin(), sorted.end());
  return quantile_sorted(sorted, q);
}

double mad(Series x) {
  const double centre = median(x);
  std::vector<double> distance(x.begin(), x.end());
  for (double& v : distance) v = std::abs(v - centre);
  return median(distance);
}

double autocovariance(Series x, int64_t lag) {
  const double centre = mean(x);
  double sum = 0;
  for (size_t i = static_cast<size_t>(lag); i < x.size(); ++i)
    sum += (x[i] - centre) * (x[i - static_cast<size_t>(lag)] - centre);
  return sum / static_cast<double>(x.size());
}

double lag1_autocorrelation(Series x) {
  const double c0 = autocovariance(x, 0);
  return c0 > 0 ? autocovariance(x, 1) / c0 : 0;
}

}  // namespace tbd
