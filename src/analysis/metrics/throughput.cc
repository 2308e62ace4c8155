// Units per second with its 95 % interval: within each launch, and between launches (measurement.md 5.3).
#include <algorithm>

#include "analysis/metrics.h"
#include "analysis/throughput.h"

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
  if (run.stable_steps() == 0) return absent("no step was measured after warming up");
  if (!(run.units() > 0)) return absent("the data counted no units of throughput");
  return absent("no block of steps was undisturbed");
}

}  // namespace

CellThroughput cell_throughput(const RunView& run, Basis basis) {
  CellThroughput cell;
  for (const LaunchView& launch : run.launches) {
    if (!launch.fault.empty()) continue;
    const StepWork work = work_of(launch, basis);
    const bool counted = std::ranges::any_of(work.units, [](double units) { return units > 0; });
    if (counted) cell.launches.push_back(throughput(work.times, work.units));
  }
  if (!cell.launches.empty()) cell.combined = combined(cell.launches);
  return cell;
}

Measured throughput_of(const RunView& run) { return throughput_on(run, run.basis); }
Measured throughput_total(const RunView& run) { return throughput_on(run, Basis::total); }
Measured throughput_undisturbed(const RunView& run) { return throughput_on(run, Basis::undisturbed); }

Measured undisturbed_share(const RunView& run) {
  if (run.stable_steps() == 0) return absent("no step was measured after warming up");
  if (!run.undisturbed_share) return absent("neither the kernel nor the speed probe says what was undisturbed");
  return {.value = run.undisturbed_share};
}

}  // namespace tbd
