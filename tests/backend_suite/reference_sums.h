// How a step is held against the numbers that a public implementation gave for it.
#pragma once
#include <cmath>
#include <string>

#include "backend_suite/support.h"

namespace tbd {

// Relative, of loss terms and of norms of gradients: as far as weights that were rounded to single precision allow.
inline constexpr double kTermBound = 1e-7, kGradientBound = 1e-6;

inline double norm_of(const HostTensor& tensor) {
  double sum = 0;
  for (const double x : as_doubles(tensor)) sum += x * x;
  return std::sqrt(sum);
}
inline double sum_of(const HostTensor& tensor) {
  double sum = 0;
  for (const double x : as_doubles(tensor)) sum += x;
  return sum;
}
inline double magnitudes(const HostTensor& tensor) {
  double sum = 0;
  for (const double x : as_doubles(tensor)) sum += std::abs(x);
  return sum;
}
inline void expect_near(double actual, double expected, double relative, const std::string& what) {
  EXPECT_NEAR(actual, expected, relative * std::abs(expected)) << what;
}

}  // namespace tbd
