// Rule 9: while a GPU trains, the processors have little to do.
#include "analysis/observations/scope.h"
#include "analysis/observations/suggest.h"
#include "base/text.h"

namespace tbd::rules {
namespace {

constexpr double kLittle = 0.15;

// A share of counted processor time is exact.
Case processor_case(const Sweep& sweep, const SweepPoint& point) {
  const Measured &share = point.machine_utilization, &cores = point.cell["busy_cores"];
  Case out{.what = sweep.label(), .passes = {}, .said = {}, .numbers = {}, .records = hashes({&point})};
  if (!share.value) {
    out.said = share.reason;
    return out;
  }
  out.passes = *share.value < kLittle;
  out.said = cat(format_percent(*share.value), " of the processors at batch ", point.batch);
  if (cores.value) out.said += cat(", ", significant(*cores.value), " cores busy");
  out.numbers = {number("util_cpu_machine", exactly(*share.value), Unit::fraction)};
  if (cores.value) out.numbers.push_back(number("busy_cores", exactly(*cores.value)));
  return out;
}

}  // namespace

Observation processors_idle(const Scope& scope) {
  Observation o = begun(9, scope);
  if (scope.device == Device::kCpu) {
    o.verdict = RuleVerdict::not_applicable;
    o.effect = "the processor is the device";
    return o;
  }
  for (const Sweep* sweep : scope.sweeps)
    if (const SweepPoint* last = sweep->largest(); last && !sweep->kind.reinforcement)
      o.cases.push_back(processor_case(*sweep, *last));
  o.verdict = by_cases(o.cases);
  o.effect = o.cases.empty() ? "no workload ran on a GPU"
                             : cat("at the largest batch less than 15 % of the processors are busy in ",
                                   text(tally(o.cases), "series"));
  o.missing = "two series on a GPU whose processors' use was recorded";
  Suggestion more = fresh(scope, ModelKind::any, 2);
  if (more.workload.device == Device::kCpu) more.workload.device = Device::gpu(0);
  o.command = command(more);
  finish(o);
  return o;
}

}  // namespace tbd::rules
