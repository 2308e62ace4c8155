// How many steps the passes besides clean take (docs/profile.md, Passes): windows of traced steps spread over a launch,
// with as many untraced ones before and after each; a handful of steps for memory.
#pragma once
#include "stats/effort.h"

namespace tbd {

struct TraceWindows {
  int64_t count = 1;  // of windows
  int64_t steps = 4;  // in each, and between them; the first and the last of each are not looked at
};
// For these step times in seconds and a limit for all windows with what is between them: as many windows as fit with 4
// steps each, then as many steps as fit. One window of 6 steps at least, whatever the limit; smoke has one of 4.
TraceWindows trace_windows(Series step_times, Effort effort, double limit_seconds);

// Whether enough untraced steps have gone before the first window: steady (docs/statistics.md), and as many as a window
// has. Smoke tests no steadiness.
bool warmed_up(Series step_times, Effort effort);

// Smoke 3, quick 5, publish 25: the last shows a leak.
int64_t memory_steps(Effort effort);

}  // namespace tbd
