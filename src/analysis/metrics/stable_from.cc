// The step at which the stable phase begins (docs/statistics.md), by the number in steps.csv.
#include <algorithm>

#include "analysis/metric_parts.h"

namespace tbd {
namespace {

Measured stable_from_step(const RunView& run) {
  std::optional<int64_t> latest;
  for (const LaunchView& launch : run.launches)
    if (launch.phase.steps() > 0) latest = std::max(latest.value_or(0), launch.window().front().step);
  if (!latest) return absent("no step is stable");
  return {.value = static_cast<double>(*latest)};
}

constexpr Metric kStableFromMetrics[] = {
    {.id = "stable_from_step",
     .title = "stable from step",
     .group = MetricGroup::stable_phase,
     .unit = Unit::count,
     .what = "First step of the stable phase, found from the series; the latest of the launches.",
     .formula = "end of the first segments that are slower than what follows them",
     .counts = "Never before step 5, nor before what the worker's own events allow; never cuts more than a third for "
               "its times.",
     .how = "From the series of step times alone.",
     .source = "Change points: Jackson et al. 2005, IEEE SPL 12(2); Killick et al. 2012, JASA 107(500). Outliers: "
               "Hampel 1974, JASA 69(346). Rules: docs/statistics.md.",
     .limits = "With effort smoke nothing is tested: all steps but the first.",
     .gate = MetricGate::timed,
     .inputs = add_totals,
     .compute = stable_from_step},
};

}  // namespace

std::span<const Metric> stable_from_metrics() { return kStableFromMetrics; }

}  // namespace tbd
