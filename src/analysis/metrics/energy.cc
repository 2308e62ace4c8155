// Energy by the machine's own meters. A meter reads all in its scope, not the worker alone.
#include "analysis/metric_parts.h"
#include "base/json.h"

namespace tbd {
namespace {

constexpr double kShortest = 10;  // seconds: below, a meter's steps and its idle share blur the figure

double launch_seconds(const Launch& launch) {
  if (launch.steps.empty() || !launch.info.first_step_began_ns) return 0;
  return static_cast<double>(launch.steps.back().completed_ns - *launch.info.first_step_began_ns) * 1e-9;
}

// Of the device that the workload ran on.
std::optional<double> joules_of(const LaunchInfo& info, bool gpu) {
  if (!gpu) return info.energy_joules;
  const Json* use = gpu_use_of(info);
  return use ? maybe<double>(*use, "energy_joules") : std::nullopt;
}

Measured energy(const RunView& run) {
  double sum = 0;
  for (const LaunchView& launch : run.launches) {
    const auto joules = joules_of(launch.launch->info, on_gpu(run.workload()));
    if (!joules)
      return absent(on_gpu(run.workload()) ? "the GPU's driver did not report it" : "no energy meter was readable");
    if (launch_seconds(*launch.launch) < kShortest) return absent("a launch shorter than 10 s");
    sum += *joules;
  }
  if (run.launches.empty()) return absent("no step was measured");
  return {.value = sum};
}

Measured energy_per_unit(const RunView& run) {
  const Measured joules = energy(run);
  if (!joules.value) return joules;
  double units = 0;
  for (const LaunchView& launch : run.launches)
    for (const StepRow& row : launch.launch->steps) units += row.units;
  if (!(units > 0)) return absent("no unit was finished");
  return {.value = *joules.value / units};
}

void energy_facts(const RunView& run, Facts& facts) {
  for (const LaunchView& launch : run.launches) {
    double units = 0;
    for (const StepRow& row : launch.launch->steps) units += row.units;
    facts.push_back({"energy", known(joules_of(launch.launch->info, on_gpu(run.workload()))), "J",
                     launch_file(launch, on_gpu(run.workload()) ? "launch.json: gpu.use.energy_joules"
                                                                : "launch.json: energy_joules")});
    facts.push_back({"units of all steps", units, "", launch_file(launch, "steps.csv: units")});
  }
}

constexpr Metric kEnergyMetrics[] = {
    {.id = "energy_joules",
     .title = "energy",
     .group = MetricGroup::energy,
     .unit = Unit::joules,
     .unit_text = "J",
     .what = "Counter difference over all steps, in the meter's whole scope.",
     .formula = "sum over launches of the meter's difference",
     .counts = "All steps, and everything in the meter's scope.",
     .how =
         "Package and memory meters through the kernel's powercap; of a workload on a GPU the board's, by its driver.",
     .limits = "Absent without a readable meter (most virtual machines) or with a launch shorter than 10 s.",
     .inputs = energy_facts,
     .compute = energy},
    {.id = "energy_per_unit",
     .title = "energy per unit",
     .group = MetricGroup::energy,
     .unit = Unit::joules,
     .unit_text = "J/unit",
     .what = "Energy over the units of the same steps.",
     .formula = "energy_joules / units of the same steps",
     .counts = "As energy_joules.",
     .how = "As energy_joules.",
     .limits = "Idle power is in it.",
     .inputs = energy_facts,
     .compute = energy_per_unit},
};

}  // namespace

std::span<const Metric> energy_metrics() { return kEnergyMetrics; }

}  // namespace tbd
