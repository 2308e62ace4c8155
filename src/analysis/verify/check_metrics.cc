// Every metric a second time, from cells and keys. Times are whole nanoseconds until the last division.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "analysis/metrics.h"
#include "analysis/verify/blocks_again.h"
#include "analysis/verify/raw.h"
#include "base/text.h"

namespace tbd {
namespace {

using Value = std::optional<double>;

struct Window {  // rows [begin, end) of a launch: the steps after warming up
  const RawLaunch* launch = nullptr;
  size_t begin = 0, end = 0;
  std::vector<int64_t> times_ns;
  int64_t ns = 0;

  using Stretches = std::vector<std::array<size_t, 2>>;
  Stretches all, undisturbed, headline;  // rows: every block, those called so, those that the throughput is taken from
  bool judged = false;                   // some block has evidence
};

struct Second {
  const RawRecord& raw;
  std::vector<Window> windows;

  int64_t ns() const;
  double seconds() const { return static_cast<double>(ns()) / 1e9; }
  int64_t steps() const;
  int64_t headline_ns() const;
  int64_t headline_steps() const;
  std::optional<int64_t> sum(std::string_view column) const;  // nullopt where a cell is empty
  std::optional<int64_t> headline_sum(std::string_view column) const;
};

int64_t Second::ns() const {
  int64_t sum = 0;
  for (const Window& w : windows) sum += w.ns;
  return sum;
}

int64_t Second::steps() const {
  int64_t sum = 0;
  for (const Window& w : windows) sum += static_cast<int64_t>(w.end - w.begin);
  return sum;
}

std::optional<int64_t> Second::sum(std::string_view column) const {
  int64_t sum = 0;
  for (const Window& w : windows)
    for (size_t i = w.begin; i < w.end; ++i) {
      const auto cell = w.launch->count(column, i);
      if (!cell) return std::nullopt;
      sum += *cell;
    }
  return steps() > 0 ? std::optional(sum) : std::nullopt;
}

int64_t ns_of(const Window& w, const Window::Stretches& stretches) {
  int64_t sum = 0;
  for (const auto& [begin, end] : stretches)
    for (size_t i = begin; i < end; ++i) sum += w.times_ns[i - w.begin];
  return sum;
}

int64_t Second::headline_ns() const {
  int64_t sum = 0;
  for (const Window& w : windows) sum += ns_of(w, w.headline);
  return sum;
}

int64_t Second::headline_steps() const {
  int64_t sum = 0;
  for (const Window& w : windows)
    for (const auto& [begin, end] : w.headline) sum += static_cast<int64_t>(end - begin);
  return sum;
}

std::optional<int64_t> Second::headline_sum(std::string_view column) const {
  int64_t sum = 0;
  for (const Window& w : windows)
    for (const auto& [begin, end] : w.headline)
      for (size_t i = begin; i < end; ++i) {
        const auto cell = w.launch->count(column, i);
        if (!cell) return std::nullopt;
        sum += *cell;
      }
  return headline_steps() > 0 ? std::optional(sum) : std::nullopt;
}

Window window_again(const RawLaunch& launch, const LaunchView& view, Basis basis,
                    const std::vector<ProbesAgain>& probes) {
  Window w{.launch = &launch};
  w.begin = view.window_begin();
  w.end = w.begin + view.window().size();
  for (size_t i = w.begin; i < w.end; ++i) {
    const auto before =
        i > 0 ? launch.count("completed_ns", i - 1) : maybe<int64_t>(launch.info, "first_step_began_ns");
    const auto now = launch.count("completed_ns", i);
    if (!before || !now) continue;
    const int64_t pause = i > 0 ? launch.count("pause_ns", i - 1).value_or(0) : 0;
    w.times_ns.push_back(*now - *before - pause);
    w.ns += w.times_ns.back();
  }
  if (w.times_ns.size() != w.end - w.begin) return w;
  for (const BlockAgain& block : blocks_again(launch, w.begin, w.times_ns, probes)) {
    w.all.push_back(block.rows);
    if (block.undisturbed) w.undisturbed.push_back(block.rows);
    w.judged = w.judged || block.judged;
  }
  w.headline = basis == Basis::total ? w.all : w.undisturbed;
  return w;
}

Second second_of(const Bench& bench) {
  Second second{bench.raw, {}};
  std::vector<ProbesAgain> probes;
  for (const RawLaunch& launch : bench.raw.launches) probes.push_back(probes_again(launch));
  for (const LaunchView& view : bench.run.launches)
    for (const RawLaunch& launch : bench.raw.launches)
      if (launch.folder == view.launch->info.folder_name())
        second.windows.push_back(window_again(launch, view, bench.run.basis, probes));
  return second;
}

Value over(const std::optional<int64_t>& numerator, double denominator) {
  if (!numerator || !(denominator > 0)) return std::nullopt;
  return static_cast<double>(*numerator) / denominator;
}

// One launch: ratio of totals. Several: geometric mean.
Value throughput_again(const Second& s, Window::Stretches Window::*steps) {
  double logarithms = 0, only = 0;
  int64_t launches = 0;
  for (const Window& w : s.windows) {
    double units = 0;
    for (const auto& [begin, end] : w.*steps)
      for (size_t i = begin; i < end; ++i) units += w.launch->number("units", i).value_or(0);
    const int64_t ns = ns_of(w, w.*steps);
    if (ns <= 0 || !(units > 0)) continue;
    only = units / (static_cast<double>(ns) / 1e9);
    logarithms += std::log(only);
    ++launches;
  }
  if (launches == 0) return std::nullopt;
  return launches == 1 ? only : std::exp(logarithms / static_cast<double>(launches));
}

Value quantile_again(const Second& s, double q) {
  std::vector<int64_t> times;
  for (const Window& w : s.windows) times.insert(times.end(), w.times_ns.begin(), w.times_ns.end());
  if (times.empty()) return std::nullopt;
  std::ranges::sort(times);
  const double rank = static_cast<double>(times.size() - 1) * q, below = std::floor(rank);
  const auto i = static_cast<size_t>(below);
  const auto low = static_cast<double>(times[i]), high = static_cast<double>(times[std::min(i + 1, times.size() - 1)]);
  return (low + (rank - below) * (high - low)) / 1e9;
}

Value undisturbed_share_again(const Second& s) {
  int64_t ns = 0;
  bool judged = false;
  for (const Window& w : s.windows) {
    ns += ns_of(w, w.undisturbed);
    judged = judged || w.judged;
  }
  return judged && s.ns() > 0 ? Value(static_cast<double>(ns) / static_cast<double>(s.ns())) : std::nullopt;
}

struct Run {
  int64_t ns = 0, steps = 0;
  double units = 0;
  double cost() const { return static_cast<double>(ns) / (units > 0 ? units : static_cast<double>(steps)); }
};

// Runs of steps of a second or more; a shorter rest counts only where there is nothing else.
std::vector<Run> second_runs(const Window& w) {
  std::vector<Run> runs;
  Run run;
  for (size_t i = 0; i < w.times_ns.size(); ++i) {
    run.ns += w.times_ns[i];
    run.units += w.launch->number("units", w.begin + i).value_or(0);
    ++run.steps;
    if (run.ns < 1'000'000'000 && !(runs.empty() && i + 1 == w.times_ns.size())) continue;
    runs.push_back(run);
    run = {};
  }
  return runs;
}

// Geometric mean of the launches' mean step times in their cheapest tenth of runs.
Value floor_again(const Second& s) {
  double logarithms = 0, launches = 0;
  for (const Window& w : s.windows) {
    std::vector<Run> runs = second_runs(w);
    if (runs.empty()) continue;
    std::ranges::sort(runs, {}, &Run::cost);
    const size_t tenth = std::max<size_t>(1, runs.size() / 10);
    int64_t ns = 0, steps = 0;
    for (size_t i = 0; i < tenth; ++i) {
      ns += runs[i].ns;
      steps += runs[i].steps;
    }
    logarithms += std::log(static_cast<double>(ns) / 1e9 / static_cast<double>(steps));
    ++launches;
  }
  return launches > 0 ? Value(std::exp(logarithms / launches)) : std::nullopt;
}

Value stable_from_again(const Second& s) {
  Value latest;
  for (const Window& w : s.windows)
    if (w.begin < w.end)
      if (const auto step = w.launch->count("step", w.begin))
        latest = std::max(latest.value_or(0), static_cast<double>(*step));
  return latest;
}

Value core_seconds_again(const Second& s) {
  double sum = 0;
  for (const Window& w : s.windows) {
    const auto cores = maybe<double>(w.launch->info, "cores");
    if (!cores || !(*cores > 0)) return std::nullopt;
    sum += *cores * static_cast<double>(w.ns) / 1e9;
  }
  return sum > 0 ? Value(sum) : std::nullopt;
}

// A fraction of whole launches, weighted by their windows.
Value of_launches(const Second& s, const char* key) {
  double weighted = 0;
  for (const Window& w : s.windows) {
    const auto fraction = maybe<double>(part(part(w.launch->info, "host"), "use"), key);
    if (!fraction) return std::nullopt;
    weighted += *fraction * static_cast<double>(w.ns);
  }
  return s.ns() > 0 ? Value(weighted / static_cast<double>(s.ns())) : std::nullopt;
}

std::optional<int64_t> cpu_ns(const Second& s) {
  const auto user = s.sum("user_cpu_ns"), system = s.sum("system_cpu_ns");
  return user && system ? std::optional(*user + *system) : std::nullopt;
}

Value cpu_again(const Second& s) {
  const Value cores = core_seconds_again(s);
  const auto used = cpu_ns(s);
  return used && cores ? over(used, *cores * 1e9) : of_launches(s, "util_cpu");
}
Value busy_cores_again(const Second& s) {
  const auto used = cpu_ns(s);
  return used && s.ns() > 0 ? over(used, static_cast<double>(s.ns())) : of_launches(s, "busy_cores");
}
Value steal_again(const Second& s) {
  const auto ticks = s.sum("steal_ticks");
  const Value cores = core_seconds_again(s);
  return ticks && cores ? over(ticks, *cores * 100) : of_launches(s, "steal_fraction");
}
Value runqueue_again(const Second& s) {
  const auto wait = s.sum("runqueue_wait_ns"), used = cpu_ns(s);
  if (!wait || !used) return of_launches(s, "runqueue_fraction");
  return over(wait, static_cast<double>(*wait + *used));
}

Value padding_again(const Second& s) {
  const auto valid = s.sum("valid"), padded = s.sum("padded");
  if (!valid || !padded || *padded == 0) return std::nullopt;
  return static_cast<double>(*padded - *valid) / static_cast<double>(*padded);
}

Value largest(const Second& s, const char* key, const char* column) {
  Value most;
  const auto raise = [&](const std::optional<int64_t>& v) {
    if (v) most = std::max(most.value_or(0), static_cast<double>(*v));
  };
  for (const Window& w : s.windows) {
    raise(maybe<int64_t>(w.launch->info, key));
    for (size_t i = 0; column && i < w.launch->rows; ++i) raise(w.launch->count(column, i));
  }
  return most;
}

int64_t flops_in(const Json& op, bool simd) {
  int64_t sum = 0;
  for (const char* direction : {"forward", "backward"}) {
    const Json cost = part(op, direction);
    sum += maybe<int64_t>(cost, "flop_model").value_or(0);
    if (simd) sum += maybe<int64_t>(cost, "flop_simd").value_or(0);
  }
  return sum;
}

// FLOPs of the rows that the headline's steps had no work for, a step on average.
double flops_of_missing_rows(const Second& s, bool simd) {
  const auto rows = s.headline_sum("rows");
  double sum = 0;
  for (const Json& op : maybe<Json>(s.raw.run, "ops").value_or(Json::array())) {
    const Json row = part(op, "row");
    const auto most = maybe<int64_t>(row, "most");
    if (!most || !rows) continue;
    const double without = static_cast<double>(*most * s.headline_steps() - *rows);
    sum += std::max(0.0, without) * static_cast<double>(flops_in(row, simd));
  }
  return sum == 0 ? 0 : sum / static_cast<double>(s.headline_steps());
}

Value flops_of_a_step(const Second& s, bool table_alone, bool simd) {
  const double missing = flops_of_missing_rows(s, simd);
  const auto train = maybe<int64_t>(s.raw.run, "train_flops");
  const auto samples = maybe<int64_t>(part(s.raw.run, "workload"), "samples_per_step");
  if (!table_alone && train && samples && *samples > 0)
    return static_cast<double>(*train) * static_cast<double>(*samples) - missing;
  const Json ops = maybe<Json>(s.raw.run, "ops").value_or(Json::array());
  if (ops.empty()) return std::nullopt;
  int64_t sum = 0;
  for (const Json& op : ops) sum += flops_in(op, simd);
  return static_cast<double>(sum) - missing;
}

// Geometric mean of the launches.
Value cpu_time_again(const Second& s) {
  double logarithms = 0, launches = 0;
  for (const Window& w : s.windows) {
    int64_t ns = 0;
    for (size_t i = w.begin; i < w.end; ++i) {
      const auto user = w.launch->count("user_cpu_ns", i), system = w.launch->count("system_cpu_ns", i);
      if (!user || !system) return std::nullopt;
      ns += *user + *system;
    }
    if (ns == 0) continue;
    logarithms += std::log(static_cast<double>(ns) / 1e9 / static_cast<double>(w.end - w.begin));
    ++launches;
  }
  return launches > 0 ? Value(std::exp(logarithms / launches)) : std::nullopt;
}

Value rate_again(const Second& s, const Value& flops) {
  if (!flops || s.headline_ns() <= 0) return std::nullopt;
  return *flops * static_cast<double>(s.headline_steps()) / (static_cast<double>(s.headline_ns()) / 1e9);
}

Value share_again(const Second& s, const Value& rate, const char* roof) {
  const auto type = maybe<std::string>(part(s.raw.run, "workload"), "precision").value_or("");
  const auto peak = maybe<double>(part(part(s.raw.run, "peaks"), roof), type.c_str());
  if (!rate || !peak || !(*peak > 0)) return std::nullopt;
  return *rate / *peak;
}

Value flop_utilization_again(const Second& s) {
  const auto type = maybe<std::string>(part(s.raw.run, "workload"), "precision").value_or("");
  return share_again(s, rate_again(s, flops_of_a_step(s, true, type == "fp32" || type == "fp64")), "isa");
}

Value energy_again(const Second& s, bool per_unit) {
  double joules = 0, units = 0;
  for (const Window& w : s.windows) {
    const bool gpu = w.launch->info.contains("gpu");
    const auto used = maybe<double>(gpu ? part(part(w.launch->info, "gpu"), "use") : w.launch->info, "energy_joules");
    const auto began = maybe<int64_t>(w.launch->info, "first_step_began_ns");
    const auto ended = w.launch->rows > 0 ? w.launch->count("completed_ns", w.launch->rows - 1) : std::nullopt;
    if (!used || !began || !ended || *ended - *began < 10'000'000'000) return std::nullopt;
    joules += *used;
    for (size_t i = 0; i < w.launch->rows; ++i) units += w.launch->number("units", i).value_or(0);
  }
  if (s.windows.empty() || (per_unit && !(units > 0))) return std::nullopt;
  return per_unit ? joules / units : joules;
}

Value median_of_launches(const Second& s, const char* key) {
  std::vector<double> values;
  for (const Window& w : s.windows)
    if (const auto value = maybe<double>(w.launch->info, key)) values.push_back(*value);
  if (values.empty()) return std::nullopt;
  std::ranges::sort(values);
  const size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// Of all launches: the sum of what the driver said of each, and the largest.
struct Told {
  double sum = 0, most = 0;
};
std::optional<Told> told_of_gpu(const Second& s, const char* key, const char* which) {
  Told told;
  for (const Window& w : s.windows) {
    const auto value = maybe<double>(part(part(part(w.launch->info, "gpu"), "use"), key), which);
    if (!value) return std::nullopt;
    told.sum += *value;
    told.most = std::max(told.most, *value);
  }
  return s.windows.empty() ? std::nullopt : std::optional(told);
}
Value gpu_mean(const Second& s, const char* key) {
  const auto told = told_of_gpu(s, key, "mean");
  return told ? Value(told->sum / static_cast<double>(s.windows.size())) : std::nullopt;
}
Value gpu_memory_again(const Second& s) {
  const auto told = told_of_gpu(s, "memory_bytes", "peak");
  return told ? Value(told->most) : std::nullopt;
}

Value step_mean_again(const Second& s) {
  return s.steps() > 0 ? Value(s.seconds() / static_cast<double>(s.steps())) : std::nullopt;
}
Value model_rate(const Second& s) { return rate_again(s, flops_of_a_step(s, false, false)); }

using Again = std::function<Value(const Second&)>;
const std::map<std::string_view, Again> kAgain = {
    {"throughput", [](const Second& s) { return throughput_again(s, &Window::headline); }},
    {"throughput_undisturbed", [](const Second& s) { return throughput_again(s, &Window::undisturbed); }},
    {"throughput_total", [](const Second& s) { return throughput_again(s, &Window::all); }},
    {"samples_per_second", [](const Second& s) { return over(s.sum("samples"), s.seconds()); }},
    {"valid_per_second", [](const Second& s) { return over(s.sum("valid"), s.seconds()); }},
    {"padded_per_second", [](const Second& s) { return over(s.sum("padded"), s.seconds()); }},
    {"padding_share", padding_again},
    {"step_time_mean", step_mean_again},
    {"step_time_min", [](const Second& s) { return quantile_again(s, 0); }},
    {"step_time_floor", floor_again},
    {"undisturbed_share", undisturbed_share_again},
    {"step_time_q1", [](const Second& s) { return quantile_again(s, 0.25); }},
    {"step_time_q3", [](const Second& s) { return quantile_again(s, 0.75); }},
    {"step_time_median", [](const Second& s) { return quantile_again(s, 0.50); }},
    {"step_time_p95", [](const Second& s) { return quantile_again(s, 0.95); }},
    {"step_time_p99", [](const Second& s) { return quantile_again(s, 0.99); }},
    {"stable_from_step", stable_from_again},
    {"cpu_utilization", cpu_again},
    {"busy_cores", busy_cores_again},
    {"cpu_time_per_step", cpu_time_again},
    {"peak_rss_bytes", [](const Second& s) { return largest(s, "peak_rss_bytes", "rss_bytes"); }},
    {"allocator_peak_bytes", [](const Second& s) { return largest(s, "allocator_peak_bytes", nullptr); }},
    {"flop_rate", model_rate},
    {"mfu", [](const Second& s) { return share_again(s, model_rate(s), "isa"); }},
    {"gemm_share", [](const Second& s) { return share_again(s, model_rate(s), "gemm"); }},
    {"flop_utilization", flop_utilization_again},
    {"input_wait", [](const Second& s) { return over(s.sum("input_wait_ns"), static_cast<double>(s.ns())); }},
    {"steal_share", steal_again},
    {"runqueue_share", runqueue_again},
    {"foreign_share", [](const Second& s) { return of_launches(s, "foreign_fraction"); }},
    {"energy_joules", [](const Second& s) { return energy_again(s, false); }},
    {"energy_per_unit", [](const Second& s) { return energy_again(s, true); }},
    {"gpu_utilization", [](const Second& s) { return gpu_mean(s, "util_gpu"); }},
    {"gpu_power", [](const Second& s) { return gpu_mean(s, "power_w"); }},
    {"gpu_clock", [](const Second& s) { return gpu_mean(s, "sm_clock_mhz"); }},
    {"gpu_memory_bytes", gpu_memory_again},
    {"device_share", [](const Second& s) { return over(s.sum("device_ns"), static_cast<double>(s.ns())); }},
    {"load_seconds", [](const Second& s) { return median_of_launches(s, "load_seconds"); }},
    {"first_step_seconds", [](const Second& s) { return median_of_launches(s, "first_step_seconds"); }}};

void check_one(const Bench& bench, const Second& second, const Metric& metric) {
  if (metric.applies && !metric.applies(bench.run.workload())) return;
  const std::string check(metric.id);
  const auto again = kAgain.find(metric.id);
  if (again == kAgain.end()) return bench.unknown(check, "there is no second implementation");
  const Measured stored = metric.compute(bench.run);
  const Value computed = again->second(second);
  if (!stored.value && !computed) return bench.unknown(check, stored.reason);
  if (!stored.value) return bench.differs(check, "absent", exact(*computed), stored.reason);
  if (!computed) return bench.differs(check, exact(*stored.value), "absent", "the raw data do not give it");
  bench.same(check, *stored.value, *computed);
}

}  // namespace

void check_metrics(const Bench& bench) {
  for (const LaunchView& launch : bench.run.launches)
    if (!launch.fault.empty()) return bench.unknown("metrics", launch.fault);
  const Second second = second_of(bench);
  for (const Metric& metric : metrics()) check_one(bench, second, metric);
}

}  // namespace tbd
