// Series with known properties for the tests of this room: deterministic by seed.
#pragma once
#include <cmath>
#include <vector>

#include "base/philox.h"

namespace tbd::synthetic {

// AR(1) around 1 with standard deviation `sigma` of one value, started in its stationary distribution.
inline std::vector<double> ar1(int64_t n, double phi, double sigma, uint32_t repeat, uint64_t seed = 1) {
  const Philox noise(seed, "ar1", repeat);
  std::vector<double> x(static_cast<size_t>(n));
  double state = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double fresh = noise.normal(i);
    state = i == 0 ? fresh : phi * state + std::sqrt(1 - phi * phi) * fresh;
    x[i] = 1 + sigma * state;
  }
  return x;
}

// Multiplies 2 % of the values by 1.15 to 1.25.
inline void add_outliers(std::vector<double>& x, uint32_t repeat, uint64_t seed = 2) {
  const Philox random(seed, "outliers", repeat);
  for (size_t i = 0; i < x.size(); ++i)
    if (random.uniform(2 * i) < 0.02) x[i] *= 1.15 + 0.10 * random.uniform(2 * i + 1);
}

}  // namespace tbd::synthetic
