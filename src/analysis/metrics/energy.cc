// Energy by the machine's own meters. A meter reads all in its scope, not the worker alone.
#include "analysis/metrics.h"

namespace tbd {
namespace {

constexpr double kShortest = 10;  // seconds: below, a meter's steps and its idle share blur the figure

double launch_seconds(const Launch& launch) {
  if (launch.steps.empty() || !launch.info.first_step_began_ns) return 0;
  return static_cast<double>(launch.steps.back().completed_ns - *launch.info.first_step_began_ns) * 1e-9;
}

}  // namespace

Measured energy(const RunView& run) {
  double sum = 0;
  for (const LaunchView& launch : run.launches) {
    if (!launch.launch->info.energy_joules) return absent("no energy meter was readable");
    if (launch_seconds(*launch.launch) < kShortest) return absent("a launch shorter than 10 s");
    sum += *launch.launch->info.energy_joules;
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

}  // namespace tbd
