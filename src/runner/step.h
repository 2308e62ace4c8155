// `tbd step`: a few steps on given or synthetic inputs; outputs, gradients and the state after them in a file.
// Names and meanings: docs/step.md (Files of a step).
#pragma once
#include <filesystem>
#include <optional>

#include "runner/plan.h"
#include "runner/settings.h"

namespace tbd {

struct StepOptions {
  Workload
      cell;  // precision may be fp64; dropout is off unless the inputs hold masks; batch 0: that of the inputs, else 2
  std::optional<std::filesystem::path> weights, inputs;            // read: by parameter, buffer and input name
  std::optional<std::filesystem::path> save_weights, save_inputs;  // written, before the first step
  std::filesystem::path out;
  int64_t steps = 1;               // that reuse the batch
  int64_t workers = 1;             // ranks, a share of the batches each; what is written is rank 0's
  std::optional<int64_t> at_step;  // schedules and bias corrections are taken as of it
  std::optional<double> lr;
  std::optional<std::string> phase;  // run that phase alone, once
};

struct StepResult {
  std::map<std::string, double> losses;  // of the last step, by phase
  int64_t tensors = 0;                   // in `out`
};

// Throws Error: usage for options, invalid with the first mismatching name and both shapes for weights or inputs of
// another network, and the worker's own reason otherwise. `out` is replaced atomically or not at all.
StepResult run_step(const StepOptions& options, const RunnerSettings& settings);

}  // namespace tbd
