// Step times after warming up, launches pooled, disturbed or not. Raw times: outliers stay.
#include <algorithm>

#include "analysis/metric_parts.h"
#include "base/text.h"
#include "stats/intervals.h"
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

Measured quantile_of(const RunView& run, double q) {
  const std::vector<double> times = pooled(run);
  if (times.empty()) return not_measured();
  const Quantile quantile = quantile_with_interval(times, q);
  Measured result{.value = quantile.value, .low = {}, .high = {}, .reason = {}};
  if (quantile.interval) {
    result.low = quantile.interval->low;
    result.high = quantile.interval->high;
  }
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
  for (const Stretch& s : all) {
    sum.seconds += s.seconds;
    sum.steps += s.steps;
  }
  return sum.seconds / sum.steps;
}

Measured step_time_mean(const RunView& run) {
  if (run.stable_steps() == 0) return not_measured();
  return {.value = run.seconds() / static_cast<double>(run.stable_steps())};
}
Measured step_time_min(const RunView& run) {
  const std::vector<double> times = pooled(run);
  if (times.empty()) return not_measured();
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

void quantile_facts(const RunView& run, Facts& facts) {
  std::vector<double> times = pooled(run);
  std::ranges::sort(times);
  add_totals(run, facts);
  const auto n = static_cast<double>(times.size());
  for (const double q : {0.5, 0.95, 0.99}) {
    if (times.empty()) return;
    const double rank = (n - 1) * q;
    const auto below = static_cast<size_t>(rank);
    const size_t above = std::min(below + 1, times.size() - 1);
    facts.push_back({cat("rank of quantile ", q), rank, "", "(n - 1) q, of sorted times, counted from 0"});
    facts.push_back({cat("time at rank ", below), times[below], "s", "sorted step times after warming up"});
    facts.push_back({cat("time at rank ", above), times[above], "s", "sorted step times after warming up"});
  }
}

// A quantile of the raw step times.
constexpr Metric quantile_row(std::string_view id, std::string_view title, std::string_view what,
                              std::string_view formula, Measured (*compute)(const RunView&),
                              void (*inputs)(const RunView&, Facts&) = nullptr) {
  return {.id = id,
          .title = title,
          .group = MetricGroup::step_time,
          .unit = Unit::seconds,
          .unit_text = "s",
          .what = what,
          .formula = formula,
          .counts = "Raw times: outliers stay.",
          .how = kStamps,
          .source = "David and Nagaraja 2003, Order Statistics, 7.1 (interval).",
          .limits =
              "Interval between two order statistics whose ranks follow from the binomial distribution; it takes "
              "steps as independent. Absent where so few steps have no such ranks.",
          .gate = MetricGate::timed,
          .inputs = inputs,
          .compute = compute};
}

constexpr Metric kStepTimeMetrics[] = {
    {.id = "step_time_mean",
     .title = "step time, mean",
     .group = MetricGroup::step_time,
     .unit = Unit::seconds,
     .unit_text = "s",
     .what = "Length of the stable phase over its steps.",
     .formula = "sum of step times / steps",
     .counts = "Raw times: outliers stay.",
     .how = kStamps,
     .limits = "Throughput times this is the mean number of units of a step.",
     .gate = MetricGate::timed,
     .inputs = add_totals,
     .compute = step_time_mean},
    {.id = "step_time_min",
     .title = "step time, least",
     .group = MetricGroup::step_time,
     .unit = Unit::seconds,
     .unit_text = "s",
     .what = "The fastest step after warming up.",
     .formula = "least step time",
     .counts = "Raw times after warming up, launches pooled.",
     .how = kStamps,
     .limits = "One lucky step; for what lasts see step_time_floor.",
     .gate = MetricGate::timed,
     .compute = step_time_min},
    {.id = "step_time_floor",
     .title = "step time, sustained floor",
     .group = MetricGroup::step_time,
     .unit = Unit::seconds,
     .unit_text = "s",
     .what = "Mean step time in the fastest tenth of stretches of a second or more; geometric mean of the launches.",
     .formula = "mean of the fastest tenth of stretches of a second or more",
     .counts = "Launches: geometric mean. Steps of unlike work are ordered by their time per unit.",
     .how = kStamps,
     .limits = "What the machine gives when nothing else asks, if that lasted a second: biased low by the choice.",
     .gate = MetricGate::timed,
     .compute = step_time_floor},
    quantile_row("step_time_q1", "step time, first quartile", "25 % quantile of the raw step times, launches pooled.",
                 "quantile 0.25 at rank (n - 1) q", step_time_q1),
    quantile_row("step_time_median", "step time, median",
                 "Median of the raw step times after warming up, launches pooled.", "quantile 0.5 at rank (n - 1) q",
                 step_time_median, quantile_facts),
    quantile_row("step_time_q3", "step time, third quartile", "75 % quantile of the same.",
                 "quantile 0.75 at rank (n - 1) q", step_time_q3),
    quantile_row("step_time_p95", "step time, p95", "95 % quantile of the same, by linear interpolation.",
                 "quantile 0.95 at rank (n - 1) q", step_time_p95, quantile_facts),
    quantile_row("step_time_p99", "step time, p99", "99 % quantile of the same, by linear interpolation.",
                 "quantile 0.99 at rank (n - 1) q", step_time_p99, quantile_facts),
};

}  // namespace

std::span<const Metric> step_time_metrics() { return kStepTimeMetrics; }

}  // namespace tbd
