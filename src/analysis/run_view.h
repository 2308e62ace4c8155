// A record as metrics look at it: the timed launches, what of each is past warming up, and which of that is
// undisturbed.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/blocks.h"
#include "record/record.h"
#include "stats/stable_phase.h"

namespace tbd {

struct LaunchView {
  const Launch* launch = nullptr;
  std::vector<double> times;  // step times in seconds; times[i] is that of rows()[i]
  StablePhase phase;          // indices into times
  std::vector<Block> blocks;  // of window(), with its indices
  Shift shift;                // of window()
  std::string fault;          // why no phase can be found; empty if it was looked for

  std::span<const StepRow> rows() const;    // the steps whose time is known: all, or all but the first
  std::span<const StepRow> window() const;  // those after warming up
  std::span<const double> window_times() const;
  size_t window_begin() const;  // of window() in launch->steps
  double seconds() const;       // sum of the window's step times, |W|
  double units() const;         // finished inside it
};

// Which steps the throughput is taken from. `undisturbed`: the blocks that their evidence calls so. `total`: all after
// warming up; also where nothing tells blocks apart.
enum class Basis { undisturbed, total };
std::string_view name(Basis basis);
inline constexpr double kLeastUndisturbed = 0.2;  // of the time, for the undisturbed level to be the headline

// Steps by their times and units, launch by launch.
struct StepWork {
  std::vector<double> times, units;
};

struct RunView {
  const Record* record = nullptr;    // must outlive the view
  std::vector<LaunchView> launches;  // of the clean pass, those with at least one known step time
  Basis basis = Basis::total;
  // Of the time of the steps; absent where nothing tells disturbed blocks from others.
  std::optional<double> undisturbed_share;

  const MeasuredWorkload& workload() const { return record->run.workload; }
  bool smoke() const { return workload().effort == "smoke"; }
  int64_t stable_steps() const;
  double seconds() const;
  double units() const;
};

// The steps of a launch's window that `basis` takes; may be empty.
StepWork work_of(const LaunchView& launch, Basis basis);
// Of the time per unit, where every step did some.
Shift shift_of(const StepWork& work);

// The steps that the headline is taken from, launches pooled.
struct StepTotals {
  double seconds = 0;
  int64_t steps = 0;
  std::optional<double> rows;  // of a step on average (StepRow::rows); nullopt where a step does not say
};
StepTotals headline_steps(const RunView& run);

RunView view(const Record& record);

// The sum of a column over all steps after warming up; nullopt when it is unknown in any of them.
std::optional<int64_t> total(const RunView& run, std::optional<int64_t> StepRow::*column);

}  // namespace tbd
