// Measures any training program: launches of a command, its steps as hooks, bytes or lines of output tell them, in a
// record like a workload's (docs/exec.md).
#pragma once
#include <array>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "runner/run.h"
#include "stats/effort.h"

namespace tbd {

// What the profiler of a program's framework wrote.
struct WrittenTrace {
  std::filesystem::path file;
  std::array<int64_t, 2> steps{};  // first and last traced one, counted from the program's first step
  int64_t before = 0;              // steps of the program before the launch, whose rows count from its own first one
};

// A window of steps that this profiler traces, in the last launch's run of the program.
struct TraceWish {
  int64_t steps = 3;            // that are looked at; the one before and the one after them are traced, too
  std::optional<int64_t> from;  // of the program's steps the first traced one; absent: once enough is measured
  // Writes trace.tbdt into the folder of the launch. Throws Error where it cannot, which is the launch's reason then.
  std::function<void(const WrittenTrace& written, const std::filesystem::path& folder)> import;
  int64_t window() const { return steps + 2; }
  int64_t least_from() const { return window() + 3; }  // leaves two clean steps, and as many beside the window as in it
};

struct ExecOptions {
  std::vector<std::string> command;
  std::filesystem::path out;  // the result set
  Effort effort = Effort::quick;
  EffortLevel wants = level(Effort::quick);  // launches, and of each launch steps and seconds after warming up
  bool repeats = true;                       // launches that other work disturbed, while the effort's time lasts
  double patience_seconds = 900;             // until the first step, and between two
  std::string step_regex;                    // WatchOptions
  double units = 1;                          // that a step finishes
  std::string unit = "steps";                // their name
  std::optional<TraceWish> trace;            // after what is measured without a trace; then nothing is repeated
  std::string repro;                         // the command line of all this
};

// "train.py" of `python -u train.py --lr 0.1`: the first word with a script's ending, else python's module, else the
// program. What a record calls the model.
std::string program_name(std::span<const std::string> command);

// All launches of all commands, as many of each as the first wants, which take turns; with a seed in pairs
// (RunOptions). Throws Error(usage, not_found) before anything is written when a command cannot be started.
std::vector<CellRun> exec_commands(std::span<const ExecOptions> commands, const RunnerSettings& settings,
                                   const ProgressSink& progress, std::optional<uint64_t> pair_seed = {});

}  // namespace tbd
