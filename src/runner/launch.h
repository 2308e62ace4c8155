// One launch of a cell: a fresh worker that trains until enough is measured, its rows in the record as they come.
#pragma once
#include <functional>
#include <span>

#include "base/json.h"
#include "record/writer.h"
#include "runner/prepare.h"

namespace tbd {

struct LaunchOptions {
  Pass pass = Pass::kClean;
  Effort effort = Effort::quick;
  double limit_seconds = 0;          // from the end of the first step
  bool measure_gemm = false;         // after the steps, the framework's matrix product in the cell's precision
  int64_t steps = int64_t{1} << 40;  // at most
  std::string environment_hash;
  std::optional<uint64_t> layout_seed;  // by which the layout of the worker's heap is drawn; absent: none is
};

struct LaunchResult {
  LaunchInfo info;                  // outcome included
  bool disturbed = false;           // so much that another launch is wanted
  std::optional<double> gemm_rate;  // FLOP/s
  std::optional<protocol::HelloReply> hello;
  Json lowering;  // {"composed": [{node, kind, of}], "native": n}; null when not asked
  Json worker;    // what the worker reported of its own process and data; may be null
};

// What the launch does now; stage as in Progress.
using LaunchSink = std::function<void(const std::string& stage, std::span<const double> step_times, double elapsed)>;

// Writes launches/<pass>-<number> of the record, whatever happens, up to its end: launch.json says `interrupted` until
// the caller has kept what the result says of the run and ends the launch. Throws only Error(io) when the record cannot
// be written.
LaunchResult run_launch(PreparedCell& prepared, int64_t number, const LaunchOptions& options,
                        const RunnerSettings& settings, RecordWriter& record, const LaunchSink& sink);

// Of launch.json what the workers of a launch know (RunReply), one a rank: rank 0's, but sums of memory, cores and
// amounts, of shares of the cores the mean, and of disturbances all. `cores`: that they have together, where they share
// some.
Json launch_of_world(std::span<const Json> ranks, std::optional<double> cores = {});

}  // namespace tbd
