// What sweeps() puts together.
#pragma once
#include <tuple>

#include "analysis/sweep/sweep.h"

namespace tbd::sweep_parts {

struct Candidate {  // for a point
  const Record* record = nullptr;
  CellResult cell;
  bool reached_worker = false;  // has a launch; without one the record holds the plan's words, not the worker's
};

// Records of one sweep together, in the order of the records.
std::vector<std::vector<Candidate>> series(std::span<const Record> records);

// Of candidates of one batch, the best first.
SweepPoint point(std::span<const Candidate> candidates, const SweepOptions& options);

// All axes but the batch, the first of them outermost.
inline auto order(const Workload& w, const std::string& machine) {
  return std::tie(w.model, w.config, w.framework, w.precision, w.device, w.input_mode, w.framework_version, w.mode,
                  w.layout, w.threads, w.model_hash, w.allocator, w.optimizer, w.dropout, w.synchronisation,
                  w.data_hash, w.unpinned, w.memory_budget_bytes, machine);
}

}  // namespace tbd::sweep_parts
