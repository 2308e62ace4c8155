// The parts that profile_of puts together.
#pragma once
#include <memory>

#include "analysis/profile/profile.h"
#include "analysis/profile/windows.h"
#include "analysis/trace/launches.h"

namespace tbd {

// The steps of a traced launch that are looked at.
struct TracedSteps {
  const Launch* launch = nullptr;
  Trace trace;
  RankEvents rank;  // of the trace here
  Launches launches;
  std::vector<TimeSpan> windows;  // may be none
};
using TracedLaunches = std::vector<std::unique_ptr<TracedSteps>>;
// Of each launch of pass trace that left a trace, by number, without those that other work disturbed so much that
// another was wanted, unless all were, and of these without those that lost switches of threads, unless all did. Throws
// Error(invalid) where one is damaged.
TracedLaunches traced_launches(const Record& record);
// Of the last of them; nullptr without one.
std::unique_ptr<TracedSteps> traced_steps(const Record& record);

// Places in launch.steps of the untraced steps before and after each window, as many as it has, less those next to a
// border. Needs launch.info.traced.
std::vector<size_t> untraced_beside(const Launch& launch);

struct NodeCosts {
  std::string op;
  OpCost forward, backward;
  OpCost of(std::string_view direction) const;  // nothing but forward and backward costs
};
// A node that stands in several entries of a step has one row in each, added up here.
std::map<std::string, NodeCosts> costs_by_node(const RunInfo& run);

// Kernels and collectives that begin in the windows, by name. Empty where the processor is the device.
std::vector<ProfileKernel> profile_kernels(const TracedLaunches& launches, int64_t steps, const RunInfo& run,
                                           const Roofs& roofs);

// Activities that begin in the windows, by node and direction, then nodes of one kind with equal costs as one.
std::vector<ProfileOp> profile_ops(const TracedLaunches& launches, int64_t steps, const RunInfo& run,
                                   const Roofs& roofs);
// Utilization by math type, from the FLOPs of the nodes: vector types count elementwise work, too.
void add_flops(Profile& profile, const RunInfo& run, const Roofs& roofs);
// Ideal, system time, layout, kernel inefficiency, exposed communication, copies, idle causes.
void add_loss(Profile& profile);

// What was busy in each step of the windows.
std::vector<StepUse> step_use(const RankEvents& rank, const std::vector<TimeSpan>& windows);

}  // namespace tbd
