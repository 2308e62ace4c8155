#include "analysis/gates.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "analysis/metric_parts.h"
#include "analysis/metrics.h"
#include "analysis/throughput.h"
#include "base/json.h"
#include "base/text.h"
#include "stats/effort.h"

namespace tbd {
namespace {

constexpr double kDriftFlagged = 0.03, kDriftRefused = 0.10;
constexpr double kOverRoof = 1.02;

std::optional<double> metric_value(std::string_view metric_id, const RunView& run) {
  return metric(metric_id).compute(run).value;
}

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

// "memory, trace": the passes of a record that was not to be timed; empty where one was.
std::string untimed_passes(const Record& record) {
  std::set<std::string> passes;
  for (const Launch& launch : record.launches) {
    const Pass& pass = launch.info.pass;
    if (pass != Pass::kMemory && pass != Pass::kTrace && pass != Pass::kTrain) return "";
    if (launch.info.outcome.kind == OutcomeKind::ok) passes.insert(launch.info.pass.text());
  }
  return join(std::vector<std::string>(passes.begin(), passes.end()), ", ");
}

std::optional<Outcome> series_gate(const RunView& run) {
  if (!untimed_passes(*run.record).empty()) return std::nullopt;
  if (run.launches.empty()) return bad(OutcomeKind::failed, "the record holds no timed step", run);
  for (const LaunchView& launch : run.launches)
    if (!launch.fault.empty()) return bad(OutcomeKind::inconsistent, launch.fault, run);
  return std::nullopt;
}

Outcome gated_outcome(const RunView& run) {
  const Outcome& told = run.record->run.outcome;
  const bool was_withheld = told.kind == OutcomeKind::unsteady;  // by an earlier program, for its series alone
  if (told.kind != OutcomeKind::ok && !was_withheld) return told;
  for (const auto& gate : {series_gate, shape_gate, finite_gate})
    if (std::optional<Outcome> outcome = gate(run)) return *outcome;
  return was_withheld ? Outcome{} : told;
}

// An end that came early leaves the steps before it good; an error does not.
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
  if (metric_value("steal_share", run).value_or(0) > most_undisturbed(&Block::steal))
    flags.push_back("disturbed-steal");
  const double most_wait = most_undisturbed(&Block::runqueue);  // that others caused: no more than they ran
  if (metric_value("runqueue_share", run).value_or(0) > most_wait &&
      metric_value("foreign_share", run).value_or(1) > most_wait)
    flags.push_back("disturbed-runqueue");
  if (metric_value("foreign_share", run).value_or(0) > most_undisturbed(&Block::foreign))
    flags.push_back("disturbed-other-work");
  if (throttled(run)) flags.push_back("disturbed-throttled");
  if (any_host(run, &StepRow::major_faults, "major_faults")) flags.push_back("disturbed-major-faults");
  return flags;
}

std::vector<std::string> phase_flags(const RunView& run) {
  std::vector<std::string> flags;
  for (const LaunchView& launch : run.launches) {
    if (shift_reason(launch.shift)) flags.push_back("level-shift");
    if (launch.launch->dropped_lines > 0) flags.push_back("cut-line-dropped");
  }
  for (const Throughput& launch : cell_throughput(run).launches)
    flags.insert(flags.end(), launch.flags.begin(), launch.flags.end());
  return flags;
}

// Gates peaks drift and over roof.
void judge_utilization(const RunView& run, Judgement& judgement) {
  const double drift = peaks_drift(run.record->run.peaks, run.workload().precision.text());
  if (drift > kDriftFlagged) judgement.flags.push_back("peaks-drift");
  if (drift > kDriftRefused)
    judgement.utilization_withheld = cat("the measured peaks drifted by ", format_percent(drift), " during the run");
  const std::optional<double> of_isa = metric_value("mfu", run);
  const std::optional<double> of_gemm = metric_value("gemm_share", run);
  if (of_gemm && *of_gemm > 1) judgement.flags.push_back("roof-beaten");
  if (of_isa && *of_isa > kOverRoof) {
    judgement.flags.push_back("over-roof");
    judgement.utilization_withheld =
        cat("the FLOP rate is ", format_percent(*of_isa), " of the measured peak: an error");
  }
}

std::string share_text(double share) { return share < 0.01 ? "less than 1 %" : format_percent(share); }

// The commonest reasons of the disturbed blocks, most time first, each with its mean: "run-queue wait 12 %".
std::string commonest_reasons(const RunView& run) {
  std::vector<std::pair<double, std::string>> found;
  for (const BlockCause& cause : block_causes()) {
    double seconds = 0, weighted = 0;
    for (const LaunchView& launch : run.launches)
      for (const Block& block : launch.blocks)
        if ((block.*cause.share).value_or(0) > cause.most) {
          seconds += block.seconds;
          weighted += block.seconds * *(block.*cause.share);
        }
    if (seconds > 0) found.emplace_back(seconds, cat(cause.what, " ", format_percent(weighted / seconds)));
  }
  std::ranges::sort(found, std::greater<>());
  std::vector<std::string> texts;
  for (size_t i = 0; i < std::min<size_t>(2, found.size()); ++i) texts.push_back(found[i].second);
  return join(texts, ", ");
}

// How much less the device computed when the run began than earlier since the boot, where no work on this machine
// explains it: then the best that the record saw is none.
std::optional<double> arithmetic_lost(const RunView& run) {
  const std::optional<Json> kept = maybe<Json>(run.record->run.peaks, "kept");
  if (!kept || maybe<bool>(*kept, "holds").value_or(true) || maybe<bool>(*kept, "disturbed").value_or(true))
    return std::nullopt;
  const double lost = -maybe<double>(*kept, "arithmetic_change").value_or(0);
  return lost > most_undisturbed(&Block::fma_loss) ? std::optional(lost) : std::nullopt;
}

Shift shift_in(const LaunchView& launch, const RunView& run) {
  return run.basis == Basis::total ? launch.shift : shift_of(work_of(launch, run.basis));
}

// Why the level of a launch shifts too much, if it does: by the square root of their number more than that of all
// together may, which is how much farther chance moves one than the mean.
std::string shift_of_one(const RunView& run) {
  const double most = kMostShift * std::sqrt(static_cast<double>(run.launches.size()));
  for (const LaunchView& launch : run.launches)
    if (const auto why = shift_reason(shift_in(launch, run), most))
      return cat("in launch ", launch.launch->info.folder_name(), " ", *why);
  return "";
}

// Why that of the launches together does: they all move one way, which the interval over them does not tell.
std::string shift_of_all(const RunView& run) {
  double drifts = 0, count = 0;
  for (const LaunchView& launch : run.launches)
    if (const Shift shift = shift_in(launch, run); shift.drift) {
      drifts += *shift.drift;
      ++count;
    }
  if (count < 2) return "";
  const auto why = shift_reason({.drift = drifts / count});
  return why ? cat("in the mean of its launches ", *why) : "";
}

std::string loss_text(double lost, const Device& device) {
  if (device == Device::kCpu)
    return cat("when it began the cores computed ", format_percent(lost),
               " less than before, with no other work on this machine: neighbours on its host");
  return cat("when it began the GPU computed ", format_percent(lost),
             " less than before: its clock, its power limit or another process");
}

bool shared_cores(const RunView& run) { return std::ranges::count(run.record->run.flags, "oversubscribed") > 0; }

// Why the number is disturbed by what happened beside it; empty where nothing says so.
std::string disturbance_of(const RunView& run) {
  if (shared_cores(run)) return "its workers shared cores";
  if (const std::optional<double> lost = arithmetic_lost(run)) return loss_text(*lost, run.workload().device);
  if (run.undisturbed_share && run.basis == Basis::total)
    return cat(share_text(*run.undisturbed_share), " of the time was undisturbed: ", commonest_reasons(run));
  return "";
}

void grade(const RunView& run, Judgement& judgement) {
  const CellThroughput throughput = cell_throughput(run);
  judgement.no_block_is_quiet = shared_cores(run) || arithmetic_lost(run);
  GradeEvidence evidence{.disturbance = disturbance_of(run)};
  if (evidence.disturbance.empty()) {
    const std::string all = shift_of_all(run);
    evidence.disturbance = shift_of_one(run);
    judgement.single_launches_shift = all.empty() && !evidence.disturbance.empty();
    if (evidence.disturbance.empty()) evidence.disturbance = all;
  }
  if (throughput.combined) {
    evidence.launches = throughput.combined->launches;
    evidence.half_width = throughput.combined->half_width();
  }
  const Graded graded = tbd::graded(effort_of(run.workload().effort), evidence);
  judgement.grade = name(graded.grade);
  judgement.grade_reason = graded.reason;
}

}  // namespace

Judgement judge(const RunView& run) {
  Judgement judgement{.outcome = gated_outcome(run), .flags = run.record->run.flags};
  if (withholds(judgement.outcome.kind))
    judgement.withheld = judgement.outcome.reason;
  else if (run.stable_steps() == 0)
    judgement.withheld = untimed_passes(*run.record).empty()
                             ? "no step was measured after warming up"
                             : cat("not timed: the record is of pass ", untimed_passes(*run.record));
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
