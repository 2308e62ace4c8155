// Kernels of a GPU by name: first the time of each kernel for each node and direction, then each node's FLOPs over its
// kernels, then the sums by name.
#include <algorithm>
#include <set>
#include <tuple>

#include "analysis/profile/parts.h"
#include "analysis/trace/named_work.h"
#include "base/text.h"

namespace tbd {
namespace {

struct KernelWork {
  int64_t runs = 0, ns = 0;
  bool layout = false;  // casts, transposes, reorders
};
using NodePass = std::pair<std::string, std::string>;   // node, direction
using KernelTimes = std::map<std::string, KernelWork>;  // by name

void add_kernel_times(const TracedSteps& launch, std::map<NodePass, KernelTimes>& times) {
  const Trace& trace = launch.trace;
  for (const Activity& activity : launch.rank.activities) {
    if (activity.cls == DeviceClass::copy || !begins_inside(launch.windows, activity.begin)) continue;
    const std::string node(trace.strings()[named_work(trace, activity.event).node]);
    KernelTimes& kernels = times[{node, direction_of(trace.phases()[activity.event])}];
    KernelWork& work = kernels[std::string(trace.name(activity.event))];
    ++work.runs;
    work.ns += activity.end - activity.begin;
    work.layout = activity.cls == DeviceClass::layout;
  }
}

// Of the node's time, that of the kernels which its FLOPs are charged to.
int64_t charged_time(const KernelTimes& kernels, bool layout_too) {
  int64_t sum = 0;
  for (const auto& [name, work] : kernels)
    if (layout_too || !work.layout) sum += work.ns;
  return sum;
}

void charge_flops(ProfileKernel& kernel, const OpCost& cost, double share) {
  kernel.flop_model += share * static_cast<double>(cost.flop_model);
  kernel.flop_simd += share * static_cast<double>(cost.flop_simd);
}

std::optional<double> of_peak(double flops, const Roofs& roofs, const std::string& type, int64_t ns) {
  const auto peak = roofs.isa.find(type);
  if (peak == roofs.isa.end() || ns <= 0) return std::nullopt;
  return flops / (peak->second * 1e-9 * static_cast<double>(ns));
}

// On a GPU every type but fp32 and fp64 multiplies on tensor cores.
void set_shares_of_peak(ProfileKernel& kernel, const Precision& precision, const Roofs& roofs) {
  if (kernel.nodes.empty()) return;
  const bool tensor = precision != Precision::kFp32 && precision != Precision::kFp64;
  kernel.vector = of_peak(tensor ? kernel.flop_simd : kernel.flop_model + kernel.flop_simd, roofs,
                          precision == Precision::kFp64 ? "fp64" : "fp32", kernel.total_ns);
  if (tensor) kernel.tensor = of_peak(kernel.flop_model, roofs, precision.text(), kernel.total_ns);
  kernel.utilization = tensor ? kernel.tensor : kernel.vector;
}

std::string direction_text(const std::set<std::string>& directions) {
  std::vector<std::string> said;
  for (const char* direction : {"forward", "backward", "update", "other"})
    if (directions.contains(direction)) said.emplace_back(direction);
  return join(said, " and ");
}

}  // namespace

std::vector<ProfileKernel> profile_kernels(const TracedLaunches& launches, int64_t steps, const RunInfo& run,
                                           const Roofs& roofs) {
  std::map<NodePass, KernelTimes> times;
  for (const auto& launch : launches)
    if (launch->rank.on_device) add_kernel_times(*launch, times);
  const std::map<std::string, NodeCosts> costs = costs_by_node(run);
  std::map<std::string, ProfileKernel> by_name;
  std::map<std::string, std::set<std::string>> directions, nodes;
  for (const auto& [key, kernels] : times) {
    const auto& [node, direction] = key;
    const auto cost = costs.find(node);
    const bool layout_too = charged_time(kernels, false) == 0;
    const auto all = static_cast<double>(charged_time(kernels, layout_too));
    for (const auto& [name, work] : kernels) {
      ProfileKernel& kernel = by_name[name];
      kernel.name = name;
      kernel.runs += work.runs;
      kernel.total_ns += work.ns;
      directions[name].insert(direction);
      if (!node.empty()) nodes[name].insert(node);
      if (cost == costs.end() || all <= 0 || (work.layout && !layout_too)) continue;
      charge_flops(kernel, cost->second.of(direction), static_cast<double>(steps) * static_cast<double>(work.ns) / all);
    }
  }
  std::vector<ProfileKernel> out;
  for (auto& [name, kernel] : by_name) {
    kernel.direction = direction_text(directions[name]);
    kernel.nodes.assign(nodes[name].begin(), nodes[name].end());
    set_shares_of_peak(kernel, run.workload.precision, roofs);
    out.push_back(std::move(kernel));
  }
  std::ranges::stable_sort(out, std::greater{}, &ProfileKernel::total_ns);
  return out;
}

}  // namespace tbd
