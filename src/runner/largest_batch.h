// The largest batch that fits into an enforced memory budget: predicted, then found by running (docs/observations.md).
//
// The budget is on the process's data (RLIMIT_DATA), of which the network's own bytes (graph/memory.h) are a part:
// allocators, arenas of threads, packed weights and workspaces of convolutions add an amount that does not depend on
// the batch and one that grows with it, different in each framework. Both are calibrated by running: two probes of
// different batch give slope and intercept of a line, and the search predicts from that line. Each batch that runs
// replaces the line's upper end, because allocators take memory in leaps.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "runner/batch_probe.h"

namespace tbd {

struct BatchSearch {
  int64_t budget = 0;      // bytes
  int64_t least = 1;       // what the network takes at least, 1 or 2
  int64_t most = 1 << 16;  // no batch above is tried
  double tolerance =
      0.05;               // of the batch: the search ends when the next that fails is as near, or is the next whole one
  int64_t probes = 24;    // at most
  double seconds = 1800;  // no probe begins later
};

struct TriedBatch {
  int64_t batch = 0;
  bool fits = false;
  std::optional<int64_t> predicted_bytes;  // by the line, where it was known by then
  std::optional<int64_t> observed_bytes;
  std::string seen;  // "trained 12 steps", "the worker of pytorch was killed by signal 11 ..."
};

struct LargestBatch {
  int64_t budget = 0;
  int64_t batch = 0;                 // the largest that was seen to fit; 0: none, or no answer (`fault`)
  std::optional<int64_t> too_large;  // the smallest that was seen not to; absent: all up to `most` fit
  std::vector<TriedBatch> tried;     // in order
  std::optional<int64_t>
      predicted_bytes;  // at `batch`, by the line before it was first tried; absent where none was known
  std::optional<int64_t> observed_bytes;
  std::optional<double> prediction_error;  // predicted / observed - 1
  bool closed = false;                     // both ends lie as near as wanted, or all fit; else a cap ended the search
  std::optional<Outcome> fault;            // of a probe that failed for another reason than memory: there is no answer
};
Json to_json(const LargestBatch& found);
LargestBatch largest_batch_from(const Json& json);  // throws Error(invalid)

// Bytes that a step is predicted to take with this batch; linear in it at best.
using PredictBytes = std::function<int64_t(int64_t batch)>;
// By the framework's rules, where they are known (graph/keeping.h). The program has to outlive the function.
PredictBytes bytes_of_step(const Program& program, std::string_view framework);
using TryBatch = std::function<BatchProbe(int64_t batch)>;

// Tries batch 2 (some threads of a worker sleep at 1; the least follows where 2 does not fit), then a quarter of what
// its bytes and the slope of the predictions say, or less until one fits. The line through both gives the guess, at
// most four times what ran; from there outwards, at least in growing strides, until one fits and one does not, then
// bisection. `elapsed` gives seconds since the search began. No batch is tried twice; memory that is no monotone
// function of the batch still gives a batch that fitted below one that did not. What the search found is then tried by
// `confirm`, where there is one, and made smaller in growing strides until that fits, too: memory may grow over the
// first steps.
LargestBatch find_largest_batch(const BatchSearch& search, const PredictBytes& predict, const TryBatch& try_batch,
                                const std::function<double()>& elapsed, const TryBatch& confirm = {});

// The search with real workers: each probe is a process that trains twelve steps under 98 % of the cell's memory
// budget, since allocators take more over the first steps than in the first; two seconds of them, but in the last
// probe. Throws Error(usage) when the cell has no budget.
LargestBatch find_largest_batch(const Workload& cell, BatchSearch search, const RunnerSettings& settings,
                                const std::function<void(int64_t batch)>& trying = {});

}  // namespace tbd
