// What `tbd run` was asked for: the options as they were given, the cells and options of the runner that they make.
#pragma once
#include <filesystem>
#include <optional>

#include "cli/workload_options.h"
#include "runner/run.h"

namespace tbd::cli {

struct RunArguments {
  WorkloadOptions cells;
  std::vector<std::string> passes, again;
  std::string plan, like, out, resume, shard, on;
  WorkerPlaces places;
  std::optional<std::string> effort, launches, limit, budget;
  bool no_peaks = false, no_check = false, dry_run = false;
  void declare(Options& options);
};

struct RunRequest {
  std::vector<Workload> cells;  // of this shard
  RunOptions options;           // `out` is empty where none was named
  bool check = true;            // first whether frameworks side by side train the same network
};
// Throws Error(usage, invalid, not_found) on what makes no sense together.
RunRequest run_request(const RunArguments& arguments, const RunnerSettings& settings);

// "failed" and names of outcomes as the runner takes them. An oom under a memory budget that every cell has is the
// answer sought, no failure.
std::vector<OutcomeKind> outcomes_again(const std::vector<std::string>& names, const std::vector<Workload>& cells);

}  // namespace tbd::cli
