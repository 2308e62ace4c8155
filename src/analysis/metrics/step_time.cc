// Step times after warming up, launches pooled, disturbed or not. Raw times: outliers stay.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/metrics.h"
#include "stats/distributions.h"
#include "stats/summary.h"

namespace tbd {
namespace {

constexpr double kFloorBlockSeconds = 1;
constexpr double kFloorShare = 0.1;

std::vector<double> pooled(const RunView& run) {
  std::vector<double> times;
  for (const LaunchView& launch : run.launches)
    times.insert(times.end(), launch.window_times().begin(), launch.window_times().end());
  return times;
}

Measured none() { return absent("no step was measured after warming up"); }

Measured quantile_of(const RunView& run, double q) {
  const std::vector<double> times = pooled(run);
  if (times.empty()) return none();
  const Quantile quantile = quantile_with_interval(times, q);
  Measured result{.value = quantile.value, .low = {}, .high = {}, .reason = {}};
  if (quantile.interval) {
    result.low = quantile.interval->low;
    result.high = quantile.interval->high;
  }
  return result;
}

// The geometric mean of a figure that each launch has one of, with the interval of throughput between launches.
Measured between_launches(const std::vector<double>& values) {
  if (values.empty()) return none();
  std::vector<double> logs;
  for (const double value : values) logs.push_back(std::log(value));
  Measured result{.value = std::exp(mean(logs)), .low = {}, .high = {}, .reason = {}};
  if (values.size() < 2) return result;
  const double n = static_cast<double>(values.size());
  const double half = student_t_quantile(0.975, n - 1) * std::sqrt(variance(logs) * 2 / n);
  result.low = *result.value * std::exp(-half);
  result.high = *result.value * std::exp(half);
  return result;
}

struct Stretch {
  double seconds = 0, units = 0, steps = 0;
};

// Neighbouring steps that together last a second or more.
std::vector<Stretch> stretches(const LaunchView& launch) {
  std::vector<Stretch> out(1);
  for (size_t i = 0; i < launch.window_times().size(); ++i) {
    if (out.back().seconds >= kFloorBlockSeconds) out.emplace_back();
    out.back().seconds += launch.window_times()[i];
    out.back().units += launch.window()[i].units;
    ++out.back().steps;
  }
  if (out.size() > 1 && out.back().seconds < kFloorBlockSeconds) out.pop_back();
  return out;
}

// Mean step time of the fastest tenth, at least one stretch; fastest by time a unit where the units are known.
double floor_of(std::vector<Stretch> all) {
  const auto cost = [](const Stretch& s) { return s.seconds / (s.units > 0 ? s.units : s.steps); };
  std::ranges::sort(all, [&](const Stretch& a, const Stretch& b) { return cost(a) < cost(b); });
  all.resize(std::max<size_t>(1, static_cast<size_t>(kFloorShare * static_cast<double>(all.size()))));
  Stretch sum;
  for (const Stretch& s : all) sum.seconds += s.seconds, sum.steps += s.steps;
  return sum.seconds / sum.steps;
}

}  // namespace

Measured step_time_mean(const RunView& run) {
  if (run.stable_steps() == 0) return none();
  return {.value = run.seconds() / static_cast<double>(run.stable_steps())};
}
Measured step_time_min(const RunView& run) {
  const std::vector<double> times = pooled(run);
  if (times.empty()) return none();
  return {.value = *std::ranges::min_element(times)};
}
Measured step_time_q1(const RunView& run) { return quantile_of(run, 0.25); }
Measured step_time_median(const RunView& run) { return quantile_of(run, 0.50); }
Measured step_time_q3(const RunView& run) { return quantile_of(run, 0.75); }
Measured step_time_p95(const RunView& run) { return quantile_of(run, 0.95); }
Measured step_time_p99(const RunView& run) { return quantile_of(run, 0.99); }

Measured step_time_floor(const RunView& run) {
  std::vector<double> floors;
  for (const LaunchView& launch : run.launches)
    if (launch.phase.steps() > 0) floors.push_back(floor_of(stretches(launch)));
  return between_launches(floors);
}

Measured cpu_time_per_step(const RunView& run) {
  std::vector<double> seconds;
  for (const LaunchView& launch : run.launches) {
    int64_t ns = 0;
    for (const StepRow& row : launch.window()) {
      if (!row.user_cpu_ns || !row.system_cpu_ns) return absent("the worker's CPU time was not recorded");
      ns += *row.user_cpu_ns + *row.system_cpu_ns;
    }
    if (ns > 0) seconds.push_back(1e-9 * static_cast<double>(ns) / static_cast<double>(launch.phase.steps()));
  }
  if (seconds.empty()) return absent("the worker's CPU time was not recorded");
  return between_launches(seconds);
}

}  // namespace tbd
