#include "go/dirichlet.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/error.h"

namespace tbd::go {
namespace {

// Mean 1 / k and variance (1 / k)(1 - 1 / k) / (k alpha + 1) of each part.
TEST(Dirichlet, HasItsMeanAndVariance) {
  RandomWords words(5, "test/dirichlet");
  for (const double alpha : {0.03, 0.4332, 1., 3.}) {
    constexpr size_t kParts = 10, kDraws = 20000;
    double sum = 0, squares = 0;
    for (size_t i = 0; i < kDraws; ++i) {
      const std::vector<double> parts = dirichlet(alpha, kParts, words);
      EXPECT_NEAR(std::accumulate(parts.begin(), parts.end(), 0.), 1, 1e-12);
      sum += parts[3];
      squares += parts[3] * parts[3];
    }
    const double mean = sum / kDraws, variance = squares / kDraws - mean * mean;
    const double expected = 0.09 / (kParts * alpha + 1);
    EXPECT_NEAR(mean, 0.1, 5 * std::sqrt(expected / kDraws)) << alpha;
    EXPECT_NEAR(variance, expected, 0.1 * expected) << alpha;
  }
  EXPECT_THROW(dirichlet(0, 3, words), Error);
}

}  // namespace
}  // namespace tbd::go
