#include "analysis/compare/step_counters.h"

#include <algorithm>

#include "analysis/memory/memory_report.h"
#include "analysis/profile/parts.h"

namespace tbd {
namespace {

constexpr CounterMeaning kMeanings[] = {
    {"parameters", "trained numbers of the network"},
    {"nodes", "nodes of its graph"},
    {"flops", "FLOPs of a step, matrix-like and elementwise, forward and backward (docs/flops.md)"},
    {"least_bytes", "bytes that its nodes read and write at least"},
    {"allocations", "blocks of memory that a step allocates (memory pass)"},
    {"allocated_bytes", "bytes of them, as asked for"},
    {"peak_bytes", "the most bytes that were live at once, as asked for (memory pass)"},
    {"ops", "ops that the framework ran in a step (trace pass)"},
    {"kernels", "kernels that ran on the device in a step (trace pass)"}};

void add_counts(const RunInfo& run, std::vector<StepCounter>& counters) {
  if (run.parameters) counters.push_back({"parameters", {*run.parameters}});
  if (run.ops.empty()) return;
  int64_t flops = 0, bytes = 0;
  for (const OpRow& op : run.ops)
    for (const OpCost& cost : {op.forward, op.backward}) {
      flops += cost.flop_model + cost.flop_simd;
      bytes += cost.bytes;
    }
  counters.push_back({"nodes", {static_cast<int64_t>(run.ops.size())}});
  counters.push_back({"flops", {flops}});
  counters.push_back({"least_bytes", {bytes}});
}

// Of whole steps but the first, which makes what later ones keep.
void add_allocations(const Record& record, std::vector<StepCounter>& counters) {
  const std::optional<MemoryReport> report = memory_report(record);
  if (!report) return;
  const MemoryLog& log = report->log;
  StepCounter allocations{"allocations", {}}, bytes{"allocated_bytes", {}};
  size_t block = 0;
  for (size_t mark = 0; mark < log.marks.size();) {
    const int64_t step = log.marks[mark].step;
    const uint32_t begin = log.marks[mark].event;
    while (mark < log.marks.size() && log.marks[mark].step == step) ++mark;
    const auto end = mark < log.marks.size() ? log.marks[mark].event : static_cast<uint32_t>(log.event_ns.size());
    int64_t count = 0, sum = 0;
    while (block < log.blocks.size() && log.blocks[block].born < begin) ++block;
    for (; block < log.blocks.size() && log.blocks[block].born < end; ++block) {
      ++count;
      sum += log.blocks[block].requested;
    }
    if (step < 2 || mark == log.marks.size()) continue;
    allocations.values.push_back(count);
    bytes.values.push_back(sum);
  }
  if (!allocations.values.empty()) counters.insert(counters.end(), {allocations, bytes});
  counters.push_back({"peak_bytes", {sum(report->study.peak.requested)}});
}

void add_op_counts(const Record& record, std::vector<StepCounter>& counters) {
  const std::unique_ptr<TracedSteps> traced = traced_steps(record);
  if (!traced) return;
  const Trace& trace = traced->trace;
  std::vector<TimeSpan> steps;
  for (const TimeSpan& window : traced->windows)
    for (const uint32_t step : traced->rank.steps)
      if (trace.begins()[step] >= window.begin && trace.end(step) <= window.end)
        steps.push_back({trace.begins()[step], trace.end(step)});
  if (steps.empty()) return;
  std::ranges::sort(steps, {}, &TimeSpan::begin);
  StepCounter ops{"ops", std::vector<int64_t>(steps.size())}, kernels{"kernels", std::vector<int64_t>(steps.size())};
  for (size_t i = 0; i < trace.size(); ++i) {
    const EventKind kind = trace.kinds()[i];
    const bool is_op = kind == EventKind::op || kind == EventKind::backward_op;
    if (!is_op && kind != EventKind::kernel) continue;
    const auto after = std::ranges::upper_bound(steps, trace.begins()[i], {}, &TimeSpan::begin);
    if (after == steps.begin() || trace.begins()[i] >= (after - 1)->end) continue;
    ++(is_op ? ops : kernels).values[static_cast<size_t>(after - steps.begin() - 1)];
  }
  counters.push_back(ops);
  if (traced->rank.on_device) counters.push_back(kernels);
}

}  // namespace

std::span<const CounterMeaning> step_counter_meanings() { return kMeanings; }

std::vector<StepCounter> step_counters(const Record& record) {
  std::vector<StepCounter> counters;
  add_counts(record.run, counters);
  add_allocations(record, counters);
  add_op_counts(record, counters);
  return counters;
}

}  // namespace tbd
