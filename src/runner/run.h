// Measures cells: each launch a worker process of its own, each cell a record. A worker that is absent, crashes, hangs
// or runs out of memory is an outcome of its cell; the other cells go on.
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "record/record.h"
#include "runner/plan.h"

namespace tbd {

struct RunnerSettings;

// A record that leaves something undecided, and the passes whose further launches may decide it.
struct UndecidedRecord {
  std::filesystem::path folder;
  std::vector<Pass> passes;
};

struct RunOptions {
  Effort effort = Effort::quick;
  std::filesystem::path out;            // the result set: a folder that gets one record a cell
  std::optional<double> limit_seconds;  // of a launch; default: the effort's
  std::optional<int64_t> launches;      // default: the effort's
  // What is measured of each cell, each in launches of its own: clean as often as the effort says, trace and memory
  // once.
  std::vector<Pass> passes = {Pass::kClean};
  // Of pairs of launches: the order that this seed draws (launch_order), and no launch is measured again for being
  // disturbed, since what disturbs one of a pair disturbs the other. Absent: the usual order.
  std::optional<uint64_t> pair_seed;
  bool peaks = true;  // measure the machine's roofs before and after the cells
  // A set that was begun: cells with a record are kept, what they lack is measured; a launch that was cut is measured
  // again, one that is whole never.
  bool resume = false;
  // With `resume`: records with these outcomes are set aside (folder replaced) and measured again.
  std::vector<OutcomeKind> again;
  // No launch begins that is not foreseen to end by then, counted from the start of run_cells; cells without any launch
  // become `skipped` records.
  std::optional<double> budget_seconds;
  // The records in `out` that further launches may decide something of. Within a budget it is asked when each workload
  // has the launches that come first (LaunchSchedule::turns), and again when none is left to make. Absent: never asked.
  std::function<std::vector<UndecidedRecord>()> undecided;
};

// To set workloads side by side: launches of each in turns that `seed` draws, each of up to `seconds` of steps, without
// the machine's peaks.
RunOptions in_turns(int64_t launches, double seconds, uint64_t seed, std::filesystem::path out);

// What happens now. Sent at each change and about once a second.
struct Progress {
  size_t cell = 0, cells = 0;  // of the order of cells, from 0
  std::string name;            // folder_name
  int64_t launch = 1, launches = 1;
  std::string stage;                        // "peaks", "start", "load", "first step", "steps", "done"
  int64_t steps = 0;                        // finished in this launch
  double elapsed_seconds = 0;               // since the run began
  std::optional<double> remaining_seconds;  // an upper estimate for all that is left; unknown before any first step
  std::string note;                         // the outcome's sentence at stage "done"
};
using ProgressSink = std::function<void(const Progress&)>;

struct CellRun {
  Workload cell;  // with its defaults filled in
  Outcome outcome;
  std::filesystem::path record;  // its folder
};

// Throws Error(usage, not_found, invalid) before anything is measured when a cell makes no sense (unknown model,
// config, framework or precision), Error(io) when `out` cannot be written; Error(usage) when `out` holds a record of a
// cell, unless `resume` goes on with it (runner/resume.h says what is refused then). No other process may write into
// `out` meanwhile: the caller holds its SetLock. An interrupt ends the cell at hand
// cleanly and leaves the others out. A cell whose batch is kLargestThatFits gets the batch that a search within its
// memory budget finds (runner/largest_batch.h); environment["largest_batch"] of its record says what the search saw.
std::vector<CellRun> run_cells(const std::vector<Workload>& cells, const RunOptions& options,
                               const RunnerSettings& settings, const ProgressSink& progress = {});

// "results/20260131-120000-resnet50-1a2b3c4d" for these cells at this UTC time.
std::filesystem::path default_out(const std::filesystem::path& results, const std::vector<Workload>& cells,
                                  std::string_view utc_label);

// 0 where a cell has a number and none is a fault, else 3 (docs/command-line.md). Faults are oom, timeout, failed,
// nonfinite, inconsistent and interrupted; an oom that closes a sweep towards the memory limit is none: a smaller batch
// of the same series ran, no larger one did.
int exit_code(const std::vector<CellRun>& results);

}  // namespace tbd
