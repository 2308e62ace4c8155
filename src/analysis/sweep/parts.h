// What sweeps() puts together.
#pragma once
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

}  // namespace tbd::sweep_parts
