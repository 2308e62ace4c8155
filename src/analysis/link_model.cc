// The unknowns are few, so the solution is looked for on each set of unknowns that may be above 0: the best one is
// among the plain least-squares solutions on these sets.
#include "analysis/link_model.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "base/philox.h"
#include "stats/series.h"

namespace tbd {
namespace {

constexpr double kFast = 0.1;      // quantile
constexpr double kSlowFactor = 2;  // of the lower decile
constexpr uint32_t kResamples = 400;
constexpr size_t kLeastSizes = 3;  // a line through fewer has no error

std::vector<double> seconds_of_times(const LinkTimes& times) {
  std::vector<double> out;
  for (const int64_t ns : times.times_ns) out.push_back(1e-9 * static_cast<double>(ns));
  return out;
}

// At position (n + 1) / 10 of the ascending times, which is right on average (Hyndman & Fan 1996, The American
// Statistician 50(4), definition 6); the (n - 1) / 10 of quantile() is too high by more than the law's interval.
double lower_decile(Series times) {
  const auto n = static_cast<double>(times.size());
  return quantile(times, n > 1 ? std::max(0.0, ((n + 1) * kFast - 1) / (n - 1)) : 0);
}

// One size of one sweep: what it took, and how often it takes each parameter.
struct FittedSize {
  DType dtype = DType::f32;
  int64_t bytes = 0;
  Algorithm algorithm;
  std::vector<double> times;
  double fast = 0;
};

// Which unknown is which column.
struct Columns {
  bool beta = false;
  std::vector<DType> types;
  size_t first_type() const { return beta ? 2 : 1; }
  size_t count() const { return first_type() + types.size(); }
};

std::vector<FittedSize> observations_of(std::span<const LinkSweep> sweeps) {
  std::vector<FittedSize> out;
  for (const LinkSweep& sweep : sweeps)
    for (const LinkTimes& size : sweep.sizes) {
      require(sweep.engine == sweeps.front().engine, "a law holds for one engine, got ", sweeps.front().engine, " and ",
              sweep.engine);
      FittedSize& each = out.emplace_back(
          FittedSize{size.dtype, size.bytes, algorithm_of(sweep.engine, sweep.workers), seconds_of_times(size)});
      each.fast = lower_decile(each.times);
    }
  return out;
}

Columns columns_of(const std::vector<FittedSize>& observations) {
  std::set<DType> types;
  std::set<double> wires;
  for (const FittedSize& each : observations) {
    types.insert(each.dtype);
    wires.insert(each.algorithm.wire);
  }
  return {.beta = wires.size() > 1, .types = {types.begin(), types.end()}};
}

std::vector<double> uses(const FittedSize& each, const Columns& columns) {
  std::vector<double> row(columns.count());
  const auto bytes = static_cast<double>(each.bytes);
  row[0] = each.algorithm.steps;
  if (columns.beta) row[1] = each.algorithm.wire * bytes;
  const auto type = std::ranges::find(columns.types, each.dtype) - columns.types.begin();
  row[columns.first_type() + static_cast<size_t>(type)] = bytes;
  return row;
}

std::vector<double> parameters_of(const std::vector<FittedSize>& observations, const Columns& columns) {
  std::vector<std::vector<double>> rows;
  for (const FittedSize& each : observations) {
    rows.push_back(uses(each, columns));
    for (double& value : rows.back()) value /= each.fast;
  }
  return non_negative_solution(rows);
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

std::vector<FittedSize> resampled(std::vector<FittedSize> observations, const Philox& random) {
  uint64_t index = 0;
  for (FittedSize& each : observations) {
    const std::vector<double> all = each.times;
    const auto count = static_cast<double>(all.size());
    for (double& time : each.times) time = all[static_cast<size_t>(random.uniform(index++) * count)];
    each.fast = lower_decile(each.times);
  }
  return observations;
}

std::vector<LinkEstimate> estimates_of(const std::vector<FittedSize>& observations, const Columns& columns,
                                       const std::vector<double>& values, uint64_t seed) {
  std::vector<std::vector<double>> drawn(values.size());
  for (uint32_t resample = 0; resample < kResamples; ++resample) {
    const std::vector<double> again = parameters_of(resampled(observations, Philox(seed, "link", resample)), columns);
    for (size_t i = 0; i < again.size(); ++i) drawn[i].push_back(again[i]);
  }
  std::vector<LinkEstimate> out;
  for (size_t i = 0; i < values.size(); ++i)
    out.push_back({values[i], {quantile(drawn[i], 0.025), quantile(drawn[i], 0.975)}});
  return out;
}

LinkModel model_of(std::span<const LinkSweep> sweeps, const Columns& columns,
                   const std::vector<LinkEstimate>& estimates) {
  LinkModel out{.engine = sweeps.front().engine, .workers = {}, .alpha = estimates[0], .beta = {}, .gamma = {}};
  std::set<int64_t> workers;
  for (const LinkSweep& sweep : sweeps) workers.insert(sweep.workers);
  out.workers.assign(workers.begin(), workers.end());
  if (columns.beta) out.beta = estimates[1];
  for (size_t i = 0; i < columns.types.size(); ++i) out.gamma[columns.types[i]] = estimates[columns.first_type() + i];
  return out;
}

// Of the solution of G x = b with these unknowns alone; empty where they make up each other or one is below 0.
std::vector<double> solution_on(const std::vector<size_t>& chosen, const std::vector<std::vector<double>>& gram,
                                const std::vector<double>& right) {
  constexpr double kSingular = 1e-10;  // of columns scaled to length 1
  const size_t n = chosen.size();
  std::vector<std::vector<double>> a(n, std::vector<double>(n + 1));
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) a[i][j] = gram[chosen[i]][chosen[j]];
    a[i][n] = right[chosen[i]];
  }
  for (size_t i = 0; i < n; ++i) {  // positive definite: no pivoting
    if (a[i][i] < kSingular) return {};
    for (size_t below = i + 1; below < n; ++below) {
      const double factor = a[below][i] / a[i][i];
      for (size_t j = i; j <= n; ++j) a[below][j] -= factor * a[i][j];
    }
  }
  std::vector<double> x(n);
  for (size_t i = n; i-- > 0;) {
    double sum = a[i][n];
    for (size_t j = i + 1; j < n; ++j) sum -= a[i][j] * x[j];
    x[i] = sum / a[i][i];
    if (x[i] < 0) return {};
  }
  return x;
}

std::string rate_text(double seconds_per_byte) {
  return seconds_per_byte > 0 ? cat(format_bytes(std::llround(1 / seconds_per_byte)), "/s") : "no limit that shows";
}

}  // namespace

