// What several workers make of a workload: rows alike but for their workers, against the row of one (docs/metrics.md).
#pragma once
#include <span>
#include <string>
#include <vector>

#include "analysis/cell.h"

namespace tbd {

struct Scaling {
  const CellResult* one = nullptr;
  const CellResult* several = nullptr;
  bool strong = false;    // the workers share the batch of the one; else each has as large a batch
  Quotient efficiency;    // X(n) / (n X(1)) with its 95 % interval; empty where there is a reason
  std::string undecided;  // why there is none, a clause
};
// Of each row of several workers: against one worker with its batch (weak), and with theirs together (strong). The
// cells must outlive them.
std::vector<Scaling> scalings(std::span<const CellResult> cells);
Table scaling_table(std::span<const Scaling> scalings);  // without rows where there are none

}  // namespace tbd
