// What the gates ask of a framework: a few training steps of a program on given tensors, and the tensors after them.
#pragma once
#include <functional>
#include <optional>

#include "base/tensor.h"
#include "runner/settings.h"

namespace tbd {

// Steps from given weights with fresh optimizer state. Tensors by the names of a step's files (docs/step.md).
struct StepRun {
  TensorMap weights;                  // param/..., buffer/...; empty: as drawn from the seed
  TensorMap inputs;                   // empty: synthetic
  std::vector<int64_t> stops = {1};   // after these steps, counted from 1 and rising, tensors are read; then it ends
  std::vector<std::string> prefixes;  // of the tensors that are read
};

struct StepJob {
  Program program;  // after its passes
  Bindings bindings;
  std::string precision = "fp32";
  std::string layout;  // empty: nchw where the framework has it, else its first
  std::string device = "cpu";
  int64_t threads = 0;  // 0: one per usable core
  uint64_t seed = 0;
  std::optional<double> lr;
  std::vector<StepRun> runs;  // one after the other, in one process
};

struct StepRunResult {
  TensorMap weights, inputs;  // those that were used
  std::vector<TensorMap> at;  // one per stop
};

// Throws WorkerFault when the framework fails, Error when tbd does.
using Stepper = std::function<std::vector<StepRunResult>(const StepJob&)>;

// Steps in a fresh worker for each job. `entry` and `settings` must outlive it.
Stepper worker_stepper(const WorkerEntry& entry, const RunnerSettings& settings);

}  // namespace tbd
