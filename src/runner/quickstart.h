// Quickstart: a number for every cell within a budget of measuring time (docs/statistics.md).
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
  std::vector<Precision> precisions;
  bool pipeline = false;
  Device device = Device::kCpu;  // that it would train on
};
// From the cache, else by asking the worker; a framework that cannot be asked offers nothing. `device`: as --device
// gives it, empty for a GPU where one answers, else the CPU.
std::vector<FrameworkOffer> framework_offers(const std::vector<std::string>& frameworks, const Device& device,
                                             const RunnerSettings& settings);

// `like` for each framework in fp32, and where it has them in tf32 (on a GPU) and bf16, on resident batches; then, the
// first framework first, the same cells through the input pipeline while there are at most six in all. An absent
// framework keeps one cell, so that its row says why.
std::vector<Workload> quickstart_cells(const Workload& like, const std::vector<FrameworkOffer>& offers);

// What is measured of the cells: speed; where one of them trains on a GPU also where its time and its memory go, as the
// paper shows of GPUs, in one launch each. A worker that cannot tell leaves these out.
std::vector<Pass> quickstart_passes(const std::vector<Workload>& cells);

// Chosen from the model's sweep: the largest that fits in memory and leaves room for 25 steps after 5 of warming up
// in `share_seconds`, with a step's time linear in the batch; the smallest when none does.
// `smallest_step_seconds`: of the first batch of the sweep. `fits` says whether a batch fits; it is asked from small to
// large until it says no.
int64_t choose_batch(const std::vector<int64_t>& sweep, double smallest_step_seconds, double share_seconds,
                     const std::function<bool(int64_t)>& fits);

// The batches that are tried on a device: a model's sweep, on a GPU after that its largest doubled up to 1,024.
std::vector<int64_t> sweep_on(const Device& device, std::vector<int64_t> sweep);

// How a cell's share of the budget is spent: as many launches as effort quick wants, so that the interval is one
// between launches, where at least half of the share remains for steps; else one.
struct LaunchPlan {
  int64_t launches = 1;
  double limit_seconds = 0;  // of a launch, after its first step
};
// `start_seconds`: until the end of the first step, and for the step that may begin at the limit.
LaunchPlan plan_launches(double share_seconds, double start_seconds);

// Measures the cells, whose batch it chooses. Cells that differ only in framework or input mode get the same batch, the
// smallest that was chosen for one of them, so that they can be compared.
std::vector<CellRun> run_quickstart(std::vector<Workload> cells, const QuickstartOptions& options,
                                    const RunnerSettings& settings, const ProgressSink& progress = {});

}  // namespace tbd
