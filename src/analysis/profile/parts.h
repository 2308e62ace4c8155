// The parts that profile_of puts together.
#pragma once
#include "analysis/profile/profile.h"

namespace tbd {

// Leaf activities that begin in the windows, by node and direction, then nodes of one kind with equal costs as one.
std::vector<ProfileOp> profile_ops(const RankEvents& rank, const std::vector<TimeSpan>& windows, int64_t steps,
                                   const RunInfo& run, const Roofs& roofs);
// Utilization by math type, from the FLOPs of the nodes: vector types count elementwise work, too.
void add_flops(Profile& profile, const RunInfo& run, const Roofs& roofs);
// Ideal, system time, kernel inefficiency, exposed communication, copies, idle causes.
void add_loss(Profile& profile);

}  // namespace tbd
