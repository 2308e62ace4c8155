#include "stats/compare.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "base/error.h"
#include "stats/distributions.h"

namespace tbd {
namespace {

std::vector<double> logs_of(Series x) {
  require(!x.empty(), "a comparison needs at least one launch on each side");
  std::vector<double> logs;
  for (const double v : x) {
    require(std::isfinite(v) && v > 0, "a throughput is positive, got ", v);
    logs.push_back(std::log(v));
  }
  return logs;
}

std::optional<double> pooled_sd(Series a, Series b) {
  const double df_a = static_cast<double>(a.size()) - 1, df_b = static_cast<double>(b.size()) - 1;
  if (df_a + df_b < 1) return std::nullopt;
  return std::sqrt((df_a * variance(a) + df_b * variance(b)) / (df_a + df_b));
}

// t_{0.975} + t_{0.9} standard errors: what a difference must span to be found with 90 % power.
double detectable_log(double sd, double launches_a, double launches_b, bool paired) {
  if (sd == 0) return 0;
  const double df = paired ? launches_a - 1 : launches_a + launches_b - 2;
  return (student_t_quantile(0.975, df) + student_t_quantile(0.9, df)) * sd *
         std::sqrt(1 / launches_a + 1 / launches_b);
}

// From 3 on, at most kMostLaunches + 1; detectable_log falls with their number.
int64_t least_launches(double room, double sd, bool paired) {
  int64_t low = 3, high = kMostLaunches + 1;
  while (low < high) {
    const int64_t launches = (low + high) / 2;
    const double each = static_cast<double>(launches);
    if (detectable_log(sd, each, each, paired) <= room)
      high = launches;
    else
      low = launches + 1;
  }
  return low;
}

// Interval and p-value from the standard error of ln value.
void set_interval(Ratio& r, double error, double freedom) {
  if (error == 0) {
    r.interval = Interval{r.value, r.value};
    return;
  }
  const double difference = std::log(r.value), h = student_t_quantile(0.975, freedom) * error;
  r.interval = Interval{std::exp(difference - h), std::exp(difference + h)};
  r.p_value = 2 * student_t_cdf(-std::abs(difference) / error, freedom);
  r.error = error;
  r.freedom = freedom;
}

double change_found(double sd, int64_t launches_a, int64_t launches_b, bool paired, double margin) {
  return std::expm1(std::log1p(margin) +
                    detectable_log(sd, static_cast<double>(launches_a), static_cast<double>(launches_b), paired));
}

// Pairs in which a's value is higher, ties as one half.
double u_statistic(Series a, Series b) {
  double u = 0;
  for (const double x : a)
    for (const double y : b) u += x > y ? 1 : x == y ? 0.5 : 0;
  return u;
}

// Sum of t^3 - t over groups of t equal values.
double tie_correction(Series a, Series b) {
  std::vector<double> all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  std::sort(all.begin(), all.end());
  double sum = 0;
  for (auto first = all.begin(); first != all.end();) {
    const auto last = std::upper_bound(first, all.end(), *first);
    const double t = static_cast<double>(last - first);
    sum += t * t * t - t;
    first = last;
  }
  return sum;
}

// P(U <= u) when all orders are equally likely. ways[j][v]: how often j values of `a` among the first i make U = v;
// value i counts the values of `b` below it, which are i - j.
double exact_tail(size_t na, size_t nb, double u) {
  std::vector<std::vector<double>> ways(na + 1, std::vector<double>(na * nb + 1, 0.0));
  ways[0][0] = 1;
  for (size_t i = 0; i < na + nb; ++i)
    for (size_t j = std::min(i + 1, na); j > 0; --j) {
      const size_t below = i - (j - 1);
      if (below > nb) continue;
      for (size_t v = below; v <= na * nb; ++v) ways[j][v] += ways[j - 1][v - below];
    }
  const std::vector<double>& all = ways[na];
  const double total = std::accumulate(all.begin(), all.end(), 0.0);
  return std::accumulate(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(u) + 1, 0.0) / total;
}

}  // namespace

std::string_view name(Verdict verdict) {
  switch (verdict) {
    case Verdict::faster:
      return "faster";
    case Verdict::slower:
      return "slower";
    case Verdict::same:
      return "same";
    case Verdict::undecided:
      break;
  }
  return "undecided";
}

std::string_view name(Direction direction) {
  switch (direction) {
    case Direction::a_higher:
      return "A higher";
    case Direction::b_higher:
      return "B higher";
    case Direction::none:
      break;
  }
  return "-";
}

Ratio ratio(Series a, Series b) {
  const std::vector<double> ya = logs_of(a), yb = logs_of(b);
  const double na = static_cast<double>(a.size()), nb = static_cast<double>(b.size());
  const double difference = mean(ya) - mean(yb);
  Ratio r{.value = std::exp(difference),
          .sd = pooled_sd(ya, yb),
          .launches_a = static_cast<int64_t>(a.size()),
          .launches_b = static_cast<int64_t>(b.size())};
  if (a.size() < 2 || b.size() < 2) return r;
  const double va = variance(ya) / na, vb = variance(yb) / nb;
  const double least = va * va / (na - 1) + vb * vb / (nb - 1);
  set_interval(r, std::sqrt(va + vb), least == 0 ? 0 : (va + vb) * (va + vb) / least);
  return r;
}

Ratio paired_ratio(Series a, Series b) {
  require(a.size() == b.size(), "pairs need as many launches on both sides, got ", a.size(), " and ", b.size());
  const std::vector<double> ya = logs_of(a), yb = logs_of(b);
  std::vector<double> differences(ya.size());
  std::ranges::transform(ya, yb, differences.begin(), std::minus<>());
  const auto pairs = static_cast<int64_t>(a.size());
  Ratio r{.value = std::exp(mean(differences)), .launches_a = pairs, .launches_b = pairs, .paired = true};
  if (pairs < 2) return r;
  const double spread = std::sqrt(variance(differences));
  r.sd = spread / std::sqrt(2.0);
  set_interval(r, spread / std::sqrt(static_cast<double>(pairs)), static_cast<double>(pairs) - 1);
  return r;
}

std::optional<double> margin_p_value(const Ratio& ratio, double margin) {
  if (!ratio.error || !ratio.freedom) return std::nullopt;
  const double beyond = std::abs(std::log(ratio.value)) - std::log1p(margin);
  return std::min(1.0, 2 * student_t_cdf(-beyond / *ratio.error, *ratio.freedom));
}

Verdict verdict(const Ratio& ratio, double margin) {
  if (!ratio.interval || std::min(ratio.launches_a, ratio.launches_b) < kFewestLaunches) return Verdict::undecided;
  const auto [low, high] = *ratio.interval;
  if (low > 1 + margin) return Verdict::faster;
  if (high < 1 / (1 + margin)) return Verdict::slower;
  if (low >= 1 / (1 + margin) && high <= 1 + margin) return Verdict::same;
  return Verdict::undecided;
}

Direction direction(const Ratio& ratio) {
  if (!ratio.interval || ratio.interval->contains(1)) return Direction::none;
  return ratio.value > 1 ? Direction::a_higher : Direction::b_higher;
}

Verdict confirmed_in_cycles(Verdict in_time, Verdict in_cycles) {
  const bool differs = in_time == Verdict::faster || in_time == Verdict::slower;
  return differs && in_time != in_cycles ? Verdict::undecided : in_time;
}

double detectable_change(double sd, int64_t launches_a, int64_t launches_b, double margin) {
  require(launches_a + launches_b > 2 && launches_a > 0 && launches_b > 0, "power needs three launches, got ",
          launches_a, " and ", launches_b);
  return change_found(sd, launches_a, launches_b, false, margin);
}

int64_t launches_to_find(double change, double sd, bool paired, double margin) {
  return least_launches(std::log1p(change) - std::log1p(margin), sd, paired);
}

// Outside the margin the difference must reach past it; inside, the interval must fit between the ratio and the margin.
// |ln r| stands for both directions, so that swapping A and B needs the same launches.
Power power(const Ratio& ratio, double margin) {
  if (!ratio.sd) return {};
  const double room = std::abs(std::abs(std::log(ratio.value)) - std::log1p(margin));
  return {change_found(*ratio.sd, ratio.launches_a, ratio.launches_b, ratio.paired, margin),
          least_launches(room, *ratio.sd, ratio.paired)};
}

namespace {

Comparison compared(const Ratio& ratio, double margin) {
  return {.ratio = ratio,
          .verdict = verdict(ratio, margin),
          .direction = direction(ratio),
          .power = power(ratio, margin),
          .mann_whitney_p = {}};
}

}  // namespace

Comparison compare(Series a, Series b, double margin) {
  Comparison c = compared(ratio(a, b), margin);
  if (a.size() >= 9 && b.size() >= 9) c.mann_whitney_p = mann_whitney_p(a, b);
  return c;
}

Comparison compare(const ClockedLaunches& a, const ClockedLaunches& b, double margin) {
  Comparison in_time = compare(a.rates, b.rates, margin);
  const auto is_clocked = [](const ClockedLaunches& side) { return side.clocks.size() == side.rates.size(); };
  if (!is_clocked(a) || !is_clocked(b)) return in_time;
  const auto per_cycle = [](const ClockedLaunches& side) {
    std::vector<double> rates(side.rates.begin(), side.rates.end());
    for (size_t i = 0; i < rates.size(); ++i) rates[i] /= side.clocks[i];
    return rates;
  };
  const Verdict confirmed = confirmed_in_cycles(in_time.verdict, compare(per_cycle(a), per_cycle(b), margin).verdict);
  in_time.made_by_clock = confirmed != in_time.verdict;
  in_time.verdict = confirmed;
  return in_time;
}

Comparison compare_pairs(Series a, Series b, double margin) { return compared(paired_ratio(a, b), margin); }

std::vector<bool> discoveries(Series p_values, double rate) {
  std::vector<size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t i, size_t j) { return p_values[i] < p_values[j]; });
  size_t rejected = 0;
  for (size_t k = 0; k < order.size(); ++k)
    if (p_values[order[k]] <= rate * static_cast<double>(k + 1) / static_cast<double>(order.size())) rejected = k + 1;
  std::vector<bool> found(p_values.size(), false);
  for (size_t k = 0; k < rejected; ++k) found[order[k]] = true;
  return found;
}

