// The distribution functions that intervals and verdicts need. Absolute error below 1e-10 in every tested case.
#pragma once
#include <cstdint>

namespace tbd {

double normal_cdf(double z);
double normal_quantile(double p);  // p in (0, 1), else Error(invalid)

// Regularised incomplete beta function I_x(a, b), a, b > 0, x in [0, 1]. DLMF 8.17.
double incomplete_beta(double x, double a, double b);

// Student's t with `df` > 0 degrees of freedom, which need not be whole (Welch, Geyer).
double student_t_cdf(double t, double df);
double student_t_quantile(double p, double df);  // p in (0, 1), else Error(invalid)

// P(B <= k), B ~ Binomial(n, p); 0 for k < 0.
double binomial_cdf(int64_t k, int64_t n, double p);

}  // namespace tbd
