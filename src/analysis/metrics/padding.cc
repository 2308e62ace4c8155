// Rates beside the headline throughput: samples, and tokens with and without padding (totals over the stable phase).
#include "analysis/metrics.h"

namespace tbd {
namespace {

Measured column_rate(const RunView& run, std::optional<int64_t> StepRow::*column, const char* missing) {
  const std::optional<int64_t> sum = total(run, column);
  const double seconds = run.seconds();
  if (!sum || !(seconds > 0)) return absent(missing);
  return {.value = static_cast<double>(*sum) / seconds};
}

constexpr const char* kNoPadding = "the data count no tokens";

}  // namespace

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

}  // namespace tbd
