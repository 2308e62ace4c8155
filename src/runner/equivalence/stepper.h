// What the gates ask of a framework: a few training steps of a program on given tensors, and the tensors after them.
#pragma once
#include <functional>
#include <optional>

#include "base/tensor.h"
#include "runner/settings.h"

namespace tbd {

struct Stop {
  int64_t step = 1;                   // after this step tensors are read
  std::vector<std::string> prefixes;  // of their names (docs/step.md)
};

// Steps from given weights with fresh optimizer state. It ends with the last stop.
struct StepRun {
  TensorMap weights;        // param/..., buffer/...; empty: as drawn from the seed
  TensorMap inputs;         // empty: synthetic
  std::vector<Stop> stops;  // steps count from 1 and rise
};

struct StepJob {
  Program program;  // after its passes
  Bindings bindings;
  Precision precision = Precision::kFp32;
  ImageLayout layout = ImageLayout::kNchw;
  Mode mode;            // empty: the framework's usual one
  int64_t threads = 0;  // 0: one per usable core
  uint64_t seed = 0;
  std::optional<double> lr;
  std::vector<StepRun> runs;  // one after the other, in one process
};

struct StepRunResult {
  TensorMap weights, inputs;  // those that were drawn; empty where they were given
  std::vector<TensorMap> at;  // one per stop
};

// Throws WorkerFault when the framework fails, Error when tbd does.
using Stepper = std::function<std::vector<StepRunResult>(const StepJob&)>;

// Steps on `device` in a fresh worker for each job. `entry` and `settings` must outlive it.
Stepper worker_stepper(const WorkerEntry& entry, const RunnerSettings& settings, const Device& device = Device::kCpu);

}  // namespace tbd
