// Where a series of step times has warmed up, and how much its level moves after that (docs/statistics.md).
// Steps are cut at the start only and only where they are slower: whatever comes later was got and counts.
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
  flat,     // from the earliest step that may be
  warm_up,  // the steps before are slower
  none,     // no step is left
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

constexpr double kMostShift = 0.05;  // of the level, beyond which a series is called disturbed whatever its noise

struct StablePhase {
  int64_t start = 0, end = 0;  // steps [start, end)
  PhaseClass kind = PhaseClass::none;
  bool segmented = false;         // false: fewer than 20 elements, start by the short rule; noise unknown
  std::optional<Noise> noise;     // seconds, of the filtered series
  std::vector<Segment> segments;  // in steps; means in seconds, of the filtered series

  int64_t steps() const { return end - start; }
};

// `step_times` in seconds from step 0 on. An empty series gives an empty phase of class `none`. At most a third of the
// steps is taken for warming up, besides what the caller's evidence says.
// Throws Error(invalid) where a time is not finite or not positive, or the units are not as many as the steps.
StablePhase find_stable_phase(Series step_times, const StableOptions& options = {});

// How the level of a series moves. Noise alone moves it too: a drift of 5 % in 25 steps that vary by 10 % proves
// nothing of the program, yet such a series says no more than that.
struct Shift {
  std::optional<double> drift;   // mean of the last third / mean of the first - 1; absent below 3 steps
  bool beyond_chance = false;    // |drift| > 1 % and more than noise makes in one of a hundred series
  std::optional<double> levels;  // slowest / fastest level - 1, of levels that hold a tenth of the steps or more
};
// `units` of each step, where they vary: the time per unit is judged. Empty: constant.
Shift shift_of(Series step_times, Series units = {});

// Why a series that moves so is disturbed, as a clause: "step time rises by 48 % from the first third to the last".
// Absent where it is not. `most` of the level may it shift.
std::optional<std::string> shift_reason(const Shift& shift, double most = kMostShift);

}  // namespace tbd
