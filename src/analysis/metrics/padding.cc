// Rates beside the headline throughput: samples, and tokens with and without padding (totals over the stable phase).
#include "analysis/metric_parts.h"

namespace tbd {
namespace {

Measured column_rate(const RunView& run, std::optional<int64_t> StepRow::*column, const char* missing) {
  const std::optional<int64_t> sum = total(run, column);
  const double seconds = run.seconds();
  if (!sum || !(seconds > 0)) return absent(missing);
  return {.value = static_cast<double>(*sum) / seconds};
}

constexpr const char* kNoPadding = "the data count no tokens";

Measured samples_per_second(const RunView& run) {
  return column_rate(run, &StepRow::samples, "the record does not count samples");
}

Measured valid_per_second(const RunView& run) { return column_rate(run, &StepRow::valid, kNoPadding); }

Measured padded_per_second(const RunView& run) { return column_rate(run, &StepRow::padded, kNoPadding); }

Measured padding_share(const RunView& run) {
  const std::optional<int64_t> valid = total(run, &StepRow::valid), padded = total(run, &StepRow::padded);
  if (!valid || !padded || *padded == 0) return absent(kNoPadding);
  return {.value = 1 - static_cast<double>(*valid) / static_cast<double>(*padded)};
}

void tokens_facts(const RunView& run, Facts& facts) {
  add_column("valid", "tokens", &StepRow::valid, run, facts);
  add_column("padded", "slots", &StepRow::padded, run, facts);
  add_totals(run, facts);
}

void samples_facts(const RunView& run, Facts& facts) {
  add_column("samples", "samples", &StepRow::samples, run, facts);
  add_totals(run, facts);
}

constexpr Metric kPaddingMetrics[] = {
    {.id = "samples_per_second",
     .title = "samples",
     .group = MetricGroup::tokens,
     .unit = Unit::per_second,
     .unit_text = "samples/s",
     .what = "Samples finished in the stable phase over its length.",
     .formula = "sum of samples / sum of step times",
     .counts = "Rows of all batches of a step.",
     .how = kStamps,
     .limits = "Absent where the record does not count samples. Samples of unequal length are unlike work.",
     .gate = MetricGate::timed,
     .inputs = samples_facts,
     .compute = samples_per_second},
    {.id = "valid_per_second",
     .title = "valid tokens",
     .group = MetricGroup::tokens,
     .unit = Unit::per_second,
     .unit_text = "tokens/s",
     .what = "Tokens, or frames of speech, that are no padding, of all inputs and targets, over the length of the "
             "stable phase.",
     .formula = "sum of valid / sum of step times",
     .counts = "In: inputs and targets; of pictures of several sizes, pixels. Out: padding.",
     .how = kStamps,
     .limits = "Absent where the data count no tokens.",
     .gate = MetricGate::timed,
     .inputs = tokens_facts,
     .compute = valid_per_second},
    {.id = "padded_per_second",
     .title = "token slots",
     .group = MetricGroup::tokens,
     .unit = Unit::per_second,
     .unit_text = "slots/s",
     .what = "Places for them, padding included, over the same.",
     .formula = "sum of padded / sum of step times",
     .counts = "All places, padding included.",
     .how = kStamps,
     .limits = "What the arithmetic paid for, never a unit of throughput.",
     .gate = MetricGate::timed,
     .inputs = tokens_facts,
     .compute = padded_per_second},
    {.id = "padding_share",
     .title = "padding",
     .group = MetricGroup::tokens,
     .unit = Unit::fraction,
     .unit_text = "fraction",
     .what = "Slots that hold padding, of all.",
     .formula = "1 - sum of valid / sum of padded",
     .counts = "All inputs and targets of steps after warming up.",
     .how = "From the counts that the worker keeps of its batches.",
     .limits = "Absent where the data count no tokens.",
     .inputs = tokens_facts,
     .compute = padding_share},
};

}  // namespace

std::span<const Metric> padding_metrics() { return kPaddingMetrics; }

}  // namespace tbd