Algorithm ring_of(int64_t workers) {
  const auto n = static_cast<double>(workers);
  return {.steps = 2 * (n - 1), .wire = 2 * (n - 1) / n};
}

Algorithm algorithm_of(std::string_view engine, int64_t workers) {
  return engine == "kvstore" ? Algorithm{.steps = 2, .wire = 1, .goes_both_ways = true} : ring_of(workers);
}

LinkFigures figures_of(const LinkTimes& times, const Algorithm& algorithm) {
  const std::vector<double> seconds = seconds_of_times(times);
  LinkFigures out{.fast = lower_decile(seconds), .median = median(seconds)};
  const auto slow = std::ranges::count_if(seconds, [&](double each) { return each > kSlowFactor * out.fast; });
  out.slow_share = static_cast<double>(slow) / static_cast<double>(seconds.size());
  out.algbw = static_cast<double>(times.bytes) / out.fast;
  out.busbw = out.algbw * algorithm.wire;
  if (times.busy_ns) out.busy = 1e-9 * static_cast<double>(*times.busy_ns);
  return out;
}

std::vector<double> non_negative_solution(const std::vector<std::vector<double>>& rows) {
  const size_t n = rows.front().size();
  std::vector<double> length(n), right(n);
  std::vector<std::vector<double>> gram(n, std::vector<double>(n));
  for (size_t i = 0; i < n; ++i) {
    for (const auto& row : rows) length[i] += row[i] * row[i];
    length[i] = length[i] > 0 ? std::sqrt(length[i]) : 1;
  }
  for (size_t i = 0; i < n; ++i)
    for (const auto& row : rows) {
      right[i] += row[i] / length[i];
      for (size_t j = 0; j < n; ++j) gram[i][j] += row[i] / length[i] * (row[j] / length[j]);
    }
  std::vector<double> best(n);
  double best_gain = 0;  // by how much the sum of squares is below that of x = 0
  for (size_t set = 1; set < size_t{1} << n; ++set) {
    std::vector<size_t> chosen;
    for (size_t i = 0; i < n; ++i)
      if (set >> i & 1) chosen.push_back(i);
    const std::vector<double> x = solution_on(chosen, gram, right);
    double gain = 0;
    for (size_t i = 0; i < x.size(); ++i) gain += x[i] * right[chosen[i]];
    if (gain <= best_gain * (1 + 1e-12)) continue;
    best_gain = gain;
    best.assign(n, 0);
    for (size_t i = 0; i < x.size(); ++i) best[chosen[i]] = x[i] / length[chosen[i]];
  }
  return best;
}

