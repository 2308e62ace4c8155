// Collective operations seen by all ranks: how long the data moved, and how long each rank waited for the last one.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "analysis/table.h"
#include "analysis/trace/rank_events.h"

namespace tbd {

// One collective of one rank; times counted from the epoch where the trace says its base.
struct CollectiveRun {
  std::string group, name;
  int64_t seq = 0;  // counted by the group where the trace says it, else in order of begin per group and name
  TimeSpan time;
};
std::vector<CollectiveRun> collective_runs(const RankEvents& rank);

struct RankCollectives {
  int32_t rank = 0;
  std::vector<CollectiveRun> runs;
};
// Per group and name: how many were seen by at least two ranks, the transfer (from the last begin to the first end) and
// each rank's wait (from its begin to the last one's). Nobody leaves before the last enters: where that does not hold,
// the ranks' clocks do not agree, and the table says so instead of showing times.
Table collective_table(std::span<const RankCollectives> ranks);

}  // namespace tbd
