// Traces named on the command line, read and analysed one after the other.
#pragma once
#include <string>
#include <vector>

#include "analysis/table.h"
#include "analysis/trace/rank_analysis.h"
#include "cli/command.h"

namespace tbd::cli {

struct AnalyzedTraces {
  std::vector<RankAnalysis> ranks;  // by rank
  std::vector<Table> faults;        // of the files that had any, and the ranks that are missing
  int32_t world_size = 0;           // as the traces say; 0 where they do not
};
// Files whose ranks clash, as traces that do not say their rank do, are numbered in the order given, and said so on
// stderr unless `quiet`; ranks that are missing are named. Throws Error(invalid) when a file holds nothing to analyse.
AnalyzedTraces analyzed(Context& context, const std::vector<std::string>& paths, TraceWindow window, bool quiet);
// The tables of the MLPerf logs among `paths`, which are taken out of it.
std::vector<Table> mllog_tables_of(std::vector<std::string>& paths);
// The files of a trace argument: itself; of a record the traces of its launches.
std::vector<std::filesystem::path> trace_paths(const std::vector<std::string>& arguments);

}  // namespace tbd::cli
