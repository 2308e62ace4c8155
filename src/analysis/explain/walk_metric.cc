#include "analysis/explain/walk.h"
#include "analysis/metric_parts.h"
#include "base/text.h"

namespace tbd {

void add_phases(const RunView& run, Facts& facts) {
  for (const LaunchView& launch : run.launches) {
    const std::string of = launch.launch->info.folder_name() + ": ";
    if (!launch.fault.empty()) {
      facts.push_back({of + "no phase", launch.fault, "", launch_file(launch, "steps.csv")});
      continue;
    }
    facts.push_back({of + "steps with a known time", static_cast<int64_t>(launch.times.size()), "",
                     launch_file(launch, "steps.csv")});
    facts.push_back({of + "class of the phase", std::string(name(launch.phase.kind)), "", "docs/statistics.md"});
    if (launch.phase.steps() == 0) continue;
    const StepRow &first = launch.window().front(), &last = launch.window().back();
    const size_t at = launch.window_begin();
    const int64_t before = at > 0 ? launch.launch->steps[at - 1].completed_ns
                                  : launch.launch->info.first_step_began_ns.value_or(first.completed_ns);
    facts.push_back({of + "steps after warming up", cat(first.step, " to ", last.step), "",
                     launch_file(launch, "steps.csv: step")});
    facts.push_back(
        {of + "stamp before the first of them", before, "ns", launch_file(launch, "steps.csv: completed_ns")});
    facts.push_back(
        {of + "stamp of the last", last.completed_ns, "ns", launch_file(launch, "steps.csv: completed_ns")});
    facts.push_back({of + "sum of step times", launch.seconds(), "s",
                     "the difference of the two stamps, less pause_ns of the steps between"});
    facts.push_back({of + "sum of units", launch.units(), "", launch_file(launch, "steps.csv: units")});
    facts.push_back({of + "ratio", launch.units() / launch.seconds(), "units/s", "sum of units / sum of step times"});
    facts.push_back({of + "drift", known(launch.shift.drift), "", "mean of the last third / mean of the first - 1"});
    facts.push_back({of + "levels", known(launch.shift.levels), "", "slowest / fastest level of the segments - 1"});
  }
}

void add_metric(std::string_view id, const RunView& run, Facts& facts) {
  add_phases(run, facts);
  const Metric& wanted = metric(id);
  if (wanted.inputs) wanted.inputs(run, facts);
  const Measured value = wanted.compute(run);
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
