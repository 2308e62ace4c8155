#include "stats/summary.h"

#include <algorithm>

#include "base/error.h"

namespace tbd {

Quantile quantile_with_interval(Series x, double q) {
  const bool provisional = static_cast<double>(x.size()) * (1 - q) < 5;
  return {q, quantile(x, q), quantile_interval(x, q), provisional};
}

StepTimeSummary summary(Series step_times) {
  require(!step_times.empty(), "no step times to summarise");
  StepTimeSummary s{.steps = static_cast<int64_t>(step_times.size()), .mean = mean(step_times)};
  const auto [least, most] = std::minmax_element(step_times.begin(), step_times.end());
  s.min = *least;
  s.max = *most;
  s.mad = mad(step_times);
  s.p50 = quantile_with_interval(step_times, 0.50);
  s.p95 = quantile_with_interval(step_times, 0.95);
  s.p99 = quantile_with_interval(step_times, 0.99);
  s.lag1 = lag1_autocorrelation(step_times);
  if (s.steps >= 20) s.n_eff = half_width(step_times).n_eff;
  return s;
}

}  // namespace tbd
