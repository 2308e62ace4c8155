#include "analysis/gates.h"

#include <algorithm>
#include <cmath>

#include "analysis/metrics.h"
#include "analysis/throughput.h"
#include "base/json.h"
#include "base/text.h"
#include "stats/effort.h"

namespace tbd {
namespace {

constexpr double kStealFlagged = 0.01, kStealRefused = 0.05, kRunqueueFlagged = 0.02, kForeignFlagged = 0.05;
constexpr double kDriftFlagged = 0.03, kDriftRefused = 0.10;
constexpr double kOverRoof = 1.02;

Outcome bad(OutcomeKind kind, std::string reason, const RunView& run) {
  return {.kind = kind, .reason = std::move(reason), .repro = run.workload().repro};
}

// Gate shape: the worker saw another batch or another network than the plan names.
std::optional<Outcome> shape_gate(const RunView& run) {
  const RunInfo& plan = run.record->run;
  for (const LaunchView& launch : run.launches) {
    const LaunchInfo& seen = launch.launch->info;
    if (seen.batch_seen && *seen.batch_seen != plan.workload.batch)
      return bad(OutcomeKind::failed,
                 cat("the worker saw batch ", *seen.batch_seen, ", the plan says ", plan.workload.batch), run);
    if (seen.parameters_seen && plan.parameters && *seen.parameters_seen != *plan.parameters)
      return bad(OutcomeKind::failed,
                 cat("the worker trained ", *seen.parameters_seen, " parameters, the model has ", *plan.parameters),
                 run);
  }
  return std::nullopt;
}

std::optional<Outcome> finite_gate(const RunView& run) {
  for (const LaunchView& launch : run.launches)
    for (const StepRow& row : launch.launch->steps)
      if (row.loss && !std::isfinite(*row.loss))
        return bad(OutcomeKind::nonfinite, cat("the loss is not finite at step ", row.step), run);
  return std::nullopt;
}

std::optional<Outcome> series_gate(const RunView& run) {
  if (run.launches.empty()) return bad(OutcomeKind::failed, "the record holds no timed step", run);
  for (const LaunchView& launch : run.launches)
    if (!launch.fault.empty()) return bad(OutcomeKind::inconsistent, launch.fault, run);
  return std::nullopt;
}

std::optional<Outcome> steady_gate(const RunView& run) {
  if (run.smoke()) return std::nullopt;
  for (const LaunchView& launch : run.launches)
    if (const std::optional<std::string> why = unsteadiness(launch.phase))
      return bad(OutcomeKind::unsteady, cat("launch ", launch.launch->info.folder_name(), ": ", *why), run);
  const Measured steal = steal_share(run);
  if (steal.value && *steal.value > kStealRefused)
    return bad(OutcomeKind::unsteady,
               cat("the hypervisor gave ", format_percent(*steal.value), " of the processors away"), run);
  return std::nullopt;
}

Outcome gated_outcome(const RunView& run) {
  const Outcome& told = run.record->run.outcome;
  if (told.kind != OutcomeKind::ok) return told;
  for (const auto& gate : {series_gate, shape_gate, finite_gate, steady_gate})
    if (std::optional<Outcome> outcome = gate(run)) return *outcome;
  return told;
}

// An end that came early leaves the steps before it good; an error or unsteadiness does not.
bool withholds(OutcomeKind kind) {
  switch (kind) {
    case OutcomeKind::ok:
    case OutcomeKind::interrupted:
    case OutcomeKind::oom:
    case OutcomeKind::timeout:
      return false;
    default:
      return true;
  }
}

bool any_host(const RunView& run, std::optional<int64_t> StepRow::*column, std::string_view key) {
  if (const std::optional<int64_t> sum = total(run, column)) return *sum > 0;
  return std::ranges::any_of(run.launches, [&](const LaunchView& launch) {
    const std::optional<Json> delta = maybe<Json>(launch.launch->info.host, "delta");
    return delta && maybe<double>(*delta, key).value_or(0) > 0;
  });
}

bool throttled(const RunView& run) {
  return std::ranges::any_of(run.launches, [&](const LaunchView& launch) {
    const std::optional<Json> delta = maybe<Json>(launch.launch->info.host, "delta");
    return delta && maybe<double>(*delta, "throttled_time_s").value_or(0) > 0;
  });
}

std::vector<std::string> disturbances(const RunView& run) {
  std::vector<std::string> flags;
  if (steal_share(run).value.value_or(0) > kStealFlagged) flags.push_back("disturbed-steal");
  if (runqueue_share(run).value.value_or(0) > kRunqueueFlagged) flags.push_back("disturbed-runqueue");
  if (foreign_share(run).value.value_or(0) > kForeignFlagged) flags.push_back("disturbed-other-work");
  if (throttled(run)) flags.push_back("disturbed-throttled");
  if (any_host(run, &StepRow::major_faults, "major_faults")) flags.push_back("disturbed-major-faults");
  return flags;
}

std::vector<std::string> phase_flags(const RunView& run) {
  std::vector<std::string> flags;
  for (const LaunchView& launch : run.launches) {
    if (launch.phase.kind == PhaseClass::slow_down) flags.push_back("slow-down");
    if (launch.launch->dropped_lines > 0) flags.push_back("cut-line-dropped");
  }
  for (const Throughput& launch : cell_throughput(run).launches)
    flags.insert(flags.end(), launch.flags.begin(), launch.flags.end());
  return flags;
}

// Gates peaks drift and over roof.
void judge_utilization(const RunView& run, Judgement& judgement) {
  const double drift = std::abs(maybe<double>(run.record->run.peaks, "drift").value_or(0));
  if (drift > kDriftFlagged) judgement.flags.push_back("peaks-drift");
  if (drift > kDriftRefused)
    judgement.utilization_withheld = cat("the measured peaks drifted by ", format_percent(drift), " during the run");
  const std::optional<double> of_isa = mfu(run).value, of_gemm = gemm_share(run).value;
  if (of_gemm && *of_gemm > 1) judgement.flags.push_back("roof-beaten");
  if (of_isa && *of_isa > kOverRoof) {
    judgement.flags.push_back("over-roof");
    judgement.utilization_withheld =
        cat("the FLOP rate is ", format_percent(*of_isa), " of the measured peak: an error");
  }
}

void grade(const RunView& run, Judgement& judgement) {
  std::vector<LaunchExtent> extents;
  for (const LaunchView& launch : run.launches) {
    double elapsed = 0;
    for (size_t i = 1; i < launch.times.size(); ++i) elapsed += launch.times[i];
    extents.push_back(
        {.stable_steps = launch.phase.steps(), .stable_seconds = launch.seconds(), .elapsed_seconds = elapsed});
  }
  const Graded graded = tbd::graded(effort_of(run.workload().effort), extents);
  judgement.grade = name(graded.grade);
  judgement.grade_reason = graded.reason;
}

}  // namespace

Judgement judge(const RunView& run) {
  Judgement judgement{.outcome = gated_outcome(run), .flags = run.record->run.flags};
  if (withholds(judgement.outcome.kind))
    judgement.withheld = judgement.outcome.reason;
  else if (run.stable_steps() == 0)
    judgement.withheld = "no stable step was measured";
  else
    grade(run, judgement);
  for (const auto& more : {disturbances(run), phase_flags(run)})
    judgement.flags.insert(judgement.flags.end(), more.begin(), more.end());
  judge_utilization(run, judgement);
  if (run.workload().unpinned) judgement.flags.push_back("unpinned");
  std::ranges::sort(judgement.flags);
  judgement.flags.erase(std::unique(judgement.flags.begin(), judgement.flags.end()), judgement.flags.end());
  return judgement;
}

}  // namespace tbd
