#include "runner/quickstart.h"

#include <algorithm>
#include <map>

#include "base/files.h"
#include "graph/memory.h"
#include "measure/clock.h"
#include "measure/proc_text.h"
#include "measure/system_file.h"
#include "models/model.h"
#include "runner/prepare.h"
#include "runner/worker_process.h"

namespace tbd {
namespace {

constexpr double kStepsWanted = 25 + 5;  // stable ones, after those that never count as stable
constexpr double kMargin = 1.15;         // reading and decoding share the cores with the step
constexpr double kReserve = 0.04;        // of the budget, for the peaks
constexpr double kMemoryFactor = 1.3;    // allocators and workspaces come on top of the prediction
constexpr int64_t kFrameworkBytes = 600ll << 20;

// What differs between cells of one group is only how they are fed.
std::string group_of(Cell cell) {
  cell.input_mode.clear(), cell.batch = 0;
  return repro_line(cell);
}

std::optional<int64_t> free_memory() {
  std::optional<int64_t> free = memory_limit();
  if (const auto text = read_system_file("/proc/meminfo"))
    if (const auto available = bytes_of_line(parse_colon_lines(*text), "MemAvailable"))
      free = std::min(*available, free.value_or(*available));
  return free;
}

bool fits_memory(const Program& program, int64_t batch) {
  const std::optional<int64_t> free = free_memory();
  if (!free) return true;
  const auto predicted = static_cast<double>(predict_memory(program, {{"N", batch}}).peak().value);
  return kMemoryFactor * predicted + static_cast<double>(kFrameworkBytes) < static_cast<double>(*free);
}

// Seconds of the step after the start-up step; nullopt when the worker fails, which the cell itself will show.
std::optional<double> measured_step(const PreparedCell& prepared, const RunnerSettings& settings) {
  if (prepared.refused) return std::nullopt;
  try {
    const TemporaryFolder scratch;
    WorkerProcess worker(*prepared.worker, settings, worker_environment(prepared, settings), prepared.threads.cores,
                         scratch.path() / "worker.log");
    worker.hello();
    worker.ask<protocol::LoadReply>(load_request(prepared, false), "loading the program", settings.deadlines.load);
    std::vector<int64_t> stamps;
    worker.run({.steps = 2}, [&](std::span<const StepRow> rows) {
      for (const StepRow& row : rows) stamps.push_back(row.completed_ns);
      return false;
    });
    worker.bye();
    if (stamps.size() < 2) return std::nullopt;
    return 1e-9 * static_cast<double>(stamps[1] - stamps[0]);
  } catch (const WorkerFault&) {
    return std::nullopt;
  }
}

struct Choice {
  int64_t batch = 0;
  double step_seconds = 0;  // expected
};

Choice choose_for(Cell cell, double share_seconds, const RunnerSettings& settings) {
  const LoadedProgram loaded = load_program(cell.model, cell.config);
  const std::vector<int64_t> sweep = loaded.model ? loaded.model->sweep : std::vector<int64_t>{1, 2, 4, 8, 16, 32};
  if (cell.batch != 0) return {.batch = cell.batch};
  cell.batch = sweep.front(), cell.input_mode = "resident";
  const PreparedCell prepared = prepare(cell, Effort::quick, settings);
  const std::optional<double> step = measured_step(prepared, settings);
  if (!step) return {.batch = sweep.front()};
  const int64_t batch =
      choose_batch(sweep, *step, share_seconds, [&](int64_t b) { return fits_memory(prepared.program, b); });
  return {.batch = batch, .step_seconds = *step * static_cast<double>(batch) / static_cast<double>(sweep.front())};
}

}  // namespace

int64_t choose_batch(const std::vector<int64_t>& sweep, double smallest_step_seconds, double share_seconds,
                     const std::function<bool(int64_t)>& fits) {
  int64_t best = sweep.front();
  for (const int64_t batch : sweep) {
    const double step = smallest_step_seconds * static_cast<double>(batch) / static_cast<double>(sweep.front());
    if (kMargin * kStepsWanted * step > share_seconds || !fits(batch)) break;
    best = batch;
  }
  return best;
}

std::vector<CellRun> run_quickstart(std::vector<Cell> cells, const QuickstartOptions& options,
                                    const RunnerSettings& settings, const ProgressSink& progress) {
  if (cells.empty()) fail(ErrorKind::usage, "there is no cell to measure");
  const double share = options.budget_seconds * (1 - kReserve) / static_cast<double>(cells.size());
  std::map<std::string, Choice> choices;
  double probing = 0;
  for (Cell& cell : cells) {
    const std::string group = group_of(cell);
    if (!choices.contains(group)) {
      if (settings.interrupted()) fail(ErrorKind::io, "interrupted before anything was measured");
      if (progress)
        progress({.cells = cells.size(),
                  .name = cell.model + " " + cell.precision,
                  .stage = "first step",
                  .note = "choosing the batch"});
      const double began = 1e-9 * static_cast<double>(now_ns());
      choices[group] = choose_for(cell, share, settings);
      probing += 1e-9 * static_cast<double>(now_ns()) - began;
    }
    cell.batch = choices[group].batch;
  }
  double slowest = 0;
  for (const auto& [group, choice] : choices) slowest = std::max(slowest, choice.step_seconds);
  RunOptions run{.effort = Effort::quick, .out = options.out, .launches = 1};
  // The limit counts from the end of the first step, which is slower than those after it.
  const double left = share - probing / static_cast<double>(cells.size());
  run.limit_seconds = std::max(0.25 * share, left - 2 * slowest);
  return run_cells(cells, run, settings, progress);
}

}  // namespace tbd
