// Plain descriptions of a series of numbers: no model behind them. All throw Error(invalid) on an empty series.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace tbd {

using Series = std::span<const double>;

double mean(Series x);
double variance(Series x);  // unbiased (n - 1); 0 for one value
double median(Series x);
double quantile(Series x, double q);         // linear interpolation at (n - 1) q, q in [0, 1]
double quantile_sorted(Series x, double q);  // the same for ascending x
double mad(Series x);                        // median |x - median x|, not scaled
// c_k = 1/n sum (x_i - mean)(x_{i+k} - mean): the biased autocovariance; 0 for k >= n.
double autocovariance(Series x, int64_t lag);
// c_1 / c_0; 0 for a constant series, whose steps tell nothing of each other.
double lag1_autocorrelation(Series x);

}  // namespace tbd
