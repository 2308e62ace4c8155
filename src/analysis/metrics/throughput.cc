// Units per second with its 95 % interval: within each launch, and across launches (measurement.md 5.3).
#include <algorithm>

#include "analysis/metrics.h"
#include "analysis/throughput.h"

namespace tbd {
namespace {

Throughput of_launch(const LaunchView& launch) {
  std::vector<double> units;
  for (const StepRow& row : launch.window()) units.push_back(row.units);
  return throughput(launch.window_times(), units);
}

}  // namespace

CellThroughput cell_throughput(const RunView& run) {
  CellThroughput cell;
  for (const LaunchView& launch : run.launches) {
    if (!launch.fault.empty()) continue;
    if (launch.phase.steps() > 0 && launch.units() > 0) cell.launches.push_back(of_launch(launch));
  }
  if (!cell.launches.empty()) cell.combined = combined(cell.launches);
  return cell;
}

Measured throughput_of(const RunView& run) {
  const CellThroughput cell = cell_throughput(run);
  if (!cell.combined) {
    for (const LaunchView& launch : run.launches)
      if (!launch.fault.empty()) return absent(launch.fault);
    const bool steps = std::ranges::any_of(run.launches, [](const LaunchView& l) { return l.phase.steps() > 0; });
    return absent(steps ? "the data counted no units of throughput" : "no stable step was measured");
  }
  Measured result{.value = cell.combined->value, .low = {}, .high = {}, .reason = {}};
  if (cell.combined->interval) {
    result.low = cell.combined->interval->low;
    result.high = cell.combined->interval->high;
  }
  return result;
}

}  // namespace tbd
