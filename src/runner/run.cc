#include "runner/run.h"

#include <algorithm>

#include "base/hash.h"
#include "runner/run_set.h"

namespace tbd {

RunOptions in_turns(int64_t launches, double seconds, uint64_t seed, std::filesystem::path out) {
  return {.effort = Effort::quick,
          .out = std::move(out),
          .limit_seconds = seconds,
          .launches = launches,
          .pair_seed = seed,
          .peaks = false};
}

std::vector<CellRun> run_cells(const std::vector<Workload>& cells, const RunOptions& options,
                               const RunnerSettings& settings, const ProgressSink& progress) {
  return RunSet(cells, options, settings, progress).run();
}

std::filesystem::path default_out(const std::filesystem::path& results, const std::vector<Workload>& cells,
                                  std::string_view utc_label) {
  std::string all, time;
  for (const Workload& cell : cells) all += repro_line(cell) + "\n";
  for (const char c : utc_label)  // "2026-01-31T12:00:00Z" -> "20260131-120000"
    if (c == 'T')
      time += '-';
    else if (c >= '0' && c <= '9')
      time += c;
  const std::string model = cells.empty() ? "none" : std::filesystem::path(cells.front().model).stem().string();
  return results / cat(time, "-", model, "-", sha256_hex(all).substr(0, 8));
}

namespace {

bool ran(const CellRun& run) {
  return run.outcome.kind == OutcomeKind::ok || run.outcome.kind == OutcomeKind::unsteady;
}

bool closes_a_sweep(const CellRun& run, const std::vector<CellRun>& results) {
  bool smaller = false, larger = false;
  for (const CellRun& other : results) {
    Workload cell = other.cell;
    cell.batch = run.cell.batch;
    if (cell != run.cell || !ran(other)) continue;
    (other.cell.batch < run.cell.batch ? smaller : larger) = true;
  }
  return smaller && !larger;
}

bool is_fault(const CellRun& run, const std::vector<CellRun>& results) {
  using enum OutcomeKind;
  const OutcomeKind kind = run.outcome.kind;
  if (kind == oom) return !closes_a_sweep(run, results);
  return kind == timeout || kind == failed || kind == nonfinite || kind == inconsistent || kind == interrupted;
}

}  // namespace

int exit_code(const std::vector<CellRun>& results) {
  const auto failed = [&](const CellRun& run) { return is_fault(run, results); };
  return std::ranges::any_of(results, ran) && std::ranges::none_of(results, failed) ? 0 : 3;
}

}  // namespace tbd
