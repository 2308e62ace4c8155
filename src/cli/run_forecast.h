// What a run is foreseen to take and to decide; what a budget leaves of it.
#pragma once
#include "analysis/observations/planned.h"
#include "analysis/table.h"
#include "cli/run_files.h"
#include "runner/prediction.h"

namespace tbd::cli {

struct Forecast {
  std::vector<CellPrediction> cells;    // all, in the order of the plan
  std::vector<bool> kept;               // within the budget; all without one
  std::vector<std::string> reasons;     // why not kept
  double seconds = 0, seconds_all = 0;  // of the kept ones, of all, with what a run takes beside them
  std::vector<Need> needs, needs_all;   // of the kept ones, of all
  std::string rates;                    // where the rates come from
  std::vector<Workload> kept_cells(const std::vector<Workload>& cells) const;  // of those it was made of
  std::vector<LeftOutCell> left_out(Effort effort) const;
};

// This machine, with the rates of the newest record with peaks in one of these folders, else assumed ones; and the GPU
// of the newest such record, else an assumed one, with the memory of the GPU that answers here.
Hardware known_hardware(const std::vector<std::filesystem::path>& results, const RunnerSettings& settings);

// The launches of a workload, and seconds of steps of each, with which the budget leaves as many observations decidable
// as with any: up to as many as effort publish has, where the options name none, and not longer than the limit of the
// options or of their effort. Of equals the most launches, for it is from launch to launch that throughput differs
// (Kalibera & Jones 2013, Rigorous Benchmarking in Reasonable Time, ISMM, section 6), then the longest.
struct LaunchesOfWorkload {
  int64_t launches = 1;
  double limit_seconds = 0;
};
LaunchesOfWorkload launches_within_budget(const std::vector<Workload>& cells, const RunOptions& options,
                                          const Hardware& hardware);

// Throws Error(usage) when the budget leaves no cell.
Forecast forecast(const std::vector<Workload>& cells, const RunOptions& options, const Hardware& hardware);

Table forecast_cells(const Forecast& forecast);
Table forecast_observations(const Forecast& forecast);
Table forecast_total(const Forecast& forecast, const RunOptions& options);

}  // namespace tbd::cli
