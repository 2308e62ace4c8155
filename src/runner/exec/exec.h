// Measures any training program: launches of a command, its steps as hooks, bytes or lines of output tell them, in a
// record like a workload's (docs/exec.md).
#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "record/writer.h"
#include "runner/exec/watched_command.h"
#include "runner/run.h"
#include "runner/settings.h"
#include "stats/effort.h"

namespace tbd {

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
  std::string repro;                         // the command line of all this
};

// One launch: ended once enough is measured, which is no fault, or by itself.
struct CommandLaunch {
  LaunchInfo info;  // outcome included
  HookFacts facts;
  bool disturbed = false;  // by other work, so much that another launch is wanted
  bool bunched = false;    // many of its steps were told several at once
};
using CommandLaunchSink = std::function<void(const std::string& stage, int64_t steps)>;  // stage as in Progress
// Writes launches/<pass>-<number> of the record up to its end, which is the caller's: he ends it with what is returned.
// Throws only Error(io) when the record cannot be written.
CommandLaunch run_command_launch(const ExecOptions& options, int64_t number, const RunnerSettings& settings,
                                 RecordWriter& record, const CommandLaunchSink& sink);

// "train.py" of `python -u train.py --lr 0.1`: the first word with a script's ending, else python's module, else the
// program. What a record calls the model.
std::string program_name(std::span<const std::string> command);

// All launches of all commands, as many of each as the first wants, which take turns; with a seed in pairs
// (RunOptions). Throws Error(usage, not_found) before anything is written when a command cannot be started.
std::vector<CellRun> exec_commands(std::span<const ExecOptions> commands, const RunnerSettings& settings,
                                   const ProgressSink& progress, std::optional<uint64_t> pair_seed = {});

}  // namespace tbd
