// The traced steps of a record, split into the time of each node and each idle cause: all that a step consists of.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "analysis/trace/host_timeline.h"
#include "record/record.h"

namespace tbd {

// Of a node in one direction. Where several activities run at once, each instant is shared equally among them, so the
// shares of all nodes add up to the busy time, not beyond it.
struct NodeShare {
  std::string node;       // "update" for all of the update; "outside nodes" where no node is said
  std::string direction;  // forward, backward, update or other
  std::string kernel;     // the framework's op or kernel with most of it: "aten::convolution_backward"
  int64_t ns = 0;
};

struct StepSplit {
  int64_t steps = 0, window_ns = 0;
  std::vector<NodeShare> nodes;  // by node, then direction
  CauseTimes idle{};
  int64_t busy_ns() const;  // busy_ns() + total(idle) = window_ns, to the nanosecond
};

// Of the record's last launch of pass trace: the traced steps without the first and the last of each window. nullopt
// without such a launch, trace or step. Throws Error(invalid) when the trace is damaged.
std::optional<StepSplit> split_steps(const Record& record);

}  // namespace tbd
