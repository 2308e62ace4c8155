// Where a series of step times becomes stable (measurement.md 5.1 and 5.2). Found after the fact, never assumed.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stats/segmentation.h"
#include "stats/series.h"

namespace tbd {

enum class PhaseClass {
  flat,       // stable from the earliest step that may be
  warm_up,    // slower before
  slow_down,  // faster before: the number stands, with a warning
  none,       // less than 30 % of at least 50 steps are stable, or no step is left
};
std::string_view name(PhaseClass kind);

struct StableOptions {
  // The first step that may be stable by other evidence: end of autotuning, JIT or capture; constant reserved memory;
  // with pipeline input the first step whose queue was not empty. Counted from 0.
  std::optional<int64_t> at_least;
  // Steps of one period of periodic work (length buckets, episodes): whole periods are judged, an unfinished last one
  // joins its predecessor.
  int64_t period = 1;
  // Units of each step where they vary: the residual of the time per unit is judged. Empty: constant.
  Series units = {};
};

struct StablePhase {
  int64_t start = 0, end = 0;  // steps [start, end)
  PhaseClass kind = PhaseClass::none;
  bool segmented = false;         // false: fewer than 20 elements, start by the short rule; noise unknown
  std::optional<Noise> noise;     // seconds, of the filtered series
  std::vector<Segment> segments;  // in steps; means in seconds, of the filtered series
  std::optional<double> drift;    // mean of the last third / mean of the first - 1; absent where not segmented
  bool drifting = false;          // |drift| > 1 % and beyond chance

  int64_t steps() const { return end - start; }
};

// `step_times` in seconds from step 0 on. An empty series gives an empty phase of class `none`.
// Throws Error(invalid) where a time is not finite or not positive, or the units are not as many as the steps.
StablePhase find_stable_phase(Series step_times, const StableOptions& options = {});

// Why the throughput must be withheld (gate *steady*, 4.5), as a clause: "only 40 of 200 steps are stable". Absent
// where the phase is steady.
std::optional<std::string> unsteadiness(const StablePhase& phase);

}  // namespace tbd
