// The metrics: pure functions of a run (docs/metrics.md). Each is whole in one file: metrics/NAME.cc defines
// `std::span<const Metric> NAME_metrics()` and is found by its name (cmake/Registry.cmake).
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/explain/fact.h"
#include "analysis/run_view.h"
#include "analysis/table.h"

namespace tbd {

// A metric's value, or why there is none.
struct Measured {
  std::optional<double> value;
  std::optional<double> low, high;  // 95 % interval, where the metric has one
  std::string reason;               // one clause; set when value is absent
};
inline Measured absent(std::string reason) { return {.value = {}, .low = {}, .high = {}, .reason = std::move(reason)}; }

// Rows, tables and pages list the metrics in this order, those of a group by the names of their files.
enum class MetricGroup {
  throughput,
  tokens,
  step_time,
  stable_phase,
  processor,
  memory,
  arithmetic,
  input,
  exchange,
  disturbance,
  energy,
  startup
};

// What may withhold a metric (gates.h): for `timed` a failed series of step times, for `share_of_peak` also peaks that
// do not hold.
enum class MetricGate { none, timed, share_of_peak };

struct Metric {
  std::string_view id;     // key in JSON and CSV
  std::string_view title;  // for people
  MetricGroup group;
  Unit unit;
  std::string_view unit_text;  // for people: "units/s"; empty where there is none
  // For `tbd explain` and docs/metrics.md; only `what` must be there. As in Topic.
  std::string_view what;  // one sentence: formula, and what is counted
  std::string_view formula, counts, how, source, limits;
  MetricGate gate = MetricGate::none;
  bool (*applies)(const MeasuredWorkload& workload) = nullptr;  // else its absence is no news; null: always
  void (*inputs)(const RunView& run, Facts& facts) = nullptr;   // adds what the value is computed from
  Measured (*compute)(const RunView& run);
};

std::vector<std::span<const Metric>> metric_files();  // the rows of each file
std::span<const Metric> metrics();                    // all rows, by group
const Metric& metric(std::string_view id);            // throws Error(usage) that offers the nearest names

}  // namespace tbd
