// Peaks of memory: the largest of the launches.
#include <algorithm>

#include "analysis/metrics.h"

namespace tbd {
namespace {

void raise(std::optional<int64_t>& peak, const std::optional<int64_t>& value) {
  if (value) peak = std::max(peak.value_or(0), *value);
}

Measured bytes(const std::optional<int64_t>& peak, const char* reason) {
  if (!peak) return absent(reason);
  return {.value = static_cast<double>(*peak)};
}

}  // namespace

Measured peak_rss(const RunView& run) {
  std::optional<int64_t> peak;
  for (const LaunchView& launch : run.launches) {
    raise(peak, launch.launch->info.peak_rss_bytes);
    for (const StepRow& row : launch.launch->steps) raise(peak, row.rss_bytes);
  }
  return bytes(peak, "the resident set was not recorded");
}

Measured allocator_peak(const RunView& run) {
  std::optional<int64_t> peak;
  for (const LaunchView& launch : run.launches) raise(peak, launch.launch->info.allocator_peak_bytes);
  return bytes(peak, "the framework does not tell its allocator's peak");
}

}  // namespace tbd
