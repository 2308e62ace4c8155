// Step times of the stable phase, launches pooled. Raw times: outliers stay.
#include "analysis/metrics.h"
#include "stats/summary.h"

namespace tbd {
namespace {

std::vector<double> pooled(const RunView& run) {
  std::vector<double> times;
  for (const LaunchView& launch : run.launches)
    times.insert(times.end(), launch.window_times().begin(), launch.window_times().end());
  return times;
}

Measured quantile_of(const RunView& run, double q) {
  const std::vector<double> times = pooled(run);
  if (times.empty()) return absent("no stable step was measured");
  const Quantile quantile = quantile_with_interval(times, q);
  Measured result{.value = quantile.value, .low = {}, .high = {}, .reason = {}};
  if (quantile.interval) {
    result.low = quantile.interval->low;
    result.high = quantile.interval->high;
  }
  return result;
}

}  // namespace

Measured step_time_mean(const RunView& run) {
  if (run.stable_steps() == 0) return absent("no stable step was measured");
  return {.value = run.seconds() / static_cast<double>(run.stable_steps())};
}
Measured step_time_median(const RunView& run) { return quantile_of(run, 0.50); }
Measured step_time_p95(const RunView& run) { return quantile_of(run, 0.95); }
Measured step_time_p99(const RunView& run) { return quantile_of(run, 0.99); }

}  // namespace tbd
