#include "cli/run_request.h"

#include <algorithm>

#include "base/amounts.h"
#include "cli/locations.h"
#include "cli/run_files.h"
#include "record/frameworks.h"
#include "record/reader.h"
#include "runner/device_choice.h"
#include "runner/thinning.h"

namespace tbd::cli {
namespace {

// Amounts in the words of the command line.
double seconds_option(const std::string& text, std::string_view option) {
  try {
    return seconds_from(text, option);
  } catch (const Error& e) {
    fail(ErrorKind::usage, e.what());
  }
}

std::vector<std::string> own_frameworks(const RunnerSettings& settings) {
  std::vector<std::string> own;
  for (const WorkerEntry& worker : settings.workers)
    if (!find_framework(worker.framework)) own.push_back(worker.framework);
  return own;
}

// What the plan says and the command line does not.
void take_options(const Plan& plan, RunRequest& request) {
  RunOptions& options = request.options;
  if (plan.effort) options.effort = *plan.effort;
  if (!plan.passes.empty()) options.passes = plan.passes;
  options.launches = plan.launches;
  options.limit_seconds = plan.limit_seconds;
  options.budget_seconds = plan.budget_seconds;
  options.peaks = plan.peaks.value_or(true);
  request.check = plan.check.value_or(true);
}

void override_options(const RunArguments& given, RunRequest& request) {
  RunOptions& options = request.options;
  if (given.effort) options.effort = effort_of(*given.effort);
  if (given.launches) options.launches = positive(*given.launches, "--launches");
  if (given.limit) options.limit_seconds = seconds_option(*given.limit, "--limit");
  if (given.budget) options.budget_seconds = seconds_option(*given.budget, "--budget");
  if (!given.passes.empty()) options.passes = words_of<Pass>(given.passes);
  for (const Pass& pass : options.passes) require_known(pass);
  options.peaks = options.peaks && !given.no_peaks;
  request.check = request.check && !given.no_check;
  options.out = given.out;
}

std::vector<Workload> cell_of_record(const std::string& path, RunOptions& options) {
  const std::vector<std::filesystem::path> records = find_records(path);
  if (records.size() != 1) fail(ErrorKind::usage, "--like takes one record, ", path, " has ", records.size());
  const Record record = read_record(records[0]);
  options.effort = effort_of(record.run.workload.effort);
  return {record.run.request};
}

// A described GPU stands for every cuda:N.
std::vector<Workload> on_described_gpu(std::vector<Workload> cells) {
  for (Workload& cell : cells)
    if (cell.device.empty() || cell.device == Device::kAuto) cell.device = Device::gpu(0);
  return cells;
}

RunRequest resumed(const RunArguments& given, const RunnerSettings& settings) {
  const bool more = given.cells.any() || !given.plan.empty() || !given.like.empty() || !given.out.empty() ||
                    !given.shard.empty() || given.effort || given.launches || given.limit || !given.passes.empty();
  if (more)
    fail(ErrorKind::usage,
         "--resume continues a result set with its own workloads and options: it can be combined only with --again, "
         "--budget, --dry-run, --no-check and --no-peaks");
  RunRequest request;
  const Plan plan = kept_plan(given.resume, own_frameworks(settings));
  take_options(plan, request);
  override_options(given, request);
  request.cells = cells(plan);
  for (Workload& cell : request.cells)
    if (cell.device.empty()) cell.device = Device::kCpu;  // as it was when the set began
  request.options.out = given.resume;
  request.options.resume = true;
  request.options.again = outcomes_again(given.again, request.cells);
  return request;
}

// "2/4": the cells of this part.
std::vector<Workload> part_of(const std::vector<Workload>& cells, const std::string& text) {
  const std::vector<std::string> parts = split(text, '/');
  const std::optional<int64_t> index = parse_int(parts[0]);
  const std::optional<int64_t> count = parse_int(parts.size() == 2 ? parts[1] : "");
  if (!index || !count || *index < 1 || *count < *index || *count > 100'000)
    fail(ErrorKind::usage, "--shard needs a part and the number of parts, such as 2/4, got '", text, "'");
  std::vector<std::string> sweep_of;
  for (Workload cell : cells) {
    cell.batch = 0;
    sweep_of.push_back(repro_line(cell));
  }
  std::vector<Workload> part;
  for (const size_t i : shard(sweep_of, static_cast<size_t>(*index), static_cast<size_t>(*count)))
    part.push_back(cells[i]);
  return part;
}

std::string effort_help() {
  const EffortLevel &quick = level(Effort::quick), &publish = level(Effort::publish);
  return cat("smoke: ", level(Effort::smoke).steps, " steps; quick: ", quick.launches, " launches of ", quick.seconds,
             " s; publish: ", publish.launches, " launches of ", publish.steps, " steps and ", publish.seconds,
             " s [quick, or the plan's]");
}

}  // namespace

void RunArguments::declare(Options& options) {
  cells.declare(options);
  options.option("--plan", plan, "Plan file (docs/plans.md), or a plan that 'tbd list' names");
  options.option("--like", like, "Measure the workload of this record again");
  options.option("--effort", effort, effort_help());
  options.option("--passes", passes,
                 "Passes to measure, comma-separated: clean, trace (for profile), memory [clean, or the "
                 "plan's]",
                 {.separator = ','});
  options.option("--launches", launches, "Number of clean launches per workload [from the plan or effort]");
  options.option("--limit", limit,
                 "Time limit of a launch after its first step, such as 20s or 2m [from the plan or effort]");
  options.option("--budget", budget,
                 "Time for the whole plan, such as 30m or 4h; keeps the workloads that decide most of the paper's "
                 "observations [none, or the plan's]");
  options.flag("--dry-run", dry_run,
               "Measure nothing; print workloads, predicted time and memory, and decidable observations");
  options.option("--on", on,
                 "With --dry-run, a GPU that need not be here: a record of a run on one, or a description "
                 "(docs/plans.md); workloads without a device are foretold for it");
  places.declare(options);
  places.declare_sharing(options);
  options.option("--shard", shard, "Measure part i of n of the workloads, given as i/n");
  options.option("--resume", resume, "Continue the result set in this folder: measure what it lacks");
  options.option(
      "--again", again,
      "With --resume, measure records with these outcomes again, comma-separated; failed stands for timeout, "
      "failed, nonfinite, inconsistent, interrupted, and also oom unless every workload has a memory budget",
      {.separator = ','});
  options.option("--out", out, "Folder of the result set [results/<time>-<model>-<hash>]");
  options.flag("--no-check", no_check, "Skip the check that frameworks train the same network");
  options.flag("--no-peaks", no_peaks, "Do not measure the machine's peaks");
}

std::vector<OutcomeKind> outcomes_again(const std::vector<std::string>& names, const std::vector<Workload>& cells) {
  using enum OutcomeKind;
  std::vector<std::string> known = {"failed"};
  for (const OutcomeKind kind :
       {ok, unsteady, unsupported, unavailable, skipped, inconsistent, nonfinite, oom, timeout, interrupted})
    known.emplace_back(name(kind));
  std::vector<OutcomeKind> out;
  for (const std::string& each : names) {
    require_known_name("outcome", each, known);
    if (each != "failed") {
      out.push_back(outcome_from(each));
      continue;
    }
    out.insert(out.end(), {timeout, OutcomeKind::failed, nonfinite, inconsistent, interrupted});
    const auto bounded = [](const Workload& cell) { return cell.memory_budget_bytes.has_value(); };
    if (!std::ranges::all_of(cells, bounded)) out.push_back(oom);
  }
  return out;
}

RunRequest run_request(const RunArguments& given, const RunnerSettings& settings) {
  if (!given.resume.empty()) return resumed(given, settings);
  if (!given.again.empty()) fail(ErrorKind::usage, "--again needs --resume RESULTS");
  if (!given.on.empty() && !given.dry_run) fail(ErrorKind::usage, "--on describes a GPU for --dry-run alone");
  const int sources = given.cells.any() + !given.plan.empty() + !given.like.empty();
  if (sources == 0) fail(ErrorKind::usage, "run needs a model, --plan FILE or --like RECORD");
  if (sources > 1) fail(ErrorKind::usage, "give only one of a model with its axes, --plan and --like");
  RunRequest request;
  if (!given.plan.empty()) {
    const Plan plan = plan_for(read_plan(given.plan, own_frameworks(settings)), this_machine());
    if (std::ranges::any_of(plan.sets, [](const WorkloadSet& set) { return !set.training.empty(); }))
      fail(ErrorKind::usage, given.plan, " is a plan of trainings: tbd train --plan ", given.plan, " --out RUNS");
    take_options(plan, request);
    request.cells = cells(plan);
  } else if (!given.like.empty()) {
    request.cells = cell_of_record(given.like, request.options);
  } else {
    if (given.cells.models().empty()) fail(ErrorKind::usage, "run needs a model");
    request.cells = cells(with_launched_workers(given.cells.set(), settings));
  }
  if (!given.on.empty()) request.cells = on_described_gpu(std::move(request.cells));
  request.cells = with_devices(std::move(request.cells), settings);
  override_options(given, request);
  if (!given.shard.empty()) request.cells = part_of(request.cells, given.shard);
  return request;
}

}  // namespace tbd::cli
