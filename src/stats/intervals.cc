#include "stats/intervals.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/text.h"
#include "stats/distributions.h"

namespace tbd {
namespace {

constexpr double kUpper = 0.975;  // both sides together: 95 %
constexpr int64_t kBatches = 10;

double batch_means_half_width(Series e) {
  const size_t size = e.size() / kBatches;
  std::vector<double> means;
  for (size_t b = 0; b < kBatches; ++b) means.push_back(mean(e.subspan(b * size, size)));
  return student_t_quantile(kUpper, kBatches - 1) * std::sqrt(variance(means) / kBatches);
}

// Long-run variance: pairs of autocovariances for as long as they are positive, none counted above the one before.
double geyer_variance(Series e, double c0) {
  double sum = 0, least = INFINITY;
  for (int64_t lag = 0; lag + 1 < static_cast<int64_t>(e.size()); lag += 2) {
    least = std::min(least, autocovariance(e, lag) + autocovariance(e, lag + 1));
    if (least <= 0) break;
    sum += least;
  }
  return std::max(-c0 + 2 * sum, 0.2 * c0);
}

// Between 2 and 19 values: Student's t widened by sqrt((1 + phi) / (1 - phi)), phi = 0.5.
HalfWidth few_steps_half_width(Series e) {
  const double n = static_cast<double>(e.size());
  const double s = std::sqrt(variance(e));
  return {std::sqrt(3.0) * student_t_quantile(kUpper, n - 1) * s / std::sqrt(n), n / 3};
}

// The interval of X from a relative half-width of the mean step time; absent where its upper end is not finite.
std::optional<Interval> rate_interval(double rate, double relative) {
  if (!(relative < 1)) return std::nullopt;
  return Interval{rate / (1 + relative), rate / (1 - relative)};
}

void add_interval(Throughput& x, Series e, double mean_time) {
  x.n_eff = 1;
  if (x.steps < 100) x.flags.push_back("short");
  if (x.steps == 1) return x.flags.push_back("one-step");
  if (x.steps < 20) x.flags.push_back("assumed-correlation");
  const HalfWidth h = x.steps < 20 ? few_steps_half_width(e) : half_width(e);
  x.n_eff = h.n_eff;
  x.interval = rate_interval(x.value, h.value / mean_time);
  if (x.interval)
    x.half_width = h.value;
  else
    x.flags.push_back("unbounded");
}

}  // namespace

HalfWidth half_width(Series residuals) {
  require(residuals.size() >= 20, "batch means need 20 residuals, got ", residuals.size());
  const double n = static_cast<double>(residuals.size());
  const double c0 = autocovariance(residuals, 0);
  if (c0 == 0) return {0, n};
  const double v = geyer_variance(residuals, c0);
  const double n_eff = n * c0 / v;
  const double geyer = student_t_quantile(kUpper, std::max(1.0, n_eff - 1)) * std::sqrt(v / n);
  return {std::max(batch_means_half_width(residuals), geyer), n_eff};
}

Throughput throughput(Series step_times, Series units) {
  require(!step_times.empty(), "no step to take a throughput from");
  require(step_times.size() == units.size(), units.size(), " unit counts for ", step_times.size(), " steps");
  const double time = std::accumulate(step_times.begin(), step_times.end(), 0.0);
  const double work = std::accumulate(units.begin(), units.end(), 0.0);
  require(time > 0 && work > 0, "throughput needs work and time, got ", work, " units in ", time, " s");
  Throughput x{.value = work / time, .steps = static_cast<int64_t>(step_times.size())};
  std::vector<double> residuals(step_times.begin(), step_times.end());
  for (size_t i = 0; i < residuals.size(); ++i) residuals[i] -= units[i] / x.value;
  x.lag1 = lag1_autocorrelation(residuals);
  add_interval(x, residuals, time / static_cast<double>(x.steps));
  return x;
}

Throughput throughput(Series step_times, double units_per_step) {
  return throughput(step_times, std::vector<double>(step_times.size(), units_per_step));
}

AcrossLaunches across_launches(Series values) {
  require(!values.empty(), "no launch to take a mean of");
  std::vector<double> logs;
  for (const double value : values) logs.push_back(std::log(value));
  AcrossLaunches all{.value = std::exp(mean(logs))};
  if (values.size() < 2) return all;
  const double n = static_cast<double>(values.size());
  all.cv = std::sqrt(variance(logs));
  all.t = student_t_quantile(kUpper, n - 1);
  const double h = *all.t * *all.cv * std::sqrt(2 / n);
  all.interval = Interval{all.value * std::exp(-h), all.value * std::exp(h)};
  return all;
}

LaunchesThroughput combined(const std::vector<Throughput>& launches) {
  require(!launches.empty(), "no launch to combine");
  const auto count = static_cast<int64_t>(launches.size());
  if (count == 1) {
    const Throughput& only = launches.front();
    return {
        .value = only.value, .interval = only.interval, .within = only.interval, .launches = 1, .label = "one launch"};
  }
  const double n = static_cast<double>(count);
  std::vector<double> values;
  double squares = 0;
  bool bounded = true;
  for (const Throughput& x : launches) {
    values.push_back(x.value);
    bounded = bounded && x.interval.has_value();
    // half-width / mean step time = value / low - 1
    if (x.interval) squares += std::pow(x.value / x.interval->low - 1, 2);
  }
  const AcrossLaunches across = across_launches(values);
  LaunchesThroughput all{.value = across.value,
                         .across = across.interval,
                         .launch_cv = across.cv,
                         .t = across.t,
                         .launches = count,
                         .label = cat(count, " launches")};
  if (bounded) all.within = rate_interval(all.value, std::sqrt(2 * squares) / n);
  all.interval = all.within && all.within->width() > all.across->width() ? all.within : all.across;
  return all;
}

std::optional<double> LaunchesThroughput::half_width() const {
  if (!interval || !(value > 0)) return std::nullopt;
  return interval->width() / 2 / value;
}

// The interval [x_(l), x_(u)] (ranks from 1) covers with probability P(l <= B < u), B ~ Binomial(n, q): the largest l
// with P(B < l) <= 2.5 % and the smallest u with P(B >= u) <= 2.5 %.
std::optional<Interval> quantile_interval(Series x, double q) {
  require(q > 0 && q < 1, "a quantile lies between 0 and 1, got ", q);
  const auto n = static_cast<int64_t>(x.size());
  const double tail = 1 - kUpper;
  const auto rank_where = [&](double p) {  // least k in [0, n] with P(B <= k) > p
    int64_t low = 0, high = n;
    while (low < high) {
      const int64_t k = (low + high) / 2;
      if (binomial_cdf(k, n, q) > p)
        high = k;
      else
        low = k + 1;
    }
    return low;
  };
  const int64_t lower = rank_where(tail);    // P(B < lower) <= 2.5 %
  int64_t upper = rank_where(1 - tail) + 1;  // P(B < upper) > 97.5 %
  if (lower < 1 || upper > n) return std::nullopt;
  std::vector<double> sorted(x.begin(), x.end());
  std::sort(sorted.begin(), sorted.end());
  return Interval{sorted[static_cast<size_t>(lower - 1)], sorted[static_cast<size_t>(upper - 1)]};
}

}  // namespace tbd
