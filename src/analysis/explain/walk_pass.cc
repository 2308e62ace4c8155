// Figures of the trace pass and of the memory pass of a record.
#include <algorithm>

#include "analysis/explain/walk.h"
#include "analysis/memory/memory_report.h"
#include "analysis/profile/profile.h"

namespace tbd {
namespace {

constexpr const char* kTrace = "launches/trace-<n>/trace.tbdt";
constexpr const char* kMemory = "launches/memory-<n>/memory.safetensors";

void add_roofs(const Record& record, Facts& facts) {
  const Roofs roofs = Roofs::of(record.run);
  for (const auto& [type, rate] : roofs.isa)
    facts.push_back({"peak by instructions, " + type, rate, "FLOP/s", "run.json: peaks.isa"});
  for (const auto& [type, rate] : roofs.gemm)
    facts.push_back({"best matrix product, " + type, rate, "FLOP/s", "run.json: peaks.gemm"});
  facts.push_back({"bandwidth", known(roofs.bandwidth), "B/s", "run.json: peaks.bandwidth"});
}

void add_flop_use(const Profile& profile, Facts& facts) {
  for (const FlopUse& use : profile.flops) {
    facts.push_back({use.type + ": FLOPs in the window", use.flops, "", "run.json: ops, times steps"});
    facts.push_back({use.type + ": active", known(use.active), "", "FLOPs / (R P)"});
    facts.push_back({use.type + ": window", known(use.window), "", "FLOPs / (R W) = active * U"});
    facts.push_back({use.type + ": active, of the product", known(use.active_of_product), "", "FLOPs / (R_gemm P)"});
  }
}

void add_loss_facts(const Profile& profile, Facts& facts) {
  int64_t sum = 0;
  for (const LossPart& part : profile.loss) {
    facts.push_back({"part: " + part.cause, part.ns, "ns", kTrace});
    sum += part.ns;
  }
  facts.push_back({"sum of the parts", sum, "ns", "equals the window"});
}

void add_counters(const Profile& profile, Facts& facts) {
  constexpr const char* kFile = "launches/trace-<n>/counters.csv";
  if (!profile.counters) return facts.push_back({"no counters", "the worker left no counters.csv", "", ""});
  const CounterUse& use = *profile.counters;
  facts.push_back({"untraced steps beside the traced ones", use.steps, "", kFile});
  for (size_t i = 0; i < kCounters; ++i)
    facts.push_back({cat(name(static_cast<Counter>(i)), " a step"), known(use.per_step[i]), "",
                     use.per_step[i] ? kFile : use.absent[i]});
  facts.push_back({"instructions per cycle", known(use.instructions_per_cycle()), "", "instructions / cycles"});
  facts.push_back({"clock", known(use.clock_rate()), "Hz", "cycles / task_clock_ns"});
  facts.push_back({"bytes of cache misses", known(use.miss_bytes()), "B", "cache_misses times the bytes of a line"});
}

void add_bounds(std::string_view bound, const Profile& profile, Facts& facts) {
  for (const ProfileOp& op : profile.ops)
    if (op.bound == bound)
      facts.push_back({cat(op.op, " ", op.direction, ", ", op.runs, " runs"),
                       cat(op.flop_model + op.flop_simd, " FLOP, ", op.bytes, " B in ", op.total_ns, " ns"), "",
                       kTrace});
}

void add_class(std::string_view name_of, const MemoryReport& report, Facts& facts) {
  int64_t sum = 0;
  for (size_t c = 0; c < kMemoryClasses; ++c) {
    const auto kind = static_cast<MemoryClass>(c);
    sum += report.study.peak.requested[c];
    if (report.study.class_peaks[c] == 0 && name_of != name(kind)) continue;
    facts.push_back({cat(name(kind), " at the peak"), report.study.peak.requested[c], "B", kMemory});
    if (name_of == name(kind) || name_of == "class_peak")
      facts.push_back({cat(name(kind), ", its own peak"), report.study.class_peaks[c], "B", kMemory});
    if ((name_of == "steady") && !report.study.after_steps.empty())
      facts.push_back(
          {cat(name(kind), " after the last step"), report.study.after_steps.back().requested[c], "B", kMemory});
  }
  facts.push_back({"sum of the classes", sum, "B", "memory.peak"});
}

void add_closure(const MemoryReport& report, Facts& facts) {
  const MemoryClosure& closure = report.closure;
  const char* file = closure.of_device ? "launch.json: host.memory, memory.safetensors" : "launch.json: host.memory";
  facts.push_back({closure.of_device ? "device memory of the process" : "resident", known(closure.total), "B",
                   closure.of_device ? "launch.json: host.memory.device_bytes, else gpu.use.process_memory_bytes.peak"
                                     : "launch.json: host.memory.resident_bytes"});
  for (const MemoryPart& part : closure.parts) facts.push_back({"- " + part.what, known(part.bytes), "B", file});
  facts.push_back({"unexplained", known(closure.unexplained), "B", "the whole less the parts"});
  facts.push_back({"closed", known(closure.closed()), "", cat("|unexplained| <= ", closure.bound(), " B")});
}

}  // namespace

void add_trace(std::string_view id, const Record& record, Facts& facts) {
  if (id.starts_with("roof.")) return add_roofs(record, facts);
  const std::optional<Profile> profile = profile_of(record);
  if (!profile) {
    facts.push_back({"no traced launch", "tbd profile MODEL, or tbd run --passes clean,trace, measures one", "", ""});
    return;
  }
  facts.push_back({"traced launches", std::ssize(profile->step_use), "",
                   "without those that other work disturbed or that lost switches"});
  facts.push_back({"traced steps looked at", profile->steps, "", kTrace});
  facts.push_back({"window W", profile->window_ns, "ns", "steps without the first and last of each window"});
  facts.push_back(
      {"busy with compute P", profile->masks.busy(kComputeBits), "ns", "union of the times in which ops compute"});
  facts.push_back({"U = P / W", profile->compute_utilization(), "", ""});
  if (id.starts_with("flop_utilization.")) {
    add_roofs(record, facts);
    add_flop_use(*profile, facts);
  }
  if (id.starts_with("loss.") || id.starts_with("idle.") || id == "ideal_share") add_loss_facts(*profile, facts);
  if (id.starts_with("bound.")) {
    add_roofs(record, facts);
    add_bounds(id.substr(6), *profile, facts);
  }
  if (id == "ideal_share") facts.push_back({"ideal share", known(profile->ideal_share), "", "ideal / W"});
  if (id == "mean_op_utilization") facts.push_back({"mean", profile->mean_utilization(), "", "sum(u t) / sum(t)"});
  if (id.starts_with("counters.")) add_counters(*profile, facts);
  if (id == "system_share")
    facts.push_back({"system share", known(profile->system_share), "", "steps.csv of the traced steps"});
  if (id == "minor_faults_per_step")
    facts.push_back({"faults a step", known(profile->minor_faults), "", "steps.csv: minor_faults"});
  if (id == "agreement")
    facts.push_back({"agreement", known(profile->agreement), "", "medians of untraced and clean steps"});
  if (profile->overhead) {
    facts.push_back({"traced over untraced", profile->overhead->value, "", "steps.csv: completed_ns"});
    if (const auto& i = profile->overhead->interval)
      facts.push_back({"95 % interval", cat(exact(i->low), " to ", exact(i->high)), "", "Welch"});
  }
  for (const std::string& note : profile->notes) facts.push_back({"note", note, "", ""});
}

void add_memory(std::string_view id, const Record& record, Facts& facts) {
  const std::optional<MemoryReport> report = memory_report(record);
  if (!report) {
    facts.push_back(
        {"no launch of the memory pass", "tbd memory MODEL, or tbd run --passes clean,memory, measures one", "", ""});
    return;
  }
  const std::string_view what = id.substr(id.find('.') + 1);
  facts.push_back({"evidence", std::string(name(report->log.evidence)), "", kMemory});
  facts.push_back({"blocks", static_cast<int64_t>(report->log.blocks.size()), "", kMemory});
  facts.push_back({"event of the peak", int64_t{report->study.peak.event}, "", kMemory});
  facts.push_back({"step of the peak", report->study.peak.step, "", kMemory});
  if (what == "closure") return add_closure(*report, facts);
  if (what == "allocator_difference") {
    facts.push_back(
        {"live by the allocator", known(report->allocator_live), "B", "launch.json: host.memory.allocator_live_bytes"});
    facts.push_back(
        {"held by the ledger", known(report->ledger_held), "B", "launch.json: host.memory.ledger_held_bytes"});
    facts.push_back({"difference", known(report->difference()), "B", ""});
    return;
  }
  if (what == "held") facts.push_back({"greatest held", report->study.held_peak, "B", kMemory});
  if (what == "growth") facts.push_back({"growth from step 2 on", known(report->study.growth_since(2)), "B", kMemory});
  add_class(what, *report, facts);
}

}  // namespace tbd
