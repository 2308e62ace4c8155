// The metrics: pure functions of a run (measurement.md 2). To add one: a file under metrics/ and a row in metrics.cc.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

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

struct Metric {
  std::string_view id;     // key in JSON and CSV
  std::string_view title;  // for people
  Unit unit;
  std::string_view what;  // one sentence: formula, and what is counted
  Measured (*of)(const RunView& run);
};

std::span<const Metric> metrics();
const Metric& metric(std::string_view id);  // throws Error(usage) that offers the nearest names

// Each has its contract in its file.
Measured throughput_of(const RunView& run);
Measured throughput_undisturbed(const RunView& run);
Measured throughput_total(const RunView& run);
Measured undisturbed_share(const RunView& run);
Measured samples_per_second(const RunView& run);
Measured valid_per_second(const RunView& run);
Measured padded_per_second(const RunView& run);
Measured padding_share(const RunView& run);
Measured step_time_mean(const RunView& run);
Measured step_time_min(const RunView& run);
Measured step_time_floor(const RunView& run);
Measured step_time_q1(const RunView& run);
Measured step_time_median(const RunView& run);
Measured step_time_q3(const RunView& run);
Measured step_time_p95(const RunView& run);
Measured step_time_p99(const RunView& run);
Measured stable_from_step(const RunView& run);
Measured cpu_utilization(const RunView& run);
Measured busy_cores(const RunView& run);
Measured cpu_time_per_step(const RunView& run);
Measured steal_share(const RunView& run);
Measured runqueue_share(const RunView& run);
Measured foreign_share(const RunView& run);
Measured peak_rss(const RunView& run);
Measured allocator_peak(const RunView& run);
Measured model_flop_rate(const RunView& run);
Measured mfu(const RunView& run);
Measured gemm_share(const RunView& run);
Measured flop_utilization(const RunView& run);
Measured input_wait(const RunView& run);
Measured energy(const RunView& run);
Measured energy_per_unit(const RunView& run);
Measured load_time(const RunView& run);
Measured first_step_time(const RunView& run);

}  // namespace tbd
