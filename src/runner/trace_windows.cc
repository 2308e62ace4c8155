#include "runner/trace_windows.h"

#include <algorithm>

namespace tbd {
namespace {

constexpr int64_t kFewest = 4;
constexpr int64_t kFewestAlone = 6;  // of one window in the place of several: of two steps there is no interval

TraceWindows wanted(Effort effort) {
  switch (effort) {
    case Effort::smoke:
      return {.count = 1, .steps = kFewest};
    case Effort::publish:
      return {.count = 3, .steps = 22};
    case Effort::quick:
      break;
  }
  return {.count = 3, .steps = 12};
}

}  // namespace

TraceWindows trace_windows(Series step_times, Effort effort, double limit_seconds) {
  TraceWindows windows = wanted(effort);
  if (step_times.empty() || limit_seconds <= 0) return windows;
  const auto fit = static_cast<int64_t>(limit_seconds / (2 * median(step_times)));  // steps of all windows
  windows.count = std::clamp(fit / kFewest, int64_t{1}, windows.count);
  const int64_t fewest = windows.count == 1 && wanted(effort).count > 1 ? kFewestAlone : kFewest;
  windows.steps = std::clamp(fit / windows.count, fewest, windows.steps);
  return windows;
}

bool warmed_up(Series step_times, Effort effort) {
  const auto before = static_cast<int64_t>(step_times.size());
  if (effort == Effort::smoke) return before >= kFewest;
  if (before < wanted(effort).steps || find_stable_phase(step_times).steps() < wanted(effort).steps) return false;
  const auto judged = static_cast<size_t>(std::min(before, 2 * wanted(effort).steps));
  return !shift_reason(shift_of(step_times.last(judged)));
}

int64_t memory_steps(Effort effort) {
  switch (effort) {
    case Effort::smoke:
      return 3;
    case Effort::publish:
      return 25;
    case Effort::quick:
      break;
  }
  return 5;
}

}  // namespace tbd
