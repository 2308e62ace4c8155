#include "stats/distributions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "base/error.h"

namespace tbd {
namespace {

TEST(StudentT, QuantilesAgreeWithTheTables) {
  // DLMF and every printed table: p = 0.975 and 0.9.
  EXPECT_NEAR(student_t_quantile(0.975, 4), 2.7764451052, 1e-9);
  EXPECT_NEAR(student_t_quantile(0.975, 9), 2.2621571628, 1e-9);
  EXPECT_NEAR(student_t_quantile(0.975, 30), 2.0422724563, 1e-9);
  EXPECT_NEAR(student_t_quantile(0.90, 8), 1.3968153097, 1e-9);
}

TEST(StudentT, HasTheClosedFormsOfOneAndTwoDegreesOfFreedom) {
  for (const double p : {0.5001, 0.6, 0.9, 0.975, 0.999, 0.999999}) {
    const double a = 2 * p - 1;
    EXPECT_NEAR(student_t_quantile(p, 1) / std::tan(std::numbers::pi * (p - 0.5)), 1, 1e-9) << p;
    EXPECT_NEAR(student_t_quantile(p, 2) / (a * std::sqrt(2 / (1 - a * a))), 1, 1e-9) << p;
  }
}

TEST(StudentT, QuantileInvertsTheDistributionForFractionalDegreesOfFreedom) {
  for (const double df : {0.7, 1.0, 1.3, 2.5, 4.0, 6.6, 17.2, 250.0, 1e5})
    for (const double p : {0.001, 0.025, 0.3, 0.5, 0.77, 0.975, 0.9995})
      EXPECT_NEAR(student_t_cdf(student_t_quantile(p, df), df), p, 1e-11) << df << " " << p;
}

TEST(StudentT, ApproachesTheNormal) { EXPECT_NEAR(student_t_quantile(0.975, 1e7), normal_quantile(0.975), 1e-6); }

TEST(Normal, QuantileIsKnownAndInvertsTheDistribution) {
  EXPECT_NEAR(normal_quantile(0.975), 1.9599639845, 1e-10);
  for (const double p : {1e-8, 0.01, 0.5, 0.9, 1 - 1e-8}) EXPECT_NEAR(normal_cdf(normal_quantile(p)) / p, 1, 1e-9);
}

TEST(Binomial, DistributionAgreesWithTheSumOfItsTerms) {
  for (const double q : {0.05, 0.5, 0.95}) {
    double sum = 0;
    for (int k = 0; k <= 30; ++k) {
      sum += std::exp(std::lgamma(31) - std::lgamma(k + 1) - std::lgamma(31 - k)) * std::pow(q, k) *
             std::pow(1 - q, 30 - k);
      EXPECT_NEAR(binomial_cdf(k, 30, q), sum, 1e-11) << k << " " << q;
    }
  }
  EXPECT_EQ(binomial_cdf(-1, 30, 0.5), 0);
}

TEST(Quantiles, RefuseAProbabilityOutsideTheOpenInterval) {
  EXPECT_THROW(student_t_quantile(1, 5), Error);
  EXPECT_THROW(normal_quantile(0), Error);
  EXPECT_THROW(student_t_cdf(1, 0), Error);
}

}  // namespace
}  // namespace tbd
