// How much measuring is wanted, and what a number is good for (docs/statistics.md).
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

// Worst first. `disturbed`: other work moved the number; it is shown, and evidence only by launches in turns.
enum class Grade { disturbed, provisional, development, published };
std::string_view name(Grade grade);

struct EffortLevel {
  int64_t steps = 0;            // wanted in each launch after warming up
  double seconds = 0;           // of steps, wanted in each launch after warming up; 0: none
  int64_t launches = 1;         // 9 where a Mann-Whitney test is wanted
  double limit_seconds = 0;     // for a launch, from the end of its first step
  double workload_seconds = 0;  // for all launches of a workload, those included that are measured again
};
const EffortLevel& level(Effort effort);

// The stop rule, for the steps so far of one launch (seconds, from step 0): true once both wants are met. Never looks
// at what the steps took or how wide an interval is: that would be optional stopping. Costs nothing until the wants
// could be met.
bool measured_enough(Series step_times, Effort effort, const StableOptions& options = {});

// When the runner applies it: 25 further steps or 5 s after it last did.
inline bool check_is_due(int64_t steps_since, double seconds_since) { return steps_since >= 25 || seconds_since >= 5; }

// What a grade follows from. Steps are not counted: an interval says what they are worth.
struct GradeEvidence {
  int64_t launches = 0;
  std::optional<double> half_width;  // of the 95 % interval, relative to the number
  std::string disturbance;           // why the number is disturbed, one clause; empty: it is not
};
struct Graded {
  Grade grade = Grade::provisional;
  std::string reason;  // why it is no better, and what the next grade wants; empty where the effort aims no higher
};
// published: effort publish, 5 launches, half-width at most 2 %. development: 3 launches, at most 5 %. Smoke is always
// provisional.
Graded graded(Effort effort, const GradeEvidence& evidence);

}  // namespace tbd
