// Which of a trace's steps a profile looks at.
#pragma once
#include <array>
#include <vector>

#include "analysis/trace/rank_events.h"

namespace tbd {

// Traced steps without the first and the last of each window, which the tracer's start and stop disturb, by the trace's
// own events; `traced` as in LaunchInfo. And how many steps lie in them.
std::vector<TimeSpan> inner_windows(const RankEvents& rank, const std::vector<std::array<int64_t, 2>>& traced);
int64_t steps_in(const RankEvents& rank, const std::vector<TimeSpan>& windows);
bool begins_inside(const std::vector<TimeSpan>& windows, int64_t begin);

}  // namespace tbd
