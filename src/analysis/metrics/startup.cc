// What passes before the first number: loading, and the first step.
#include "analysis/metric_parts.h"
#include "stats/series.h"

namespace tbd {
namespace {

Measured launch_median(const RunView& run, std::optional<double> LaunchInfo::*member, const char* reason) {
  std::vector<double> values;
  for (const LaunchView& launch : run.launches)
    if (launch.launch->info.*member) values.push_back(*(launch.launch->info.*member));
  if (values.empty()) return absent(reason);
  return {.value = median(values)};
}

Measured load_time(const RunView& run) {
  return launch_median(run, &LaunchInfo::load_seconds, "the time to load was not recorded");
}
Measured first_step_time(const RunView& run) {
  return launch_median(run, &LaunchInfo::first_step_seconds, "the time to the first step was not recorded");
}

void startup_facts(const RunView& run, Facts& facts) {
  for (const LaunchView& launch : run.launches) {
    const LaunchInfo& info = launch.launch->info;
    facts.push_back({"load", known(info.load_seconds), "s", launch_file(launch, "launch.json: load_seconds")});
    facts.push_back({"first step done", known(info.first_step_seconds), "s",
                     launch_file(launch, "launch.json: first_step_seconds")});
  }
}

constexpr Metric kStartupMetrics[] = {
    {.id = "load_seconds",
     .title = "load",
     .group = MetricGroup::startup,
     .unit = Unit::seconds,
     .unit_text = "s",
     .what = "Process start to program loaded; median of the launches.",
     .formula = "median over launches",
     .counts = "Process start, libraries, building the network, weights.",
     .how = "Stamps of the runner and the worker.",
     .limits = "The file cache decides much of it.",
     .inputs = startup_facts,
     .compute = load_time},
    {.id = "first_step_seconds",
     .title = "first step done",
     .group = MetricGroup::startup,
     .unit = Unit::seconds,
     .unit_text = "s",
     .what = "Process start to the end of the first step; median of the launches.",
     .formula = "median over launches",
     .counts = "load_seconds and the first step: tuning, compiling.",
     .how = "Stamps of the runner and the worker.",
     .limits = "The file cache decides much of it.",
     .inputs = startup_facts,
     .compute = first_step_time},
};

}  // namespace

std::span<const Metric> startup_metrics() { return kStartupMetrics; }

}  // namespace tbd
