#include "analysis/gap/split.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/gap/shares.h"
#include "analysis/profile/parts.h"
#include "analysis/trace/idle.h"
#include "analysis/trace/named_work.h"
#include "base/text.h"

namespace tbd {
namespace {

using NodePhase = std::pair<StringId, EventPhase>;
using ByKernel = std::map<StringId, int64_t>;

std::vector<NodeShare> named(const Trace& trace, const std::map<NodePhase, ByKernel>& times) {
  std::map<std::pair<std::string, std::string>, ByKernel> nodes;
  for (const auto& [key, kernels] : times) {
    const std::string direction = direction_of(key.second);
    const std::string_view node = trace.strings()[key.first];
    const std::string name = direction == "update" ? "update" : node.empty() ? "outside nodes" : std::string(node);
    for (const auto& [kernel, ns] : kernels) nodes[{name, direction}][kernel] += ns;
  }
  std::vector<NodeShare> shares;
  for (const auto& [key, kernels] : nodes) {
    NodeShare share{.node = key.first, .direction = key.second};
    int64_t most = -1;
    for (const auto& [kernel, ns] : kernels) {
      share.ns += ns;
      if (ns > most) {
        most = ns;
        share.kernel = std::string(trace.strings()[kernel]);
      }
    }
    shares.push_back(std::move(share));
  }
  return shares;
}

}  // namespace

int64_t StepSplit::busy_ns() const {
  int64_t sum = 0;
  for (const NodeShare& node : nodes) sum += node.ns;
  return sum;
}

std::optional<StepSplit> split_steps(const Record& record) {
  const std::unique_ptr<TracedSteps> traced = traced_steps(record);
  if (!traced || traced->windows.empty()) return std::nullopt;
  const auto& [launch, trace, rank, launches, windows] = *traced;

  StepSplit split{.steps = steps_in(rank, windows)};
  std::map<NodePhase, ByKernel> times;
  for (const TimeSpan& window : windows) {
    split.window_ns += window.length();
    share_window(rank.activities, window, [&](const Activity& activity, int64_t ns) {
      const NodePhase key{named_work(trace, activity.event).node, trace.phases()[activity.event]};
      times[key][trace.names()[activity.event]] += ns;
    });
    const IdleCauses causes(rank, launches, window);
    visit_gaps(rank, window, [&](const Gap& gap) { causes.add_device(gap, split.idle); });
  }
  split.nodes = named(trace, times);
  return split;
}

}  // namespace tbd
