// One workload over many records: where its throughput changed, and with which record (docs/compare.md).
#pragma once
#include <span>
#include <string>
#include <vector>

#include "analysis/compare/comparison.h"
#include "analysis/table.h"

namespace tbd {

struct HistoryChange {
  size_t at = 0;     // of History::rows: the first record of the new level
  double ratio = 0;  // of the geometric means of the levels, new over old
  bool worse() const { return ratio < 1; }
  std::vector<Difference> differences;  // from the last record of the old level to the first of the new one
};

struct History {
  std::vector<const MeasuredRow*> rows;  // of one workload on one machine that have a throughput, oldest first
  std::vector<double> rates;             // units/s, geometric means of their launches
  std::vector<HistoryChange> changes;    // oldest first
};

// Of rows alike but for what may change under a program, in the order of their first; rows must outlive them. A change
// is of more than `margin`. Levels are of records: what a record's launches share is noise here.
std::vector<History> histories(std::span<const MeasuredRow> rows, double margin = kMargin);

std::vector<std::string> history_sentences(std::span<const History> histories);
Table change_table(std::span<const History> histories);
Table history_table(std::span<const History> histories);  // a row a record

}  // namespace tbd