std::string_view name(CounterVerdict verdict) {
  switch (verdict) {
    case CounterVerdict::changed:
      return "changed";
    case CounterVerdict::varies:
      return "varies";
    case CounterVerdict::unchanged:
      break;
  }
  return "unchanged";
}

CounterVerdict compare_counters(std::span<const int64_t> a, std::span<const int64_t> b) {
  require(!a.empty() && !b.empty(), "a counter needs a value on each side");
  const auto varies = [](std::span<const int64_t> x) {
    return std::any_of(x.begin(), x.end(), [&](int64_t v) { return v != x.front(); });
  };
  if (varies(a) || varies(b)) return CounterVerdict::varies;
  return a.front() == b.front() ? CounterVerdict::unchanged : CounterVerdict::changed;
}

double mann_whitney_p(Series a, Series b) {
  require(!a.empty() && !b.empty(), "a Mann-Whitney test needs values on both sides");
  const double na = static_cast<double>(a.size()), nb = static_cast<double>(b.size()), n = na + nb;
  const double u = std::min(u_statistic(a, b), u_statistic(b, a)), ties = tie_correction(a, b);
  if (ties == 0 && na * nb <= 2'500) return std::min(1.0, 2 * exact_tail(a.size(), b.size(), u));
  const double sd = std::sqrt(na * nb / 12 * (n + 1 - ties / (n * (n - 1))));
  if (sd == 0) return 1;
  return std::min(1.0, 2 * normal_cdf(std::min(0.0, u + 0.5 - na * nb / 2) / sd));
}

}  // namespace tbd
