// The throughput of a cell launch by launch, and what the launches say together.
#pragma once
#include <optional>
#include <vector>

#include "analysis/run_view.h"
#include "stats/intervals.h"

namespace tbd {

struct CellThroughput {
  std::vector<Throughput> launches;  // those with a step of the basis
  std::vector<int64_t> numbers;      // of these launches
  std::optional<LaunchesThroughput> combined;
};
CellThroughput cell_throughput(const RunView& run, Basis basis);
inline CellThroughput cell_throughput(const RunView& run) { return cell_throughput(run, run.basis); }  // the headline

}  // namespace tbd
