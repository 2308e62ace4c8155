// The throughput of a cell launch by launch, and what the launches say together.
#pragma once
#include <optional>
#include <vector>

#include "analysis/run_view.h"
#include "stats/intervals.h"

namespace tbd {

struct CellThroughput {
  std::vector<Throughput> launches;  // those with a stable step
  std::optional<LaunchesThroughput> combined;
};
CellThroughput cell_throughput(const RunView& run);

}  // namespace tbd
