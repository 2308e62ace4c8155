// What is composed in double, against the C library.
#include "backends/mlx/double_math.h"

#include <gtest/gtest.h>
#include <mlx/ops.h>
#include <mlx/transforms.h>

#include <cmath>
#include <functional>

#include "backends/mlx/tensors.h"

namespace tbd::mlx {
namespace {

constexpr int kPlaces = 401;

// From -10 to 10.
std::vector<double> places() {
  std::vector<double> out;
  for (int i = 0; i < kPlaces; ++i) out.push_back(i / 20.0 - 10);
  return out;
}

HostTensor over_places(const std::function<array(const array&)>& function) {
  const std::vector<double> x = places();
  return to_host(function(to_array(HostTensor(DType::f64, {kPlaces}, std::span<const double>(x)), DType::f64)));
}

// Each value by its own size where that is above `floor`.
void expect_equal(const std::function<array(const array&)>& ours, double (*expected)(double), double floor) {
  const std::vector<double> x = places(), y = as_doubles(over_places(ours));
  for (size_t i = 0; i < x.size(); ++i) {
    const double truth = expected(x[i]);
    EXPECT_NEAR(y[i], truth, 4e-15 * std::max(std::abs(truth), floor)) << x[i];
  }
}

TEST(DoubleMath, IsDouble) {
  expect_equal(
      exact_exp, [](double x) { return std::exp(x); }, 0);
  expect_equal(
      exact_erf, [](double x) { return std::erf(x); }, 0);
  expect_equal(
      exact_sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, 1);
  expect_equal(
      softplus, [](double x) { return std::log1p(std::exp(x)); }, 1);
}

TEST(DoubleMath, ErfHasItsSlope) {
  const auto slope = [](const array& x) {
    return mx::grad([](const array& each) { return mx::sum(exact_erf(each)); })(x);
  };
  expect_equal(
      slope, [](double x) { return 2 / std::sqrt(M_PI) * std::exp(-x * x); }, 1e-10);
}

TEST(DoubleMath, SumsOfExponentialsDoNotOverflow) {
  const HostTensor large(DType::f64, {2}, std::span<const double>(std::vector<double>{1000, 1000}));
  const array x = to_array(large, DType::f64);
  EXPECT_DOUBLE_EQ(as_doubles(to_host(exact_log_sum(x, false))).front(), 1000 + std::log(2.0));
  EXPECT_DOUBLE_EQ(as_doubles(to_host(exact_softmax(x))).front(), 0.5);
}

}  // namespace
}  // namespace tbd::mlx
