#include "runner/equivalence/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tbd {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

double distance(double a, double b) {
  if (a == b) return 0;
  const double d = std::abs(a - b);
  return std::isnan(d) ? kInfinite : d;
}

void require_same_shape(const HostTensor& a, const HostTensor& b) {
  require(a.shape() == b.shape(), "shape ", a.shape(), " in place of ", b.shape());
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

std::vector<int64_t> index_of(int64_t flat, const Shape& shape) {
  std::vector<int64_t> index(static_cast<size_t>(shape.rank()));
  for (int64_t axis = shape.rank() - 1; axis >= 0; --axis) {
    index[static_cast<size_t>(axis)] = flat % shape[axis];
    flat /= shape[axis];
  }
  return index;
}

}  // namespace

WorstElement worst_element(const HostTensor& got, const HostTensor& expected) {
  require_same_shape(got, expected);
  const std::vector<double> x = as_doubles(got), y = as_doubles(expected);
  size_t worst = 0;
  double most = -1;
  for (size_t i = 0; i < x.size(); ++i)
    if (const double d = distance(x[i], y[i]); d > most) {
      most = d;
      worst = i;
    }
  if (x.empty()) return {};
  return {index_of(static_cast<int64_t>(worst), got.shape()), x[worst], y[worst]};
}

double largest(const HostTensor& tensor) {
  double most = 0;
  for (const double x : as_doubles(tensor)) most = std::max(most, std::abs(x));
  return most;
}

double norm(const HostTensor& tensor) {
  const std::vector<double> x = as_doubles(tensor);
  return std::sqrt(dot(x, x));
}

double largest_difference(const HostTensor& a, const HostTensor& b) {
  require_same_shape(a, b);
  const std::vector<double> x = as_doubles(a), y = as_doubles(b);
  double most = 0;
  for (size_t i = 0; i < x.size(); ++i) most = std::max(most, distance(x[i], y[i]));
  return most;
}

double relative_error(const HostTensor& got, const HostTensor& expected) {
  require_same_shape(got, expected);
  const std::vector<double> x = as_doubles(got), y = as_doubles(expected);
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) sum += distance(x[i], y[i]) * distance(x[i], y[i]);
  const double size = dot(y, y);
  return std::sqrt(size == 0 ? sum : sum / size);
}

double factor(const HostTensor& got, const HostTensor& expected) {
  require_same_shape(got, expected);
  const std::vector<double> y = as_doubles(expected);
  return dot(as_doubles(got), y) / dot(y, y);
}

double fitted_factor(const std::vector<double>& x, const std::vector<double>& y) { return dot(x, y) / dot(y, y); }

}  // namespace tbd