LinkFit fit_link(std::span<const LinkSweep> sweeps, uint64_t seed) {
  const std::vector<FittedSize> observations = observations_of(sweeps);
  const Columns columns = columns_of(observations);
  std::map<DType, std::set<int64_t>> sizes;
  for (const FittedSize& each : observations) sizes[each.dtype].insert(each.bytes);
  for (const auto& [dtype, different] : sizes)
    if (different.size() < kLeastSizes)
      return {
          .model = {},
          .withheld = cat("A law needs ", kLeastSizes, " sizes of each type, and there ",
                          different.size() == 1 ? "is " : "are ", different.size(), " of ", exchanged_name(dtype), "."),
          .worst_residual = {}};
  if (observations.empty()) return {.model = {}, .withheld = "Nothing was measured.", .worst_residual = {}};
  const std::vector<double> values = parameters_of(observations, columns);
  const auto residual = [&](const FittedSize& each) { return dot(uses(each, columns), values) / each.fast - 1; };
  const FittedSize& worst =
      *std::ranges::max_element(observations, {}, [&](const auto& each) { return std::abs(residual(each)); });
  LinkFit fit{.model = {}, .withheld = {}, .worst_residual = std::abs(residual(worst))};
  if (*fit.worst_residual <= kWorstResidual)
    fit.model = model_of(sweeps, columns, estimates_of(observations, columns, values, seed));
  else
    fit.withheld = cat("No straight line describes these times: for ", format_bytes(worst.bytes), " of ",
                       exchanged_name(worst.dtype), " the best one is ", format_percent(*fit.worst_residual),
                       residual(worst) > 0 ? " above" : " below", " what was measured, and ",
                       format_percent(kWorstResidual), " is the most that is let pass.");
  return fit;
}

std::optional<double> LinkModel::seconds(DType dtype, int64_t bytes, int64_t n) const {
  const auto type = gamma.find(dtype);
  if (type == gamma.end()) return std::nullopt;
  const Algorithm algorithm = algorithm_of(engine, n);
  if (!beta && algorithm.wire != algorithm_of(engine, workers.front()).wire) return std::nullopt;
  const double slope = type->second.value + (beta ? beta->value * algorithm.wire : 0);
  return alpha.value * algorithm.steps + slope * static_cast<double>(bytes);
}

std::string link_sentence(const LinkFit& fit) {
  if (!fit.model) return fit.withheld;
  const LinkModel& model = *fit.model;
  const Algorithm algorithm = algorithm_of(model.engine, model.workers.front());
  std::vector<std::string> rates;
  for (const auto& [dtype, gamma] : model.gamma)
    rates.push_back(cat("S / ", rate_text(gamma.value + (model.beta ? model.beta->value * algorithm.wire : 0)), " in ",
                        exchanged_name(dtype)));
  const std::string line =
      cat("Between ", model.workers.front(), " workers S bytes take ",
          format_seconds(model.alpha.value * algorithm.steps), " + ", join(rates, ", "), "; no size is more than ",
          format_percent(std::max(0.001, *fit.worst_residual)), " off.");
  if (model.beta) return line;
  return cat(line,
             " One number of workers does not tell the wire (beta) from the adding (gamma): the slope is of both.");
}

}  // namespace tbd
