#include "analysis/run_view.h"

#include <algorithm>
#include <numeric>

#include "analysis/step_ops.h"
#include "base/error.h"

namespace tbd {
namespace {

// Pairs of stamps, less what the speed probe took between them; the first step counts only where its beginning was
// stamped.
std::vector<double> step_times(const Launch& launch) {
  std::vector<double> times;
  std::optional<int64_t> began = launch.info.first_step_began_ns;
  for (const StepRow& row : launch.steps) {
    if (began) times.push_back(static_cast<double>(row.completed_ns - *began) * 1e-9);
    began = row.completed_ns + row.pause_ns.value_or(0);
  }
  return times;
}

// smoke takes what there is after its first step: no steadiness test (docs/statistics.md).
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

void cut_blocks(LaunchView& view, const CoreRates& best) {
  const std::span<const StepRow> window = view.window();
  if (window.empty()) return;
  const std::vector<CoreRates> rates = steady_rates(view.launch->steps);
  const size_t at = view.window_begin();
  view.blocks = step_blocks({.rows = window,
                             .times = view.window_times(),
                             .rates = std::span(rates).subspan(at, window.size()),
                             .before = at > 0 ? rates[at - 1] : CoreRates()},
                            view.launch->info.cores, best);
  view.shift = shift_of(work_of(view, Basis::total));
}

LaunchView view_of(const Launch& launch, bool smoke, const CoreRates& best) {
  LaunchView view{.launch = &launch, .times = step_times(launch)};
  try {
    view.phase = smoke ? smoke_phase(view.times.size()) : found_phase(view);
    cut_blocks(view, best);
  } catch (const Error& error) {
    view.fault = error.what();
  }
  return view;
}

// The headline is the undisturbed level where enough of the time was undisturbed, in most of the launches: of one alone
// nothing would show how launches differ.
void choose_basis(RunView& run) {
  double judged = 0, undisturbed = 0;
  size_t with_some = 0;
  for (const LaunchView& launch : run.launches) {
    for (const Block& block : launch.blocks) {
      if (block.judged()) judged += block.seconds;
      if (block.undisturbed()) undisturbed += block.seconds;
    }
    with_some += std::ranges::any_of(launch.blocks, &Block::undisturbed);
  }
  if (judged > 0) run.undisturbed_share = undisturbed / run.seconds();
  if (!run.smoke() && run.undisturbed_share.value_or(0) >= kLeastUndisturbed && 2 * with_some > run.launches.size())
    run.basis = Basis::undisturbed;
}

// Calls `visit` with the place in the window of each step that `basis` takes.
template <class Visit>
void visit_steps(const LaunchView& launch, Basis basis, Visit visit) {
  for (const Block& block : launch.blocks)
    for (size_t i = block.begin; i < block.end; ++i)
      if (basis != Basis::undisturbed || block.undisturbed()) visit(i);
}

}  // namespace

std::string_view name(Basis basis) { return basis == Basis::total ? "total" : "undisturbed"; }

StepWork work_of(const LaunchView& launch, Basis basis) {
  StepWork work;
  visit_steps(launch, basis, [&](size_t i) {
    work.times.push_back(launch.window_times()[i]);
    work.units.push_back(launch.window()[i].units);
  });
  return work;
}

Shift shift_of(const StepWork& work) {
  const bool counted = std::ranges::all_of(work.units, [](double units) { return units > 0; });
  return shift_of(work.times, counted ? Series(work.units) : Series());
}

StepTotals headline_steps(const RunView& run) {
  StepTotals totals;
  std::vector<StepRow> steps;
  for (const LaunchView& launch : run.launches) {
    for (const double time : work_of(launch, run.basis).times) totals.seconds += time;
    visit_steps(launch, run.basis, [&](size_t i) { steps.push_back(launch.window()[i]); });
  }
  totals.steps = std::ssize(steps);
  totals.rows = mean_rows(steps);
  return totals;
}

std::span<const StepRow> LaunchView::rows() const { return std::span(launch->steps).last(times.size()); }
std::span<const StepRow> LaunchView::window() const {
  return rows().subspan(static_cast<size_t>(phase.start), static_cast<size_t>(phase.steps()));
}
std::span<const double> LaunchView::window_times() const {
  return std::span(times).subspan(static_cast<size_t>(phase.start), static_cast<size_t>(phase.steps()));
}
size_t LaunchView::window_begin() const {
  return launch->steps.size() - times.size() + static_cast<size_t>(phase.start);
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
  const CoreRates best = best_rates(record.launches);
  for (const Launch& launch : record.launches) {
    if (launch.info.pass != Pass::kClean) continue;
    LaunchView launch_view = view_of(launch, run.smoke(), best);
    if (!launch_view.times.empty()) run.launches.push_back(std::move(launch_view));
  }
  choose_basis(run);
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
