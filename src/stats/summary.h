// Step times of a stable phase in a few numbers (docs/metrics.md). Raw times: outliers stay.
#pragma once
#include <optional>

#include "stats/intervals.h"
#include "stats/series.h"

namespace tbd {

struct Quantile {
  double q = 0;
  double value = 0;
  std::optional<Interval> interval;  // 95 %, by order statistics; absent where there are too few values
  bool provisional = false;          // fewer than 5 values are expected beyond it: n (1 - q) < 5
};
Quantile quantile_with_interval(Series x, double q);

struct StepTimeSummary {
  int64_t steps = 0;
  double mean = 0, min = 0, max = 0, mad = 0;  // seconds
  Quantile p50, p95, p99;                      // seconds
  double lag1 = 0;                             // lag-1 autocorrelation
  std::optional<double> n_eff;                 // independent steps these are worth; absent below 20 steps
};
StepTimeSummary summary(Series step_times);  // Error(invalid) when empty

}  // namespace tbd
