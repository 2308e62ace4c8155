// Quickstart: a number for every cell within a budget of measuring time (measurement.md 4.2).
#pragma once
#include <functional>

#include "runner/run.h"

namespace tbd {

struct QuickstartOptions {
  double budget_seconds = 300;  // of measuring, shared equally among the cells
  std::filesystem::path out;
};

// Chosen from the model's sweep: the largest that fits in memory and leaves room for 25 stable steps (and 5 of warm-up)
// in `share_seconds`, with a step's time linear in the batch; the smallest when none does.
// `fits` says whether a batch fits; it is asked from small to large until it says no.
int64_t choose_batch(const std::vector<int64_t>& sweep, double smallest_step_seconds, double share_seconds,
                     const std::function<bool(int64_t)>& fits);

// Measures the cells, whose batch it chooses; cells that differ only in input mode get the same batch.
std::vector<CellRun> run_quickstart(std::vector<Cell> cells, const QuickstartOptions& options,
                                    const RunnerSettings& settings, const ProgressSink& progress = {});

}  // namespace tbd
