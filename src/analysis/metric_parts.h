// What metrics of several files share.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "analysis/metrics.h"

namespace tbd {

inline constexpr std::string_view kStamps =
    "Clean pass: a stamp of the monotonic raw clock after each step; nothing else runs.";

Measured not_measured();  // there is no step after warming up
// A figure that each launch has one of, with an interval for as many launches again.
Measured between_launches(std::span<const double> values);

inline bool on_gpu(const MeasuredWorkload& workload) { return workload.device != Device::kCpu; }
// launch.json's gpu.use, what the driver said of the GPU over the steps; nullptr where there is none.
const Json* gpu_use_of(const LaunchInfo& info);

// FLOPs of a unit as flop_utilization counts them: those of the run's own math type. nullopt without an op table.
std::optional<double> flops_per_unit(const RunView& run);

// |after / before - 1| of the peaks of a record: the largest of the arithmetic kernels of this math type ("fp32"), or
// of all arithmetic where they name none that was measured both times. What another type did says nothing of this one.
double peaks_drift(const Json& peaks, std::string_view type);

// Facts for the `inputs` of metrics.
std::string launch_file(const LaunchView& launch, std::string_view name);  // "launches/clean-1/steps.csv"
void add_totals(const RunView& run, Facts& facts);                         // steps, and the sum of their times
void add_column(const char* name, const char* unit, std::optional<int64_t> StepRow::*column, const RunView& run,
                Facts& facts);                     // the sum of a column of steps.csv
void add_basis(const RunView& run, Facts& facts);  // which blocks the headline is from, and why

}  // namespace tbd
