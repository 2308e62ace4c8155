// The time of a set: what is foreseen, what a budget leaves, what the progress line says.
#include <algorithm>

#include "measure/clock.h"
#include "runner/run_set.h"

namespace tbd {
namespace {

double total_of(std::span<const double> x) {
  double total = 0;
  for (const double each : x) total += each;
  return total;
}

}  // namespace

double RunSet::foreseen(const Turn& turn) const {
  return times_.foreseen(entries_[turn.cell].prepared.cell, turn.pass).value_or(limit_seconds_);
}

// Whether the launch, and the roofs after the last one, are foreseen to end within the budget.
bool RunSet::in_time(const Turn& turn) const {
  if (!options_.budget_seconds || entries_[turn.cell].prepared.refused) return true;
  return now_seconds() + foreseen(turn) + peaks_seconds_ <= began_ + *options_.budget_seconds;
}

// Upper estimate of the time that a launch with these step times takes after its first step.
double RunSet::launch_seconds(std::span<const double> times) const {
  const EffortLevel& wants = level(options_.effort);
  const double mean = total_of(times) / static_cast<double>(times.size());
  const double needed = std::max(1.2 * static_cast<double>(wants.steps + 5) * mean, 1.2 * wants.seconds);
  return std::min(limit_seconds_, needed);
}

void RunSet::tell(size_t index, const std::string& stage, std::span<const double> times, double elapsed) {
  if (!progress_) return;
  const double now = now_seconds();
  if (stage == last_stage_ && now - last_told_ < 1) return;
  last_stage_ = stage;
  last_told_ = now;
  const Entry& entry = entries_[index];
  Progress progress{
      .cell = index,
      .cells = entries_.size(),
      .name = entry.folder.filename().string(),
      .launch = std::clamp<int64_t>(stage == "done" ? entry.done() : entry.done() + 1, 1, launches_of_cell()),
      .launches = launches_of_cell(),
      .stage = stage,
      .steps = times.empty() ? 0 : static_cast<int64_t>(times.size()) + 1,
      .elapsed_seconds = now - began_};
  if (stage == "done") progress.note = entry.outcome.kind == OutcomeKind::ok ? "" : entry.outcome.reason;
  progress.remaining_seconds = remaining(stage, times, elapsed);
  progress_(progress);
}

// The launch at hand and those after it, each as long as one like it, or else as the one at hand or their mean; never
// beyond the budget.
std::optional<double> RunSet::remaining(const std::string& stage, std::span<const double> times, double elapsed) const {
  const double now = now_seconds();
  const bool stepping = stage == "steps" && !times.empty();
  const double here = stepping ? launch_seconds(times) : 0;
  std::optional<double> usual = times_.mean();
  if (!usual && stepping) usual = here + (now - launch_began_ - elapsed);
  if (!usual) return std::nullopt;
  double total = stepping ? std::max(0.0, here - elapsed) : 0;
  for (size_t i = stepping || stage == "done" ? turn_ + 1 : turn_; i < turns_.size(); ++i)
    if (to_do(turns_[i]) && !entries_[turns_[i].cell].prepared.refused)
      total += times_.foreseen(entries_[turns_[i].cell].prepared.cell, turns_[i].pass).value_or(*usual);
  if (options_.budget_seconds) total = std::min(total, std::max(0.0, began_ + *options_.budget_seconds - now));
  return total;
}

}  // namespace tbd
