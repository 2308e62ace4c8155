// Units per second with its 95 % interval: within each launch, and between launches (docs/statistics.md).
#include <algorithm>

#include "analysis/metric_parts.h"
#include "analysis/throughput.h"
#include "base/text.h"

namespace tbd {
namespace {

Measured of_all_launches(const CellThroughput& cell) {
  Measured result{.value = cell.combined->value, .low = {}, .high = {}, .reason = {}};
  if (cell.combined->interval) {
    result.low = cell.combined->interval->low;
    result.high = cell.combined->interval->high;
  }
  return result;
}

Measured throughput_on(const RunView& run, Basis basis) {
  const CellThroughput cell = cell_throughput(run, basis);
  if (cell.combined) return of_all_launches(cell);
  for (const LaunchView& launch : run.launches)
    if (!launch.fault.empty()) return absent(launch.fault);
  if (run.stable_steps() == 0) return not_measured();
  if (!(run.units() > 0)) return absent("the data counted no units of throughput");
  return absent("no block of steps was undisturbed");
}

Measured throughput_total(const RunView& run) { return throughput_on(run, Basis::total); }
Measured throughput_undisturbed(const RunView& run) { return throughput_on(run, Basis::undisturbed); }

// A disturbed number's interval reaches as far as the undisturbed level: another run may see more of it.
Measured throughput_of(const RunView& run) {
  Measured headline = throughput_on(run, run.basis);
  if (run.basis == Basis::undisturbed || !headline.high) return headline;
  const Measured undisturbed = throughput_undisturbed(run);
  if (undisturbed.value) headline.high = std::max(*headline.high, undisturbed.high.value_or(*undisturbed.value));
  return headline;
}
Measured undisturbed_share(const RunView& run) {
  if (run.stable_steps() == 0) return not_measured();
  if (!run.undisturbed_share) return absent("neither the kernel nor the speed probe says what was undisturbed");
  return {.value = run.undisturbed_share};
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

void add_reach(const RunView& run, Facts& facts) {
  const Measured undisturbed = throughput_undisturbed(run);
  if (run.basis == Basis::total && undisturbed.value)
    facts.push_back({"upper end at least", undisturbed.high.value_or(*undisturbed.value), "units/s",
                     "that of throughput_undisturbed: another run may see more of it"});
}

void throughput_facts(const RunView& run, Facts& facts) {
  add_basis(run, facts);
  add_interval(run, facts);
  add_reach(run, facts);
}

constexpr Metric kThroughputMetrics[] = {
    {.id = "throughput",
     .title = "throughput",
     .group = MetricGroup::throughput,
     .unit = Unit::per_second,
     .unit_text = "units/s",
     .what = "Units finished over the time of their steps: a ratio of totals, input wait and update included. The "
             "undisturbed level where a fifth of the time was undisturbed, else of all steps after warming up.",
     .formula = "X = sum of units / sum of step times; launches: geometric mean",
     .counts =
         "In: input wait, forward, backward, update, communication. Out: warm-up, evaluation, checkpoints, padding.",
     .how = kStamps,
     .source = "Ratio of totals by definition. Interval: Geyer 1992, Statistical Science 7(4), 3.3; batch means: "
               "Schmeiser 1982, Operations Research 30(3). Between launches: Student's t on ln X, for as many launches "
               "again (Hahn and Meeker 1991, Statistical Intervals, 4.8).",
     .limits = "Which steps: the undisturbed blocks where they are a fifth of the time in most launches, else all "
               "after warming up (basis). Units differ between models (images, tokens, seconds of audio): never "
               "compare across units, nor resident with pipeline input.",
     .gate = MetricGate::timed,
     .inputs = throughput_facts,
     .compute = throughput_of},
    {.id = "throughput_undisturbed",
     .title = "undisturbed",
     .group = MetricGroup::throughput,
     .unit = Unit::per_second,
     .unit_text = "units/s",
     .what = "The same over the blocks of steps that the kernel and the speed probe call undisturbed.",
     .formula = "as throughput, over undisturbed blocks",
     .counts =
         "A block: steps of half a second or more. Undisturbed: run-queue wait at most 2 %, steal 1 %, other work 5 %; "
         "at both ends the medians of five probes within 3 % (multiply-adds) and 35 % (reads) of the record's best.",
     .how = "The kernel's counts in steps.csv and the speed probe between blocks; never the steps' own times.",
     .limits = "Absent without an undisturbed block. A record that was disturbed from its first step to its last has a "
               "best that is none; the check of kept peaks tells it.",
     .gate = MetricGate::timed,
     .inputs = add_basis,
     .compute = throughput_undisturbed},
    {.id = "throughput_total",
     .title = "in total",
     .group = MetricGroup::throughput,
     .unit = Unit::per_second,
     .unit_text = "units/s",
     .what = "The same over all steps after warming up.",
     .formula = "as throughput, over all steps after warming up",
     .counts = "What was got, disturbed or not.",
     .how = kStamps,
     .limits = "Another run on a busier or quieter machine gets another.",
     .gate = MetricGate::timed,
     .inputs = add_totals,
     .compute = throughput_total},
    {.id = "undisturbed_share",
     .title = "undisturbed time",
     .group = MetricGroup::throughput,
     .unit = Unit::fraction,
     .unit_text = "fraction",
     .what = "Time of the undisturbed blocks over that of all steps after warming up.",
     .formula = "time of undisturbed blocks / time of all steps after warming up",
     .counts = "All launches.",
     .how = "As throughput_undisturbed.",
     .limits = "Absent where neither kernel nor probe tells anything.",
     .gate = MetricGate::timed,
     .inputs = add_basis,
     .compute = undisturbed_share},
};

}  // namespace

CellThroughput cell_throughput(const RunView& run, Basis basis) {
  CellThroughput cell;
  for (const LaunchView& launch : run.launches) {
    if (!launch.fault.empty()) continue;
    const StepWork work = work_of(launch, basis);
    const bool counted = std::ranges::any_of(work.units, [](double units) { return units > 0; });
    if (!counted) continue;
    cell.launches.push_back(throughput(work.times, work.units));
    cell.numbers.push_back(launch.launch->info.number);
  }
  if (!cell.launches.empty()) cell.combined = combined(cell.launches);
  return cell;
}

std::span<const Metric> throughput_metrics() { return kThroughputMetrics; }

}  // namespace tbd
