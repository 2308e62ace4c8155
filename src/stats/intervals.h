// Intervals of 95 % for throughput and for quantiles (docs/statistics.md).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stats/series.h"

namespace tbd {

struct Interval {
  double low = 0, high = 0;
  double width() const { return high - low; }
  bool contains(double value) const { return low <= value && value <= high; }
};

// How far the mean of a series of residuals may be off.
struct HalfWidth {
  double value = 0;  // seconds
  double n_eff = 0;  // values that independent ones would need to be as many as: n c_0 / v
};
// The wider of ten batch means and Geyer's initial monotone sequence; n >= 20, else Error(invalid).
// Geyer 1992, Statistical Science 7(4), section 3.3. Batch means: Schmeiser 1982, Operations Research 30(3).
HalfWidth half_width(Series residuals);

// Units per second over the steps of one launch's stable phase.
struct Throughput {
  double value = 0;                  // ratio of totals: sum of units / sum of times
  std::optional<Interval> interval;  // absent for one step, or where it has no upper end
  double half_width = 0;             // of the mean step time, seconds; 0 where there is no interval
  double n_eff = 0;
  double lag1 = 0;  // lag-1 autocorrelation of the residuals
  int64_t steps = 0;
  // "short" (fewer than 100 steps), "assumed-correlation" (fewer than 20: phi = 0.5 is assumed), "one-step",
  // "unbounded" (the half-width reaches the mean step time).
  std::vector<std::string> flags;
};
// Times in seconds, positive; units of each step. Throws Error(invalid) on an empty phase or unequal lengths.
Throughput throughput(Series step_times, Series units);
Throughput throughput(Series step_times, double units_per_step);

// What several launches of one workload say together, and what as many launches of another run will say: the intervals
// are for the mean of as many further launches (Hahn & Meeker 1991, Statistical Intervals, 4.8), sqrt(2) times as wide
// as those for the mean alone.
struct AcrossLaunches {
  double value = 0;                  // geometric mean
  std::optional<Interval> interval;  // Student's t on the logarithms: value * exp(-+ t s sqrt(2 / L))
  std::optional<double> cv;          // s, the standard deviation of the logarithms
  std::optional<double> t;           // t_{0.975, L - 1}
};
// One positive figure of each launch; the optional members are absent for one launch. Throws Error(invalid) without
// any.
AcrossLaunches across_launches(Series values);

struct LaunchesThroughput {
  double value = 0;                  // geometric mean of the launches; one launch: its own value
  std::optional<Interval> interval;  // the wider of the two below; one launch: its own, within one process
  std::optional<Interval> within;    // from the launches' own half-widths, taken as independent
  std::optional<Interval> across;    // Student's t on ln X: value * exp(-+ t s sqrt(2 / L)); absent for one launch
  std::optional<double> launch_cv;   // s, the standard deviation of ln X; absent for one launch
  std::optional<double> t;           // t_{0.975, L - 1}; absent for one launch
  int64_t launches = 0;
  std::string label;  // "one launch", "5 launches"
  // Half of the interval over the value; absent where the interval is.
  std::optional<double> half_width() const;
};
// Throws Error(invalid) without launches.
LaunchesThroughput combined(const std::vector<Throughput>& launches);

// Interval of at least 95 % for quantile `q` by order statistics of independent values, distribution-free (David &
// Nagaraja 2003, Order Statistics, 7.1). Absent where n is too small for both ends to exist.
std::optional<Interval> quantile_interval(Series x, double q);

}  // namespace tbd
