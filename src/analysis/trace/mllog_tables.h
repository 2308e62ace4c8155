// An MLPerf log as tables: what was run, and how long its intervals took.
#pragma once
#include <vector>

#include "analysis/table.h"
#include "trace/import/mllog.h"

namespace tbd {

// The run (status, duration from run_start to run_stop, batch, throughput where it is logged, last accuracy), its
// intervals (epochs, evaluations, blocks: each begin with the next end of its name), and the lines that were malformed.
std::vector<Table> mllog_tables(const Mllog& log);

}  // namespace tbd
