// Quickstart: a number for every cell within a budget of measuring time (measurement.md 4.2).
#pragma once
#include <functional>

#include "runner/run.h"

namespace tbd {

struct QuickstartOptions {
  double budget_seconds = 300;  // of measuring, shared equally among the cells that run
  std::filesystem::path out;
};

// What a framework can do here; no precisions: it is absent.
struct FrameworkOffer {
  std::string framework;  // as --framework names it
  std::vector<std::string> precisions;
  bool pipeline = false;
};
// From the cache, else by asking the worker; a framework that cannot be asked offers nothing.
std::vector<FrameworkOffer> framework_offers(const std::vector<std::string>& frameworks,
                                             const RunnerSettings& settings);

// `like` for each framework in fp32, and in bf16 where it has it, on resident batches; then, the first framework first,
// the same cells through the input pipeline while there are at most six in all. An absent framework keeps one cell, so
// that its row says why.
std::vector<Cell> quickstart_cells(const Cell& like, const std::vector<FrameworkOffer>& offers);

// Chosen from the model's sweep: the largest that fits in memory and leaves room for 25 stable steps (and 5 of warm-up)
// in `share_seconds`, with a step's time linear in the batch; the smallest when none does.
// `fits` says whether a batch fits; it is asked from small to large until it says no.
int64_t choose_batch(const std::vector<int64_t>& sweep, double smallest_step_seconds, double share_seconds,
                     const std::function<bool(int64_t)>& fits);

// Measures the cells, whose batch it chooses. Cells that differ only in framework or input mode get the same batch, the
// smallest that was chosen for one of them, so that they can be compared.
std::vector<CellRun> run_quickstart(std::vector<Cell> cells, const QuickstartOptions& options,
                                    const RunnerSettings& settings, const ProgressSink& progress = {});

}  // namespace tbd
