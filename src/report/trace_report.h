// The report of traces: one self-contained HTML file without scripts.
#pragma once
#include <filesystem>
#include <span>
#include <string>

#include "analysis/table.h"
#include "analysis/trace/rank_analysis.h"

namespace tbd {

// A bar of each rank's window by class and idle cause, which add to 100 %, then the tables. Same analysis, same bytes;
// text of the trace is escaped, and a content security policy admits no script at all.
std::string trace_report_html(std::span<const Table> tables, std::span<const RankAnalysis> ranks);
void write_trace_report(std::span<const Table> tables, std::span<const RankAnalysis> ranks,
                        const std::filesystem::path& out);

}  // namespace tbd
