// How much measuring is wanted, and what a number is good for (measurement.md 4.2).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stats/stable_phase.h"

namespace tbd {

enum class Effort { smoke, quick, publish };
std::string_view name(Effort effort);
Effort effort_of(std::string_view name);  // throws Error(usage) that offers the nearest name

enum class Grade { provisional, development, published };  // worst first
std::string_view name(Grade grade);

struct EffortLevel {
  int64_t stable_steps = 0;   // wanted in each launch
  double stable_seconds = 0;  // wanted in each launch; 0: none
  int64_t launches = 1;       // 9 where a Mann-Whitney test is wanted
  double limit_seconds = 0;   // for a launch, from the end of its first step
  bool tests_steadiness = true;
};
const EffortLevel& level(Effort effort);

// The stop rule, for the steps so far of one launch (seconds, from step 0): true once both wants are met. For quick and
// publish the series must also be steady (neither class `none` nor drifting), as a stop there would only withhold the
// number. Never looks at the width of an interval. Costs nothing until the wants could be met.
bool measured_enough(Series step_times, Effort effort, const StableOptions& options = {});

// When the runner applies it: 25 further steps or 5 s after it last did.
inline bool check_is_due(int64_t steps_since, double seconds_since) { return steps_since >= 25 || seconds_since >= 5; }

struct LaunchExtent {
  int64_t stable_steps = 0;
  double stable_seconds = 0;
  double elapsed_seconds = 0;  // from the end of the first step to the last
};
struct Graded {
  Grade grade = Grade::provisional;
  std::string reason;  // what the next grade that this effort aims at lacks: "31 of 50 stable steps in 180 s"; or empty
};
// Each launch must meet the wants. Smoke is always provisional. No launch: provisional.
Graded graded(Effort effort, const std::vector<LaunchExtent>& launches);

}  // namespace tbd
