// Peaks of memory: the largest of the launches.
#include <algorithm>

#include "analysis/metric_parts.h"

namespace tbd {
namespace {

void raise(std::optional<int64_t>& peak, const std::optional<int64_t>& value) {
  if (value) peak = std::max(peak.value_or(0), *value);
}

Measured bytes(const std::optional<int64_t>& peak, const char* reason) {
  if (!peak) return absent(reason);
  return {.value = static_cast<double>(*peak)};
}

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

void peak_memory_facts(const RunView& run, Facts& facts) {
  for (const LaunchView& launch : run.launches) {
    const LaunchInfo& info = launch.launch->info;
    facts.push_back(
        {"peak resident set", known(info.peak_rss_bytes), "B", launch_file(launch, "launch.json: peak_rss_bytes")});
    int64_t most = 0;
    for (const StepRow& row : launch.launch->steps) most = std::max(most, row.rss_bytes.value_or(0));
    facts.push_back({"largest rss_bytes of a step", most, "B", launch_file(launch, "steps.csv: rss_bytes")});
    facts.push_back({"allocator's peak", known(info.allocator_peak_bytes), "B",
                     launch_file(launch, "launch.json: allocator_peak_bytes")});
  }
}

constexpr Metric kMemoryMetrics[] = {
    {.id = "peak_rss_bytes",
     .title = "peak memory",
     .group = MetricGroup::memory,
     .unit = Unit::bytes,
     .unit_text = "B",
     .what = "Largest resident set of the worker, of any launch.",
     .formula = "max over launches of the resident set",
     .counts = "The whole process: framework, code, tensors, freed memory that malloc keeps.",
     .how = "The kernel's high-water mark, and rss_bytes of each step.",
     .limits = "Says what must fit, not what the network needs: for that see memory.peak.",
     .inputs = peak_memory_facts,
     .compute = peak_rss},
    {.id = "allocator_peak_bytes",
     .title = "allocator peak",
     .group = MetricGroup::memory,
     .unit = Unit::bytes,
     .unit_text = "B",
     .what = "Largest sum of live tensors by the framework's own count, of any launch.",
     .formula = "max over launches of the allocator's own peak",
     .counts = "Live tensors.",
     .how = "The framework's counter.",
     .limits = "Absent where the framework does not tell. Counters of frameworks differ in what they round: never "
               "compare across frameworks.",
     .inputs = peak_memory_facts,
     .compute = allocator_peak},
};

}  // namespace

std::span<const Metric> memory_metrics() { return kMemoryMetrics; }

}  // namespace tbd
