// The share of the stable phase in which the step loop waited for a batch.
#include "analysis/metric_parts.h"

namespace tbd {
namespace {

Measured input_wait(const RunView& run) {
  const std::optional<int64_t> waited = total(run, &StepRow::input_wait_ns);
  if (!waited || !(run.seconds() > 0)) return absent("the wait for input was not recorded");
  return {.value = static_cast<double>(*waited) * 1e-9 / run.seconds()};
}

void input_facts(const RunView& run, Facts& facts) {
  add_column("input_wait_ns", "ns", &StepRow::input_wait_ns, run, facts);
  add_totals(run, facts);
}

constexpr Metric kInputWaitMetrics[] = {
    {.id = "input_wait",
     .title = "input wait",
     .group = MetricGroup::input,
     .unit = Unit::fraction,
     .unit_text = "fraction",
     .what = "Time the step loop waited for a batch over the stable phase.",
     .formula = "sum of input_wait_ns / sum of step times",
     .counts = "In: the step loop stood still for a batch. Out: work of loader threads beside it.",
     .how = "Stamped by the step loop around the fetch.",
     .limits = "Small with an expensive loader that takes cores: see \"Is the input the limit?\" in docs/metrics.md.",
     .inputs = input_facts,
     .compute = input_wait},
};

}  // namespace

std::span<const Metric> input_wait_metrics() { return kInputWaitMetrics; }

}  // namespace tbd
