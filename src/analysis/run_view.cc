#include "analysis/run_view.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"

namespace tbd {
namespace {

// Pairs of stamps; the first step counts only where its beginning was stamped.
std::vector<double> step_times(const Launch& launch) {
  std::vector<double> times;
  std::optional<int64_t> before = launch.info.first_step_began_ns;
  for (const StepRow& row : launch.steps) {
    if (before) times.push_back(static_cast<double>(row.completed_ns - *before) * 1e-9);
    before = row.completed_ns;
  }
  return times;
}

// smoke takes what there is after its first step: no steadiness test (measurement.md 4.2).
StablePhase smoke_phase(size_t steps) {
  const auto n = static_cast<int64_t>(steps);
  return {.start = n > 1 ? 1 : 0, .end = n, .kind = PhaseClass::flat};
}

// The first step that the worker's own events allow, as an index into the known times.
std::optional<int64_t> earliest(const LaunchView& launch) {
  const std::optional<int64_t> step = launch.launch->info.steady_from_step;
  if (!step) return std::nullopt;
  const auto at = std::ranges::lower_bound(launch.rows(), *step, {}, &StepRow::step);
  return at - launch.rows().begin();
}

bool units_vary(std::span<const StepRow> rows) {
  return std::ranges::any_of(rows, [&](const StepRow& row) { return row.units != rows.front().units; });
}

StablePhase found_phase(const LaunchView& launch) {
  std::vector<double> units;
  if (units_vary(launch.rows()))
    for (const StepRow& row : launch.rows()) units.push_back(row.units);
  return find_stable_phase(launch.times, {.at_least = earliest(launch), .units = units});
}

LaunchView view_of(const Launch& launch, bool smoke) {
  LaunchView view{.launch = &launch, .times = step_times(launch)};
  try {
    view.phase = smoke ? smoke_phase(view.times.size()) : found_phase(view);
  } catch (const Error& error) {
    view.fault = error.what();
  }
  return view;
}

}  // namespace

std::span<const StepRow> LaunchView::rows() const { return std::span(launch->steps).last(times.size()); }
std::span<const StepRow> LaunchView::window() const {
  return rows().subspan(static_cast<size_t>(phase.start), static_cast<size_t>(phase.steps()));
}
std::span<const double> LaunchView::window_times() const {
  return std::span(times).subspan(static_cast<size_t>(phase.start), static_cast<size_t>(phase.steps()));
}
double LaunchView::seconds() const { return std::accumulate(window_times().begin(), window_times().end(), 0.0); }
double LaunchView::units() const {
  double sum = 0;
  for (const StepRow& row : window()) sum += row.units;
  return sum;
}

int64_t RunView::stable_steps() const {
  int64_t sum = 0;
  for (const LaunchView& launch : launches) sum += launch.phase.steps();
  return sum;
}
double RunView::seconds() const {
  double sum = 0;
  for (const LaunchView& launch : launches) sum += launch.seconds();
  return sum;
}
double RunView::units() const {
  double sum = 0;
  for (const LaunchView& launch : launches) sum += launch.units();
  return sum;
}

RunView view(const Record& record) {
  RunView run{.record = &record, .launches = {}};
  for (const Launch& launch : record.launches) {
    if (launch.info.pass != "clean") continue;
    LaunchView launch_view = view_of(launch, run.smoke());
    if (!launch_view.times.empty()) run.launches.push_back(std::move(launch_view));
  }
  return run;
}

std::optional<int64_t> total(const RunView& run, std::optional<int64_t> StepRow::*column) {
  int64_t sum = 0;
  for (const LaunchView& launch : run.launches)
    for (const StepRow& row : launch.window()) {
      if (!(row.*column)) return std::nullopt;
      sum += *(row.*column);
    }
  return run.stable_steps() > 0 ? std::optional(sum) : std::nullopt;
}

}  // namespace tbd
