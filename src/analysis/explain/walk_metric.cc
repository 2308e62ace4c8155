#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/explain/walk.h"
#include "analysis/throughput.h"
#include "base/json.h"
#include "base/text.h"
#include "stats/summary.h"

namespace tbd {
namespace {

using StepColumn = std::optional<int64_t> StepRow::*;

std::string file(const LaunchView& launch, const char* name) {
  return cat("launches/", launch.launch->info.folder_name(), "/", name);
}

void add_totals(const RunView& run, Facts& facts) {
  facts.push_back({"stable steps, all launches", run.stable_steps(), "", "sum of the above"});
  facts.push_back({"sum of step times", run.seconds(), "s", "sum of the above"});
}

void add_column(const char* name, const char* unit, StepColumn column, const RunView& run, Facts& facts) {
  facts.push_back(
      {cat("sum of ", name, " over stable steps"), known(total(run, column)), unit, cat("steps.csv: ", name)});
}

void add_interval(const RunView& run, Facts& facts) {
  const CellThroughput cell = cell_throughput(run);
  for (size_t i = 0; i < cell.launches.size(); ++i) {
    const Throughput& x = cell.launches[i];
    const std::string of = cat("launch ", i + 1, ": ");
    facts.push_back({of + "X", x.value, "units/s", "sum of units / sum of step times, of the basis"});
    facts.push_back({of + "half width of the mean step time", x.half_width, "s",
                     x.steps < 20 ? "sqrt(3) t s / sqrt(n), correlation 0.5 assumed"
                                  : "the wider of ten batch means and Geyer's sequence"});
    if (x.n_eff > 0) facts.push_back({of + "independent steps these are worth", x.n_eff, "", "n c_0 / v"});
    if (x.interval)
      facts.push_back({of + "95 % interval", cat(exact(x.interval->low), " to ", exact(x.interval->high)), "units/s",
                       "X / (1 + h/t), X / (1 - h/t), t the mean step time"});
  }
  if (!cell.combined || cell.launches.size() < 2) return;
  facts.push_back({"s, standard deviation of ln X between launches", known(cell.combined->launch_cv), "",
                   "sqrt(sum (ln X_l - mean)^2 / (L - 1))"});
  facts.push_back({cat("t, Student's 0.975 quantile for L - 1 = ", cell.launches.size() - 1), known(cell.combined->t),
                   "", "distribution of W. S. Gosset"});
  const auto range = [](const std::optional<Interval>& i) {
    return i ? TableCell(cat(exact(i->low), " to ", exact(i->high))) : TableCell(std::string("unknown"));
  };
  facts.push_back(
      {"interval within launches", range(cell.combined->within), "units/s", "sqrt(2 sum h^2) / L, relative"});
  facts.push_back({"interval across launches", range(cell.combined->across), "units/s",
                   "X exp(-+ t s sqrt(2 / L)): of as many launches again"});
  facts.push_back({"interval", "the wider of the two", "", "docs/statistics.md"});
}

void throughput_facts(const RunView& run, Facts& facts) {
  add_basis(run, facts);
  add_interval(run, facts);
}

void tokens_facts(const RunView& run, Facts& facts) {
  add_column("valid", "tokens", &StepRow::valid, run, facts);
  add_column("padded", "slots", &StepRow::padded, run, facts);
  add_totals(run, facts);
}

void samples_facts(const RunView& run, Facts& facts) {
  add_column("samples", "samples", &StepRow::samples, run, facts);
  add_totals(run, facts);
}

void quantile_facts(const RunView& run, Facts& facts) {
  std::vector<double> times;
  for (const LaunchView& launch : run.launches)
    times.insert(times.end(), launch.window_times().begin(), launch.window_times().end());
  std::ranges::sort(times);
  add_totals(run, facts);
  const auto n = static_cast<double>(times.size());
  for (const double q : {0.5, 0.95, 0.99}) {
    if (times.empty()) return;
    const double rank = (n - 1) * q;
    const auto below = static_cast<size_t>(rank);
    const size_t above = std::min(below + 1, times.size() - 1);
    facts.push_back({cat("rank of quantile ", q), rank, "", "(n - 1) q, of sorted times, counted from 0"});
    facts.push_back({cat("time at rank ", below), times[below], "s", "sorted stable step times"});
    facts.push_back({cat("time at rank ", above), times[above], "s", "sorted stable step times"});
  }
}

void cpu_facts(const RunView& run, Facts& facts) {
  add_column("user_cpu_ns", "ns", &StepRow::user_cpu_ns, run, facts);
  add_column("system_cpu_ns", "ns", &StepRow::system_cpu_ns, run, facts);
  add_column("runqueue_wait_ns", "ns", &StepRow::runqueue_wait_ns, run, facts);
  add_column("steal_ticks", "1/100 s", &StepRow::steal_ticks, run, facts);
  for (const LaunchView& launch : run.launches) {
    facts.push_back({"cores", known(launch.launch->info.cores), "", file(launch, "launch.json: cores")});
    const std::optional<Json> use = maybe<Json>(launch.launch->info.host, "use");
    for (const char* key : {"util_cpu", "busy_cores", "steal_fraction", "runqueue_fraction", "foreign_fraction"})
      if (const auto fraction = use ? maybe<double>(*use, key) : std::nullopt)
        facts.push_back({cat("of the whole launch: ", key), *fraction, "",
                         file(launch, cat("launch.json: host.use.", key).c_str())});
  }
  add_totals(run, facts);
}

void input_facts(const RunView& run, Facts& facts) {
  add_column("input_wait_ns", "ns", &StepRow::input_wait_ns, run, facts);
  add_totals(run, facts);
}

void flop_facts(const RunView& run, Facts& facts) {
  const RunInfo& info = run.record->run;
  facts.push_back({"FLOPs of one sample", known(info.train_flops), "", "run.json: train_flops"});
  facts.push_back({"samples of one step", info.workload.samples_per_step, "", "run.json: workload.samples_per_step"});
  int64_t model = 0, simd = 0;
  for (const OpRow& op : info.ops)
    model += op.forward.flop_model + op.backward.flop_model, simd += op.forward.flop_simd + op.backward.flop_simd;
  facts.push_back({"model FLOPs of one step, op table", model, "", "run.json: ops, sum of flop_model"});
  facts.push_back({"elementwise FLOPs of one step, op table", simd, "", "run.json: ops, sum of flop_simd"});
  add_totals(run, facts);
  for (const char* roof : {"isa", "gemm"}) {
    const std::optional<Json> rates = maybe<Json>(info.peaks, roof);
    facts.push_back({cat("peak of ", info.workload.precision, ", ", roof),
                     known(rates ? maybe<double>(*rates, info.workload.precision) : std::nullopt), "FLOP/s",
                     cat("run.json: peaks.", roof, ".", info.workload.precision)});
  }
}

void peak_memory_facts(const RunView& run, Facts& facts) {
  for (const LaunchView& launch : run.launches) {
    const LaunchInfo& info = launch.launch->info;
    facts.push_back(
        {"peak resident set", known(info.peak_rss_bytes), "B", file(launch, "launch.json: peak_rss_bytes")});
    int64_t most = 0;
    for (const StepRow& row : launch.launch->steps) most = std::max(most, row.rss_bytes.value_or(0));
    facts.push_back({"largest rss_bytes of a step", most, "B", file(launch, "steps.csv: rss_bytes")});
    facts.push_back(
        {"allocator's peak", known(info.allocator_peak_bytes), "B", file(launch, "launch.json: allocator_peak_bytes")});
  }
}

void energy_facts(const RunView& run, Facts& facts) {
  for (const LaunchView& launch : run.launches) {
    double units = 0;
    for (const StepRow& row : launch.launch->steps) units += row.units;
    facts.push_back(
        {"energy", known(launch.launch->info.energy_joules), "J", file(launch, "launch.json: energy_joules")});
    facts.push_back({"units of all steps", units, "", file(launch, "steps.csv: units")});
  }
}

void startup_facts(const RunView& run, Facts& facts) {
  for (const LaunchView& launch : run.launches) {
    const LaunchInfo& info = launch.launch->info;
    facts.push_back({"load", known(info.load_seconds), "s", file(launch, "launch.json: load_seconds")});
    facts.push_back(
        {"first step done", known(info.first_step_seconds), "s", file(launch, "launch.json: first_step_seconds")});
  }
}

using Add = void (*)(const RunView&, Facts&);
const std::map<std::string_view, Add> kInputs = {{"throughput", throughput_facts},
                                                 {"throughput_undisturbed", add_basis},
                                                 {"throughput_total", add_totals},
                                                 {"undisturbed_share", add_basis},
                                                 {"samples_per_second", samples_facts},
                                                 {"valid_per_second", tokens_facts},
                                                 {"padded_per_second", tokens_facts},
                                                 {"padding_share", tokens_facts},
                                                 {"step_time_mean", add_totals},
                                                 {"step_time_median", quantile_facts},
                                                 {"step_time_p95", quantile_facts},
                                                 {"step_time_p99", quantile_facts},
                                                 {"stable_from_step", add_totals},
                                                 {"cpu_utilization", cpu_facts},
                                                 {"busy_cores", cpu_facts},
                                                 {"steal_share", cpu_facts},
                                                 {"runqueue_share", cpu_facts},
                                                 {"foreign_share", cpu_facts},
                                                 {"peak_rss_bytes", peak_memory_facts},
                                                 {"allocator_peak_bytes", peak_memory_facts},
                                                 {"flop_rate", flop_facts},
                                                 {"mfu", flop_facts},
                                                 {"gemm_share", flop_facts},
                                                 {"flop_utilization", flop_facts},
                                                 {"input_wait", input_facts},
                                                 {"energy_joules", energy_facts},
                                                 {"energy_per_unit", energy_facts},
                                                 {"load_seconds", startup_facts},
                                                 {"first_step_seconds", startup_facts}};

}  // namespace

void add_phases(const RunView& run, Facts& facts) {
  for (const LaunchView& launch : run.launches) {
    const std::string of = launch.launch->info.folder_name() + ": ";
    if (!launch.fault.empty()) {
      facts.push_back({of + "no phase", launch.fault, "", file(launch, "steps.csv")});
      continue;
    }
    facts.push_back(
        {of + "steps with a known time", static_cast<int64_t>(launch.times.size()), "", file(launch, "steps.csv")});
    facts.push_back({of + "class of the phase", std::string(name(launch.phase.kind)), "", "docs/statistics.md"});
    if (launch.phase.steps() == 0) continue;
    const StepRow &first = launch.window().front(), &last = launch.window().back();
    const auto at = static_cast<size_t>(&first - launch.launch->steps.data());
    const int64_t before = at > 0 ? launch.launch->steps[at - 1].completed_ns
                                  : launch.launch->info.first_step_began_ns.value_or(first.completed_ns);
    facts.push_back({of + "stable steps", cat(first.step, " to ", last.step), "", file(launch, "steps.csv: step")});
    facts.push_back({of + "stamp before the first of them", before, "ns", file(launch, "steps.csv: completed_ns")});
    facts.push_back({of + "stamp of the last", last.completed_ns, "ns", file(launch, "steps.csv: completed_ns")});
    facts.push_back({of + "sum of step times", launch.seconds(), "s",
                     "the difference of the two stamps, less pause_ns of the steps between"});
    facts.push_back({of + "sum of units", launch.units(), "", file(launch, "steps.csv: units")});
    facts.push_back({of + "ratio", launch.units() / launch.seconds(), "units/s", "sum of units / sum of step times"});
    const Shift shift = shift_of(launch.window_times());
    facts.push_back({of + "drift", known(shift.drift), "", "mean of the last third / mean of the first - 1"});
    facts.push_back({of + "levels", known(shift.levels), "", "slowest / fastest level of the segments - 1"});
  }
}

void add_basis(const RunView& run, Facts& facts) {
  std::map<std::string, double> seconds;
  int64_t blocks = 0, undisturbed = 0;
  for (const LaunchView& launch : run.launches)
    for (const Block& block : launch.blocks) {
      ++blocks;
      undisturbed += block.undisturbed();
      for (const auto& [what, share, most] :
           {std::tuple{"run-queue wait above 2 %", block.runqueue, kMostRunqueueWait},
            std::tuple{"steal above 1 %", block.steal, kMostSteal},
            std::tuple{"other work above 5 %", block.foreign, kMostForeign},
            std::tuple{"multiply-adds over 3 % below the best", block.fma_loss, kMostFmaLoss},
            std::tuple{"reads over 15 % below the best", block.read_loss, kMostReadLoss}})
        if (share.value_or(0) > most) seconds[what] += block.seconds;
    }
  facts.push_back({"basis", std::string(name(run.basis)), "", "docs/statistics.md: what is estimated"});
  facts.push_back({"blocks of half a second", blocks, "", "steps.csv: pause_ns ends one"});
  facts.push_back({"undisturbed of these", undisturbed, "", "by evidence other than their step times"});
  for (const auto& [what, time] : seconds) facts.push_back({"time with " + what, time, "s", "steps.csv"});
  facts.push_back(
      {"share of undisturbed time", known(run.undisturbed_share), "", "undisturbed is the basis from 0.2 on"});
}

void add_metric(std::string_view id, const RunView& run, Facts& facts) {
  add_phases(run, facts);
  if (const auto inputs = kInputs.find(id); inputs != kInputs.end()) inputs->second(run, facts);
  const Metric& wanted = metric(id);
  const Measured value = wanted.of(run);
  if (!value.value) {
    facts.push_back({std::string(id), "absent: " + value.reason, "", ""});
    return;
  }
  const std::string unit =
      wanted.unit == Unit::per_second ? run.workload().unit + "/s" : std::string(symbol(wanted.unit));
  facts.push_back({std::string(id), *value.value, id == "throughput" ? unit : std::string(symbol(wanted.unit)),
                   "the formula above"});
  if (value.low && value.high)
    facts.push_back({cat(id, ", 95 % interval"), cat(exact(*value.low), " to ", exact(*value.high)), "", "as above"});
}

}  // namespace tbd
