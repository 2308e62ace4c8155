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
  // What the efficiency is made of, where the same workers were measured without an exchange, too: what they lose by
  // sharing the machine, X(n, none) / (n X(1)), and by the exchange, X(n) / X(n, none).
  Quotient contention, exchange;
};
// Of each row of several workers: against one worker with its batch (weak), and with theirs together (strong). The
// cells must outlive them.
std::vector<Scaling> scalings(std::span<const CellResult> cells);
// How several workers go together: "all_reduce", "all_reduce, wire bf16".
std::string exchange_words(const MeasuredWorkload& workload);
Table scaling_table(std::span<const Scaling> scalings);  // without rows where there are none

}  // namespace tbd
