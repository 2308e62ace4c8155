// A record as metrics look at it: the timed launches with their stable phases.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "record/record.h"
#include "stats/stable_phase.h"

namespace tbd {

struct LaunchView {
  const Launch* launch = nullptr;
  std::vector<double> times;  // step times in seconds; times[i] is that of rows()[i]
  StablePhase phase;          // indices into times
  std::string fault;          // why no phase can be found; empty if it was looked for

  std::span<const StepRow> rows() const;    // the steps whose time is known: all, or all but the first
  std::span<const StepRow> window() const;  // the stable ones
  std::span<const double> window_times() const;
  double seconds() const;  // length of the window, |W|
  double units() const;    // finished inside it
};

struct RunView {
  const Record* record = nullptr;    // must outlive the view
  std::vector<LaunchView> launches;  // of the clean pass, those with at least one known step time

  const Workload& workload() const { return record->run.workload; }
  bool smoke() const { return workload().effort == "smoke"; }
  int64_t stable_steps() const;
  double seconds() const;
  double units() const;
};

RunView view(const Record& record);

// The sum of a column over all stable steps; nullopt when it is unknown in any of them.
std::optional<int64_t> total(const RunView& run, std::optional<int64_t> StepRow::*column);

}  // namespace tbd
