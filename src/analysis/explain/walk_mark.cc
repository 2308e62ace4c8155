// Flags, outcomes, grades and the lowering of a record.
#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/explain/walk.h"
#include "analysis/metric_parts.h"
#include "analysis/throughput.h"
#include "base/json.h"
#include "base/text.h"
#include "record/axes.h"

namespace tbd {
namespace {

// The metric that a flag hangs on.
const std::map<std::string_view, std::string_view> kMetricOf = {{"disturbed-steal", "steal_share"},
                                                                {"disturbed-runqueue", "runqueue_share"},
                                                                {"disturbed-other-work", "foreign_share"},
                                                                {"roof-beaten", "gemm_share"},
                                                                {"over-roof", "mfu"},
                                                                {"short", "throughput"},
                                                                {"assumed-correlation", "throughput"},
                                                                {"one-step", "throughput"},
                                                                {"unbounded", "throughput"},
                                                                {"level-shift", "throughput"},
                                                                {"disturbed-major-faults", "stable_from_step"}};

void add_recorded(std::string_view flag, const RunView& run, Facts& facts) {
  const RunInfo& info = run.record->run;
  const bool told = std::ranges::count(info.flags, flag) > 0;
  facts.push_back({"set by the runner", told, "", "run.json: flags"});
  if (flag == "peaks-drift")
    facts.push_back({"drift", peaks_drift(info.peaks, info.workload.precision.text()), "",
                     "run.json: peaks.before and peaks.after, kernels of the precision"});
  if (flag == "unpinned") facts.push_back({"unpinned", info.workload.unpinned, "", "run.json: workload.unpinned"});
  for (const Axis& axis : axes())
    if (flag == "tuned" && (axis.setting || axis.name == "mode"))
      facts.push_back({std::string(axis.name), axis.value(info.workload), "", cat("run.json: workload.", axis.key)});
  for (const LaunchView& launch : run.launches) {
    const std::string of = launch.launch->info.folder_name() + ": ";
    if (flag == "cut-line-dropped")
      facts.push_back({of + "lines dropped", launch.launch->dropped_lines, "", "end of steps.csv"});
    if (flag == "oversubscribed") {
      facts.push_back({of + "cores", tbd::cell(launch.launch->info.cores), "", "launch.json: cores"});
      facts.push_back({of + "workers", info.workload.workers, "", "run.json: workload.workers"});
    }
    if (flag == "threads-over-cores") {
      facts.push_back({of + "cores", tbd::cell(launch.launch->info.cores), "", "launch.json: cores"});
      facts.push_back({of + "threads", info.workload.threads, "", "run.json: workload.threads"});
    }
    const std::optional<Json> delta = maybe<Json>(launch.launch->info.host, "delta");
    if (flag == "disturbed-throttled")
      facts.push_back({of + "throttled", tbd::cell(delta ? maybe<double>(*delta, "throttled_time_s") : std::nullopt),
                       "s", "launch.json: host.delta.throttled_time_s"});
  }
  if (flag == "disturbed-major-faults")
    facts.push_back({"sum of major_faults over the steps after warming up",
                     tbd::cell(total(run, &StepRow::major_faults)), "", "steps.csv: major_faults"});
}

void add_flag(std::string_view flag, const RunView& run, const Judgement& judgement, Facts& facts) {
  if (const auto found = kMetricOf.find(flag); found != kMetricOf.end()) add_metric(found->second, run, facts);
  add_recorded(flag, run, facts);
  facts.push_back({"this row carries it", std::ranges::count(judgement.flags, flag) > 0, "", ""});
}

void add_outcome(const RunView& run, Facts& facts) {
  const RunInfo& plan = run.record->run;
  facts.push_back({"as the run ended", std::string(name(plan.outcome.kind)), "", "run.json: outcome.kind"});
  facts.push_back({"clean launches with a step time", static_cast<int64_t>(run.launches.size()), "", "gate series"});
  facts.push_back({"batch, planned", plan.workload.batch, "", "run.json: workload.batch"});
  facts.push_back({"parameters, planned", tbd::cell(plan.parameters), "", "run.json: parameters"});
  for (const LaunchView& launch : run.launches) {
    const std::string of = launch.launch->info.folder_name() + ": ";
    facts.push_back({of + "batch seen", tbd::cell(launch.launch->info.batch_seen), "", "gate shape, launch.json"});
    facts.push_back(
        {of + "parameters seen", tbd::cell(launch.launch->info.parameters_seen), "", "gate shape, launch.json"});
    int64_t bad = 0;
    for (const StepRow& row : launch.launch->steps) bad += row.loss && !std::isfinite(*row.loss);
    facts.push_back({of + "losses that are not finite", bad, "", "gate finite, steps.csv: loss"});
  }
}

void add_grade(const RunView& run, const Judgement& judgement, Facts& facts) {
  facts.push_back({"effort", run.workload().effort, "", "run.json: workload.effort"});
  add_basis(run, facts);
  const CellThroughput throughput = cell_throughput(run);
  if (throughput.combined) {
    facts.push_back({"launches", throughput.combined->launches, "", "with a step of the basis"});
    facts.push_back({"half-width of the interval", known(throughput.combined->half_width()), "of the number",
                     "(high - low) / 2 / value"});
  }
  facts.push_back({"published wants", "effort publish, 5 launches, half-width at most 2 %", "", "docs/statistics.md"});
  facts.push_back({"development wants", "3 launches, half-width at most 5 %", "", "docs/statistics.md"});
  if (!judgement.grade_reason.empty()) facts.push_back({"no better because", judgement.grade_reason, "", ""});
}

void add_lowering(const RunView& run, Facts& facts) {
  constexpr const char* kFrom = "run.json: environment.lowering";
  const std::optional<Json> lowering = maybe<Json>(run.record->run.environment, "lowering");
  if (!lowering) return facts.push_back({"not known", "the record does not say how its ops ran", "", kFrom});
  facts.push_back({"native nodes", tbd::cell(maybe<int64_t>(*lowering, "native")), "", kFrom});
  const Json composed = maybe<Json>(*lowering, "composed").value_or(Json::array());
  facts.push_back({"composed nodes", static_cast<int64_t>(composed.size()), "", kFrom});
  for (const Json& node : composed)
    facts.push_back({cat(at<std::string>(node, "kind"), " '", at<std::string>(node, "node"), "'"),
                     at<std::string>(node, "of"), "", kFrom});
}

}  // namespace

void add_mark(const FoundTopic& found, const RunView& run, const Judgement& judgement, Facts& facts) {
  if (found.group->id == "flags") return add_flag(found.topic->id, run, judgement, facts);
  if (found.group->id == "outcomes") return add_outcome(run, facts);
  if (found.group->id == "levels") return add_lowering(run, facts);
  add_grade(run, judgement, facts);
}

}  // namespace tbd
