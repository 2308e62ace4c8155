// The step at which the stable phase begins (measurement.md 5.1), by the number in steps.csv.
#include <algorithm>

#include "analysis/metrics.h"

namespace tbd {

Measured stable_from_step(const RunView& run) {
  std::optional<int64_t> latest;
  for (const LaunchView& launch : run.launches)
    if (launch.phase.steps() > 0) latest = std::max(latest.value_or(0), launch.window().front().step);
  if (!latest) return absent("no step is stable");
  return {.value = static_cast<double>(*latest)};
}

}  // namespace tbd
