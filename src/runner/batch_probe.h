// One try of a batch within an enforced memory budget: a worker of its own that trains a few steps.
#pragma once
#include <optional>
#include <string>

#include "runner/prepare.h"

namespace tbd {

// What trying one batch showed.
struct BatchProbe {
  bool fits = false;
  std::optional<int64_t> observed_bytes;  // the highest seen of what the budget is on; known where it fits
  std::string seen;                       // how it ended, for people
  std::optional<Outcome> fault;           // something else than memory: the search ends with it
};

struct ProbeLimits {
  int64_t limit = 0;  // bytes that it may hold: data of the process (RLIMIT_DATA), or what its allocator takes of a GPU
  int64_t steps = 2;  // at most
  double seconds = 0;  // no step begins later than this after the first step ended; 0: no limit
};

// Trains the cell's batch in a process of its own. Memory that is refused does not fit, and neither does a process that
// a signal ended: many a program crashes where memory is refused. Signals by which people end a process (SIGHUP,
// SIGINT, SIGQUIT, SIGTERM) are a fault, as is all else.
BatchProbe probe_batch(const Workload& cell, const ProbeLimits& limits, const RunnerSettings& settings);

}  // namespace tbd
