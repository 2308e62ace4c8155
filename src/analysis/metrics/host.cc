// What the worker and others used of the processors: from the steps of the stable phase, or, where steps.csv lacks a
// column, from the launch's host fractions. Fractions of launches are averaged by the length of their windows.
#include "analysis/metrics.h"
#include "base/json.h"

namespace tbd {
namespace {

std::optional<double> fraction_of(const Launch& launch, std::string_view key) {
  const std::optional<Json> use = maybe<Json>(launch.info.host, "use");
  return use ? maybe<double>(*use, key) : std::nullopt;
}

Measured mean_fraction(const RunView& run, std::string_view key, const std::string& reason) {
  double weighted = 0;
  for (const LaunchView& launch : run.launches) {
    const std::optional<double> fraction = fraction_of(*launch.launch, key);
    if (!fraction) return absent(reason);
    weighted += *fraction * launch.seconds();
  }
  if (!(run.seconds() > 0)) return absent("no stable step was measured");
  return {.value = weighted / run.seconds()};
}

// Seconds of one core that the worker might have used: cores times window, over all launches.
std::optional<double> core_seconds(const RunView& run) {
  double sum = 0;
  for (const LaunchView& launch : run.launches) {
    if (!launch.launch->info.cores || !(*launch.launch->info.cores > 0)) return std::nullopt;
    sum += *launch.launch->info.cores * launch.seconds();
  }
  return sum > 0 ? std::optional(sum) : std::nullopt;
}

std::optional<double> cpu_seconds(const RunView& run) {
  const std::optional<int64_t> user = total(run, &StepRow::user_cpu_ns), system = total(run, &StepRow::system_cpu_ns);
  if (!user || !system) return std::nullopt;
  return static_cast<double>(*user + *system) * 1e-9;
}

}  // namespace

Measured cpu_utilization(const RunView& run) {
  const std::optional<double> used = cpu_seconds(run), possible = core_seconds(run);
  if (used && possible) return {.value = *used / *possible};
  return mean_fraction(run, "util_cpu", "the worker's CPU time was not recorded");
}

Measured busy_cores(const RunView& run) {
  const std::optional<double> used = cpu_seconds(run);
  if (used && run.seconds() > 0) return {.value = *used / run.seconds()};
  return mean_fraction(run, "busy_cores", "the worker's CPU time was not recorded");
}

Measured steal_share(const RunView& run) {
  const std::optional<int64_t> ticks = total(run, &StepRow::steal_ticks);
  const std::optional<double> possible = core_seconds(run);
  if (ticks && possible) return {.value = static_cast<double>(*ticks) / kStealTicksPerSecond / *possible};
  return mean_fraction(run, "steal_fraction", "steal time was not recorded");
}

Measured runqueue_share(const RunView& run) {
  const std::optional<int64_t> wait = total(run, &StepRow::runqueue_wait_ns);
  const std::optional<double> used = cpu_seconds(run);
  if (!wait || !used) return mean_fraction(run, "runqueue_fraction", "run-queue wait was not recorded");
  const double waited = static_cast<double>(*wait) * 1e-9;
  if (!(waited + *used > 0)) return absent("the worker used no CPU time");
  return {.value = waited / (waited + *used)};
}

Measured foreign_share(const RunView& run) {
  return mean_fraction(run, "foreign_fraction", "other processes' CPU time was not recorded");
}

}  // namespace tbd
