// What a plan will take, before anything is measured: memory from the program, time by a roofline over its nodes. Good
// enough to plan by, within a factor of two or so; no number of a report comes from here.
//
//   t = max(0.1 ms x nodes, sum over nodes, forward and backward, of max(FLOPs / (0.6 R), bytes / B))
//                                                                            seconds of a step
//   launch(clean)  = S + 2 t + clamp(max(1.2 n t, 1.2 T), .. limit + t)      n, T: steps and seconds after warming up
//                                                                            that the effort wants
//   launch(trace)  = S + 2 t + min(limit / 3 + t, 1.5 w t) + 6 w t           w: steps of a window, its first third to
//                                                                            warm up, three windows where they fit, and
//                                                                            as many between
//   launch(memory) = S + 2 t + min(limit, m t)                               m: steps of the memory pass
//   limit: launch_limit() of launch_schedule.h
//
// R: FLOP rate of the math type, B: bytes per second of the memory, S: start-up of the framework's worker, load and
// check (a first step takes about twice a later one). The roofline is that of Williams et al. 2009; 0.6 is the share
// of the ISA roof that matrix products of training reach on the machine of docs/performance.md (docs/plans.md says how
// near that comes). 0.1 ms a node is what small networks take for calls, threads and the update. Recurrent layers
// multiply N rows at each time step: their share is 0.6 N / (N + 16). On a GPU the share is 0.4 and a node takes 80 us,
// for the host's calls alone, as was seen on an H200 (docs/plans.md); 5 us in mode cuda-graph, where the device starts
// its kernels by itself, are assumed.
#pragma once
#include <vector>

#include "record/network_kind.h"
#include "runner/hardware.h"
#include "runner/run.h"

namespace tbd {

struct CellPrediction {
  Workload cell;             // config and batch filled in
  int64_t batch = 0;         // the cell's, or the largest that is predicted to fit
  int64_t memory_bytes = 0;  // of a step, as predict_memory says; the framework's own comes on top
  bool fits = true;          // with the framework's own in the cell's budget and its device's memory
  double step_seconds = 0;
  double seconds = 0;  // all launches of all passes; of one that does not fit: one start
  NetworkKind kind;
};

// Passes, launches, limit and effort are those of the options. A network is built once for all its cells. Throws as
// prepare() on a cell that makes no sense.
std::vector<CellPrediction> predict(const std::vector<Workload>& cells, const RunOptions& options,
                                    const Hardware& hardware);
// CellPrediction::seconds with other options.
double launches_seconds(const CellPrediction& cell, const RunOptions& options);
double total_seconds(const std::vector<CellPrediction>& cells);

// Seconds that a run takes beside its cells: the machine's peaks before and after, and its own start.
double seconds_beside(const RunOptions& options);

}  // namespace tbd
