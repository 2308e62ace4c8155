// What was found in traces, as tables for people and as JSON.
#pragma once
#include <span>
#include <vector>

#include "analysis/table.h"
#include "analysis/trace/rank_analysis.h"
#include "base/json_fwd.h"

namespace tbd {

// One object, all times integers of nanoseconds:
//   rank, window_ns, busy_ns, compute_ns, communication_ns, copy_ns, compute_communication_overlap_ns, idle_ns,
//   queue {launches, onto_empty, median_depth, p95_depth, largest_depth, queued_gaps, queued_ns, empty_gaps, empty_ns,
//   launch_bound_gaps, launch_bound_ns, unknown_gaps, unknown_ns}, null where the processor is the device,
//   streams [{device, stream, busy_ns, idle_ns, idle_causes {cause: ns}}], kernels [{name, count, total_ns}],
//   steps [{name, start_ns, duration_ns}]
// compute includes layout; kernels leave copies out.
Json to_json(const RankAnalysis& analysis);

Table overview_table(std::span<const RankAnalysis> ranks);
Table idle_table(std::span<const RankAnalysis> ranks);
Table stream_table(std::span<const RankAnalysis> ranks);
// The groups that cover 90 % of the rank's time, at least five where there are as many.
Table kernel_table(const RankAnalysis& analysis);
// What ops did besides, by name, as far as `kernel_table` goes; without rows where there is a device.
Table dispatch_table(const RankAnalysis& analysis);
Table path_table(std::span<const RankAnalysis> ranks);
Table step_table(std::span<const RankAnalysis> ranks);
// What the trace lost or had wrong; without rows where nothing was.
Table fault_table(const Trace& trace, std::span<const RankAnalysis> ranks);
// All of the above that has rows, `fault_table`s aside.
std::vector<Table> trace_tables(std::span<const RankAnalysis> ranks);

// Of two traces: totals, and the kernels whose time changed most. Ranks are joined by number.
std::vector<Table> comparison_tables(std::span<const RankAnalysis> base, std::span<const RankAnalysis> next);

}  // namespace tbd
