// The largest batch that fits into an enforced memory budget: predicted, then found by running (measurement.md 9).
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "base/json_fwd.h"
#include "runner/prepare.h"

namespace tbd {

// What trying one batch showed.
struct BatchProbe {
  bool fits = false;
  std::optional<int64_t> observed_bytes;  // the process's peak; known where it fits
  std::optional<Outcome> fault;           // something else than memory: the search ends with it
};

struct BatchSearch {
  int64_t budget = 0;      // bytes
  int64_t most = 1 << 16;  // no batch above is tried
  double tolerance =
      0.05;               // of the batch: the search ends when the next that fails is as near, or is the next whole one
  int64_t probes = 24;    // at most
  double seconds = 1800;  // no probe begins later
};

struct LargestBatch {
  int64_t budget = 0;
  int64_t batch = 0;                 // the largest that was seen to fit; 0: not even one sample
  std::optional<int64_t> too_large;  // the smallest that was seen not to; absent: all up to `most` fit
  int64_t probes = 0;
  std::optional<int64_t> predicted_bytes;  // at `batch`: of the step, and what the process takes beside it
  std::optional<int64_t> observed_bytes;
  std::optional<double> prediction_error;  // predicted / observed - 1
  bool closed = false;                     // both ends lie as near as wanted, or all fit; else a cap ended the search
  std::optional<Outcome> fault;            // of a probe that failed for another reason; no batch is to be trusted
};
Json to_json(const LargestBatch& found);
LargestBatch largest_batch_from(const Json& json);  // throws Error(invalid)

// Bytes that a step is predicted to take with this batch; linear in it at best.
using PredictBytes = std::function<int64_t(int64_t batch)>;
using TryBatch = std::function<BatchProbe(int64_t batch)>;

// Tries batch 1, which shows what the process takes beside the predicted bytes; the line through the predictions of two
// batches gives the next; from there outwards in growing strides until one fits and one does not, then bisection.
// `elapsed` gives seconds since the search began. No batch is tried twice; memory that is no monotone function of the
// batch still gives a batch that fitted below one that did not. What the search found is then tried by `confirm`, where
// there is one, and made smaller in growing strides until that fits, too: memory may grow over the first steps.
LargestBatch find_largest_batch(const BatchSearch& search, const PredictBytes& predict, const TryBatch& try_batch,
                                const std::function<double()>& elapsed, const TryBatch& confirm = {});

// The search with real workers: each probe is a process that trains two steps under 98 % of the cell's memory
// budget, the last one twelve: allocators take more in the first steps than in the first. Throws Error(usage) when the
// cell has none.
LargestBatch find_largest_batch(const Cell& cell, BatchSearch search, const RunnerSettings& settings,
                                const std::function<void(int64_t batch)>& trying = {});

}  // namespace tbd
