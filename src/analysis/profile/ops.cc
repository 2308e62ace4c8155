#include <algorithm>
#include <tuple>

#include "analysis/profile/parts.h"
#include "analysis/trace/named_work.h"
#include "base/text.h"

namespace tbd {
namespace {

struct Main {  // candidates for the op that took longest
  int64_t ns = 0, runs = 0;
  std::string shapes;
};

struct NodeTime {
  int64_t total_ns = 0, layout_ns = 0;
  std::map<std::string, Main> by_op;
};

using NodeKey = std::pair<std::string, std::string>;  // node, direction

void add_times(const TracedSteps& launch, std::map<NodeKey, NodeTime>& times) {
  const Trace& trace = launch.trace;
  for (const Activity& activity : launch.rank.activities) {
    if (!begins_inside(launch.windows, activity.begin)) continue;
    const NamedWork work = named_work(trace, activity.event);
    const std::string node(trace.strings()[work.node]);
    NodeTime& time = times[{node, direction_of(trace.phases()[activity.event])}];
    const int64_t ns = activity.end - activity.begin;
    time.total_ns += ns;
    if (activity.cls == DeviceClass::layout) time.layout_ns += ns;
    Main& main = time.by_op[std::string(trace.name(activity.event))];
    main.ns += ns;
    main.runs += !activity.resumed;
    if (main.shapes.empty()) main.shapes = std::string(trace.strings()[work.shapes]);
  }
}

bool is_vector_type(const std::string& type) { return type == "fp32" || type == "fp64"; }

void set_roofline(ProfileOp& op, const Precision& precision, const Roofs& roofs) {
  const auto isa = roofs.isa.find(precision.text()),
             simd = roofs.isa.find(precision == Precision::kFp64 ? "fp64" : "fp32");
  const auto time = static_cast<double>(op.total_ns);
  if (time <= 0 || isa == roofs.isa.end()) return;
  double compute_ns = 1e9 * static_cast<double>(op.flop_model) / isa->second;
  if (simd != roofs.isa.end()) compute_ns += 1e9 * static_cast<double>(op.flop_simd) / simd->second;
  const double memory_ns = roofs.bandwidth ? 1e9 * static_cast<double>(op.bytes) / *roofs.bandwidth : 0;
  if (op.flop_model + op.flop_simd + op.bytes == 0) return;
  op.ideal_ns = std::min(time, std::max(compute_ns, memory_ns));
  op.bound = compute_ns >= 0.6 * time && compute_ns >= memory_ns ? "compute"
             : memory_ns >= 0.6 * time                           ? "memory"
                                                                 : "latency";
  const double counted = static_cast<double>(op.flop_model + (is_vector_type(precision.text()) ? op.flop_simd : 0));
  op.utilization = counted / (isa->second * op.seconds());
}

}  // namespace

OpCost NodeCosts::of(std::string_view direction) const {
  if (direction == "forward") return forward;
  return direction == "backward" ? backward : OpCost{};
}

std::map<std::string, NodeCosts> costs_by_node(const RunInfo& run) {
  std::map<std::string, NodeCosts> costs;
  const auto add = [](OpCost& sum, const OpCost& more) {
    sum.flop_model += more.flop_model;
    sum.flop_simd += more.flop_simd;
    sum.bytes += more.bytes;
  };
  for (const OpRow& row : run.ops) {
    NodeCosts& node = costs[row.node];
    node.op = row.op;
    add(node.forward, row.forward);
    add(node.backward, row.backward);
  }
  return costs;
}

// What computes takes up the ideal time first.
double ProfileOp::layout_loss_ns() const {
  const double ideal_of_layout = std::max(0.0, ideal_ns - static_cast<double>(total_ns - layout_ns));
  return static_cast<double>(layout_ns) - ideal_of_layout;
}

std::optional<double> ProfileOp::flop_rate() const {
  if (flop_model + flop_simd == 0 || total_ns == 0) return std::nullopt;
  return static_cast<double>(flop_model + flop_simd) / seconds();
}

std::optional<double> ProfileOp::intensity() const {
  if (bytes == 0) return std::nullopt;
  return static_cast<double>(flop_model + flop_simd) / static_cast<double>(bytes);
}

std::vector<ProfileOp> profile_ops(const TracedLaunches& launches, int64_t steps, const RunInfo& run,
                                   const Roofs& roofs) {
  std::map<NodeKey, NodeTime> times;
  for (const auto& launch : launches) add_times(*launch, times);
  const std::map<std::string, NodeCosts> costs = costs_by_node(run);
  std::map<std::tuple<std::string, std::string, int64_t, int64_t, int64_t, std::string>, ProfileOp> groups;
  std::map<std::tuple<std::string, std::string, int64_t, int64_t, int64_t, std::string>, int64_t> main_ns;
  for (const auto& [key, time] : times) {
    const auto& [node, direction] = key;
    const auto cost = costs.find(node);
    const OpCost counted = cost != costs.end() ? cost->second.of(direction) : OpCost{};
    const std::string op = cost != costs.end() ? cost->second.op : direction == "update" ? "update" : "other";
    const auto main = std::ranges::max_element(time.by_op, {}, [](const auto& each) { return each.second.ns; });
    const auto group = std::tuple(op, direction, counted.flop_model, counted.flop_simd, counted.bytes, main->first);
    ProfileOp& sum = groups[group];
    sum.op = op;
    sum.direction = direction;
    sum.main_op = main->first;
    if (!node.empty()) sum.nodes.push_back(node);
    sum.total_ns += time.total_ns;
    sum.layout_ns += time.layout_ns;
    sum.runs += main->second.runs;
    if (main->second.ns > main_ns[group]) {
      main_ns[group] = main->second.ns;
      sum.shapes = main->second.shapes;
    }
    sum.flop_model += counted.flop_model * steps;
    sum.flop_simd += counted.flop_simd * steps;
    sum.bytes += counted.bytes * steps;
  }
  std::vector<ProfileOp> ops;
  for (auto& [key, op] : groups) {
    set_roofline(op, run.workload.precision, roofs);
    ops.push_back(std::move(op));
  }
  std::ranges::stable_sort(ops, std::greater{}, &ProfileOp::total_ns);
  return ops;
}

}  // namespace tbd
