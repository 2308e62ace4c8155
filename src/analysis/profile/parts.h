// The parts that profile_of puts together.
#pragma once
#include "analysis/profile/profile.h"

namespace tbd {

// Traced steps without the first and the last of each window, which the tracer's start and stop disturb, by the trace's
// own events; `traced` as in LaunchInfo. And how many steps lie in them.
std::vector<TimeSpan> inner_windows(const RankEvents& rank, const std::vector<std::array<int64_t, 2>>& traced);
int64_t steps_in(const RankEvents& rank, const std::vector<TimeSpan>& windows);

// Leaf activities that begin in the windows, by node and direction, then nodes of one kind with equal costs as one.
std::vector<ProfileOp> profile_ops(const RankEvents& rank, const std::vector<TimeSpan>& windows, int64_t steps,
                                   const RunInfo& run, const Roofs& roofs);
// Utilization by math type, from the FLOPs of the nodes: vector types count elementwise work, too.
void add_flops(Profile& profile, const RunInfo& run, const Roofs& roofs);
// Ideal, system time, kernel inefficiency, exposed communication, copies, idle causes.
void add_loss(Profile& profile);

// What was busy in each step of the windows.
std::vector<StepUse> step_use(const RankEvents& rank, const std::vector<TimeSpan>& windows);

}  // namespace tbd
