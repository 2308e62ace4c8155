// What passes before the first number: loading, and the first step.
#include "analysis/metrics.h"
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

}  // namespace

Measured load_time(const RunView& run) {
  return launch_median(run, &LaunchInfo::load_seconds, "the time to load was not recorded");
}
Measured first_step_time(const RunView& run) {
  return launch_median(run, &LaunchInfo::first_step_seconds, "the time to the first step was not recorded");
}

}  // namespace tbd
