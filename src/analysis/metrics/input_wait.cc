// The share of the stable phase in which the step loop waited for a batch.
#include "analysis/metrics.h"

namespace tbd {

Measured input_wait(const RunView& run) {
  const std::optional<int64_t> waited = total(run, &StepRow::input_wait_ns);
  if (!waited || !(run.seconds() > 0)) return absent("the wait for input was not recorded");
  return {.value = static_cast<double>(*waited) * 1e-9 / run.seconds()};
}

}  // namespace tbd
