#include "analysis/profile/profile.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/profile/parts.h"
#include "analysis/run_view.h"
#include "analysis/step_ops.h"
#include "analysis/trace/idle.h"
#include "base/error.h"
#include "base/text.h"
#include "trace/file.h"

namespace tbd {
namespace {

constexpr size_t kTimelineParts = 72;
constexpr double kBiased = 1.02, kDisagreement = 0.05;

// Times of the steps that are looked at: of traced windows, and of the untraced ones before and after each.
struct StepSides {
  std::vector<double> traced, untraced;
};
bool is_traced(const Launch& launch, int64_t step) {
  return std::ranges::any_of(*launch.info.traced, [&](const auto& w) { return step >= w[0] && step <= w[1]; });
}

// Without those next to a border of a window.
std::vector<size_t> steps_of_side(const Launch& launch, bool traced) {
  const auto& windows = *launch.info.traced;
  const int64_t length = windows.empty() ? 0 : windows.front()[1] - windows.front()[0] + 1;
  const int64_t from = std::max<int64_t>(3, windows.empty() ? 0 : windows.front()[0] - length);
  std::vector<size_t> places;
  for (size_t i = 1; i + 1 < launch.steps.size(); ++i) {
    const int64_t step = launch.steps[i].step;
    if (step < from) continue;
    const bool inner = std::ranges::all_of(std::array{step - 1, step, step + 1},
                                           [&](int64_t each) { return is_traced(launch, each) == traced; });
    if (inner) places.push_back(i);
  }
  return places;
}

StepSides sides_of(const Launch& launch) {
  const auto times = [&](bool traced) {
    std::vector<double> out;
    for (const size_t i : steps_of_side(launch, traced))
      out.push_back(1e-9 * static_cast<double>(launch.steps[i].completed_ns - launch.steps[i - 1].completed_ns));
    return out;
  };
  return {.traced = times(true), .untraced = times(false)};
}

std::vector<double> inverse(const std::vector<double>& times) {
  std::vector<double> out;
  for (const double t : times) out.push_back(1 / t);
  return out;
}

void add_overhead(Profile& profile, const Record& record, const Launch& launch) {
  const StepSides sides = sides_of(launch);
  if (sides.traced.empty() || sides.untraced.empty()) return;
  profile.overhead = ratio(inverse(sides.untraced), inverse(sides.traced));
  if (profile.overhead->value > kUseless)
    profile.notes.push_back("Tracing cost more than 20 % of a step: shares of time are not to be trusted.");
  else if (profile.overhead->value > kBiased)
    profile.notes.push_back(
        "Tracing cost more than 2 % of a step: idle time and utilization are biased by about that.");
  std::vector<double> clean;
  const RunView run = view(record);
  for (const LaunchView& each : run.launches)
    clean.insert(clean.end(), each.window_times().begin(), each.window_times().end());
  if (clean.empty()) return;
  profile.agreement = median(sides.untraced) / median(clean);
  if (std::abs(*profile.agreement - 1) > kDisagreement)
    profile.notes.push_back(cat("Inconsistent: untraced steps of this launch took ", significant(*profile.agreement, 3),
                                " of those of the clean launches."));
}

// Of the traced windows, without the first and the last step of each.
std::vector<StepRow> inner_steps(const Launch& launch) {
  std::vector<StepRow> out;
  std::ranges::copy_if(launch.steps, std::back_inserter(out), [&](const StepRow& row) {
    return std::ranges::any_of(*launch.info.traced, [&](const auto& w) { return row.step > w[0] && row.step < w[1]; });
  });
  return out;
}

// What the process used in the traced steps, by the columns of steps.csv.
void add_host(Profile& profile, const Launch& launch) {
  int64_t user = 0, system = 0, faults = 0, wall = 0, steps = 0;
  for (size_t i = 1; i < launch.steps.size(); ++i) {
    const StepRow& row = launch.steps[i];
    const bool inner =
        std::ranges::any_of(*launch.info.traced, [&](const auto& w) { return row.step > w[0] && row.step < w[1]; });
    if (!inner) continue;
    if (!row.user_cpu_ns || !row.system_cpu_ns) return;
    user += *row.user_cpu_ns;
    system += *row.system_cpu_ns;
    faults += row.minor_faults.value_or(0);
    ++steps;
    wall += row.completed_ns - launch.steps[i - 1].completed_ns;
  }
  if (steps == 0 || user + system <= 0) return;
  profile.system_share = static_cast<double>(system) / static_cast<double>(user + system);
  profile.minor_faults = static_cast<double>(faults) / static_cast<double>(steps);
  profile.cores = launch.info.cores;
  if (profile.cores && *profile.cores > 0)
    profile.cpu_utilization = static_cast<double>(user + system) / (*profile.cores * static_cast<double>(wall));
}

// What the trace says of scheduling, and how long the step loop waited of its own will.
void add_off_cpu(Profile& profile, const RankEvents& rank, const std::vector<TimeSpan>& windows) {
  const Trace& trace = *rank.trace;
  const auto fact = trace.facts.find("off-CPU");
  profile.off_cpu = fact == trace.facts.end() ? "not recorded in this trace" : fact->second;
  std::vector<Activity> waits;
  for (uint32_t i = 0; i < trace.size(); ++i)
    if (trace.kinds()[i] == EventKind::off_cpu && !is_preemption(trace.kinds()[i], trace.name(i)))
      waits.push_back({.begin = trace.begins()[i], .end = trace.end(i)});
  for (const TimeSpan& window : windows) profile.waiting_ns += sweep(waits, window).busy();
}

void add_window(Profile& profile, const RankEvents& rank, const Launches& launches, TimeSpan window) {
  profile.window_ns += window.length();
  profile.masks += sweep(rank.activities, window);
  const IdleCauses causes(rank, launches, window);
  visit_gaps(rank, window, [&](const Gap& gap) { causes.add_device(gap, profile.causes); });
  if (!rank.on_device) return;
  if (!profile.queue) profile.queue.emplace();
  *profile.queue += queue_use(rank, launches, causes, window);
}

// Of the first step that is looked at.
void add_timeline(Profile& profile, const RankEvents& rank, const Launches& launches, TimeSpan window) {
  const Trace& trace = *rank.trace;
  const auto first =
      std::ranges::find_if(rank.steps, [&](uint32_t step) { return trace.begins()[step] >= window.begin; });
  if (first == rank.steps.end()) return;
  const TimeSpan step{trace.begins()[*first], trace.end(*first)};
  profile.timeline =
      timeline_of(rank, IdleCauses(rank, launches, step), step, std::string(trace.name(*first)), kTimelineParts);
}

}  // namespace

std::filesystem::path trace_file(const Record& record, const Launch& launch, int64_t rank) {
  return worker_folder(record, launch, rank) / "trace.tbdt";
}

namespace {

// nullopt for one worker, and where a rank left no trace.
std::optional<ExchangeProfile> exchange_profile(const Record& record) {
  const int64_t workers = record.run.workload.workers;
  const Launch* launch = last_launch(record, Pass::kTrace);
  if (workers == 1 || !launch || !launch->info.traced) return std::nullopt;
  std::vector<Trace> traces;
  for (int64_t rank = 0; rank < workers; ++rank) {
    const std::filesystem::path file = trace_file(record, *launch, rank);
    if (!std::filesystem::exists(file)) return std::nullopt;
    traces.push_back(read_trace(file));
  }
  std::vector<RankEvents> ranks;
  for (int64_t rank = 0; rank < workers; ++rank)
    ranks.push_back(rank_events(traces[static_cast<size_t>(rank)], static_cast<int32_t>(rank)));
  return exchange_between(ranks, *launch->info.traced);
}

constexpr int64_t kCountedNs = 500'000'000;  // a window in which the processor time of a process can be told

int64_t take_out(std::vector<LossPart>& loss, std::string_view cause) {
  const auto part = std::ranges::find(loss, cause, &LossPart::cause);
  return part == loss.end() ? 0 : std::exchange(part->ns, 0);
}

// Nothing says how much of its time an op of a foreign program needs. Its processor time is sampled beside it, which a
// few short steps are too short for.
void leave_out_unknown(Profile& profile) {
  int64_t compute = take_out(profile.loss, "kernel inefficiency");
  if (profile.window_ns < kCountedNs) {
    profile.cpu_utilization = profile.system_share = profile.minor_faults = std::nullopt;
    compute += take_out(profile.loss, "system time");
  }
  profile.loss.insert(profile.loss.begin(), {"compute", compute});
}

}  // namespace

std::vector<size_t> untraced_beside(const Launch& launch) { return steps_of_side(launch, false); }

std::vector<TimeSpan> inner_windows(const RankEvents& rank, const std::vector<std::array<int64_t, 2>>& traced) {
  std::map<std::string, TimeSpan, std::less<>> steps;
  for (const uint32_t step : rank.steps)
    steps[std::string(rank.trace->name(step))] = {rank.trace->begins()[step], rank.trace->end(step)};
  std::vector<TimeSpan> windows;
  for (const auto& [first, last] : traced) {
    const auto begin = steps.find(cat("step ", first + 1)), end = steps.find(cat("step ", last - 1));
    if (last - first < 2 || begin == steps.end() || end == steps.end()) continue;
    windows.push_back({begin->second.begin, end->second.end});
  }
  return windows;
}

int64_t steps_in(const RankEvents& rank, const std::vector<TimeSpan>& windows) {
  int64_t steps = 0;
  for (const uint32_t step : rank.steps)
    for (const TimeSpan& window : windows)
      steps += rank.trace->begins()[step] >= window.begin && rank.trace->end(step) <= window.end;
  return steps;
}

double Profile::compute_utilization() const {
  return static_cast<double>(masks.busy(kComputeBits)) / static_cast<double>(window_ns);
}

std::vector<RankedWork> Profile::ranked() const {
  std::vector<RankedWork> out;
  for (const ProfileKernel& kernel : kernels)
    out.push_back({kernel.name, kernel.direction, kernel.nodes, kernel.total_ns, kernel.utilization});
  if (!kernels.empty()) return out;
  for (const ProfileOp& op : ops) out.push_back({op.main_op, op.direction, op.nodes, op.total_ns, op.utilization});
  return out;
}

double Profile::mean_utilization() const {
  double weighted = 0, all = 0;
  for (const RankedWork& work : ranked()) {
    weighted += work.utilization.value_or(0) * static_cast<double>(work.total_ns);
    all += static_cast<double>(work.total_ns);
  }
  return all > 0 ? weighted / all : 0;
}

std::unique_ptr<TracedSteps> traced_steps(const Record& record) {
  const Launch* launch = last_launch(record, Pass::kTrace);
  if (!launch || !launch->info.traced) return nullptr;
  const std::filesystem::path file = trace_file(record, *launch);
  if (!std::filesystem::exists(file)) return nullptr;
  auto steps = std::make_unique<TracedSteps>();
  steps->launch = launch;
  steps->trace = read_trace(file);
  steps->rank = rank_events(steps->trace, 0);
  steps->launches = join_launches(steps->rank);
  steps->windows = inner_windows(steps->rank, *launch->info.traced);
  return steps;
}

std::optional<Profile> profile_of(const Record& record) {
  const std::unique_ptr<TracedSteps> steps = traced_steps(record);
  if (!steps) return std::nullopt;
  const auto& [launch, trace, rank, launches, windows] = *steps;
  const std::string file = trace_file(record, *launch).string();
  require(!rank.activities.empty(), file, ": the trace has no op: nothing says what was busy");
  require(!windows.empty(), file, ": none of the steps that were to be traced are there");

  Profile profile;
  for (const TimeSpan& window : windows) add_window(profile, rank, launches, window);
  profile.steps = steps_in(rank, windows);
  profile.step_use = step_use(rank, windows);
  add_off_cpu(profile, rank, windows);
  for (const Fault& fault : trace.faults()) profile.notes.push_back(cat(fault.count, " ", fault.what, "."));
  add_host(profile, *launch);
  add_overhead(profile, record, *launch);
  profile.counters = counter_use(record, *launch);
  const Roofs roofs = Roofs::of(record.run);
  RunInfo run = record.run;
  run.ops = ops_of_step(std::move(run.ops), mean_rows(inner_steps(*launch)));
  profile.ops = profile_ops(rank, windows, profile.steps, run, roofs);
  profile.kernels = profile_kernels(rank, windows, profile.steps, run, roofs);
  add_flops(profile, run, roofs);
  add_loss(profile);
  if (record.run.workload.mode == Mode::kExternal) leave_out_unknown(profile);
  add_timeline(profile, rank, launches, windows.front());
  profile.exchange = exchange_profile(record);
  if (profile.exchange)
    profile.notes.push_back("Times are of rank 0; FLOPs, their peaks and processor time are of all workers.");
  return profile;
}

}  // namespace tbd
