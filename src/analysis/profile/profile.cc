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

StepSides sides_of(const TracedLaunches& launches) {
  StepSides sides;
  const auto add = [](const Launch& launch, bool traced, std::vector<double>& times) {
    for (const size_t i : steps_of_side(launch, traced))
      times.push_back(1e-9 * static_cast<double>(launch.steps[i].completed_ns - launch.steps[i - 1].completed_ns));
  };
  for (const auto& each : launches) {
    add(*each->launch, true, sides.traced);
    add(*each->launch, false, sides.untraced);
  }
  return sides;
}

std::vector<double> inverse(const std::vector<double>& times) {
  std::vector<double> out;
  for (const double t : times) out.push_back(1 / t);
  return out;
}

void add_overhead(Profile& profile, const Record& record, const TracedLaunches& launches) {
  const StepSides sides = sides_of(launches);
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
    profile.notes.push_back(cat("Inconsistent: untraced steps of ",
                                launches.size() == 1 ? "this launch" : "the traced launches", " took ",
                                significant(*profile.agreement, 3), " of those of the clean launches."));
}

std::vector<const Launch*> launches_of(const TracedLaunches& traced) {
  std::vector<const Launch*> out;
  for (const auto& each : traced) out.push_back(each->launch);
  return out;
}

// Of the traced windows, without the first and the last step of each.
bool is_inner(const Launch& launch, const StepRow& row) {
  return std::ranges::any_of(*launch.info.traced, [&](const auto& w) { return row.step > w[0] && row.step < w[1]; });
}

std::vector<StepRow> inner_steps(const TracedLaunches& launches) {
  std::vector<StepRow> out;
  for (const auto& each : launches)
    std::ranges::copy_if(each->launch->steps, std::back_inserter(out),
                         [&](const StepRow& row) { return is_inner(*each->launch, row); });
  return out;
}

// What the process used in the traced steps, by the columns of steps.csv.
void add_host(Profile& profile, const TracedLaunches& launches) {
  int64_t user = 0, system = 0, faults = 0, wall = 0, steps = 0;
  for (const auto& each : launches) {
    const std::vector<StepRow>& rows = each->launch->steps;
    for (size_t i = 1; i < rows.size(); ++i) {
      const StepRow& row = rows[i];
      if (!is_inner(*each->launch, row)) continue;
      if (!row.user_cpu_ns || !row.system_cpu_ns) return;
      user += *row.user_cpu_ns;
      system += *row.system_cpu_ns;
      faults += row.minor_faults.value_or(0);
      ++steps;
      wall += row.completed_ns - rows[i - 1].completed_ns;
    }
  }
  if (steps == 0 || user + system <= 0) return;
  profile.system_share = static_cast<double>(system) / static_cast<double>(user + system);
  profile.minor_faults = static_cast<double>(faults) / static_cast<double>(steps);
  profile.cores = launches.back()->launch->info.cores;
  if (profile.cores && *profile.cores > 0)
    profile.cpu_utilization = static_cast<double>(user + system) / (*profile.cores * static_cast<double>(wall));
}

// What the trace says of scheduling, and how long the step loop waited of its own will.
void add_off_cpu(Profile& profile, const TracedSteps& launch) {
  const Trace& trace = launch.trace;
  const auto fact = trace.facts.find("off-CPU");
  profile.off_cpu = fact == trace.facts.end() ? "not recorded in this trace" : fact->second;
  std::vector<Activity> waits;
  for (uint32_t i = 0; i < trace.size(); ++i)
    if (trace.kinds()[i] == EventKind::off_cpu && !is_preemption(trace.kinds()[i], trace.name(i)))
      waits.push_back({.begin = trace.begins()[i], .end = trace.end(i)});
  for (const TimeSpan& window : launch.windows) profile.waiting_ns += sweep(waits, window).busy();
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

void add_faults(Profile& profile, const TracedLaunches& launches) {
  std::vector<Fault> all;
  for (const auto& each : launches)
    for (const Fault& fault : each->trace.faults()) {
      const auto known = std::ranges::find(all, fault.what, &Fault::what);
      if (known == all.end())
        all.push_back(fault);
      else
        known->count += fault.count;
    }
  for (const Fault& fault : all) profile.notes.push_back(cat(fault.count, " ", fault.what, "."));
}

void add_launch(Profile& profile, const TracedSteps& launch) {
  for (const TimeSpan& window : launch.windows) add_window(profile, launch.rank, launch.launches, window);
  profile.steps += steps_in(launch.rank, launch.windows);
  profile.step_use.push_back(step_use(launch.rank, launch.windows));
  add_off_cpu(profile, launch);
}

// Of the first step that is looked at.
void add_timeline(Profile& profile, const TracedSteps& launch) {
  const RankEvents& rank = launch.rank;
  const Trace& trace = launch.trace;
  const int64_t begin = launch.windows.front().begin;
  const auto first = std::ranges::find_if(rank.steps, [&](uint32_t step) { return trace.begins()[step] >= begin; });
  if (first == rank.steps.end()) return;
  const TimeSpan step{trace.begins()[*first], trace.end(*first)};
  profile.timeline =
      timeline_of(rank, IdleCauses(rank, launch.launches, step), step, std::string(trace.name(*first)), kTimelineParts);
}

// nullopt for one worker, and where a rank left no trace.
std::optional<ExchangeProfile> exchange_profile(const Record& record, const Launch& launch) {
  const int64_t workers = record.run.workload.workers;
  if (workers == 1) return std::nullopt;
  std::vector<Trace> traces;
  for (int64_t rank = 0; rank < workers; ++rank) {
    const std::filesystem::path file = trace_file(record, launch, rank);
    if (!std::filesystem::exists(file)) return std::nullopt;
    traces.push_back(read_trace(file));
  }
  std::vector<RankEvents> ranks;
  for (int64_t rank = 0; rank < workers; ++rank)
    ranks.push_back(rank_events(traces[static_cast<size_t>(rank)], static_cast<int32_t>(rank)));
  return exchange_between(ranks, *launch.info.traced);
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

std::optional<Profile> profile_of(const Record& record) {
  const TracedLaunches traced = traced_launches(record);
  if (traced.empty()) return std::nullopt;
  Profile profile;
  for (const auto& each : traced) {
    const std::string file = trace_file(record, *each->launch).string();
    require(!each->rank.activities.empty(), file, ": the trace has no op: nothing says what was busy");
    require(!each->windows.empty(), file, ": none of the steps that were to be traced are there");
    add_launch(profile, *each);
  }
  add_faults(profile, traced);
  add_host(profile, traced);
  add_overhead(profile, record, traced);
  profile.counters = counter_use(record, launches_of(traced));
  const Roofs roofs = Roofs::of(record.run);
  RunInfo run = record.run;
  run.ops = ops_of_step(std::move(run.ops), mean_rows(inner_steps(traced)));
  profile.ops = profile_ops(traced, profile.steps, run, roofs);
  profile.kernels = profile_kernels(traced, profile.steps, run, roofs);
  add_flops(profile, run, roofs);
  add_loss(profile);
  if (record.run.workload.mode == Mode::kExternal) leave_out_unknown(profile);
  add_timeline(profile, *traced.back());
  profile.exchange = exchange_profile(record, *traced.back()->launch);
  if (profile.exchange)
    profile.notes.push_back("Times are of rank 0; FLOPs, their peaks and processor time are of all workers.");
  return profile;
}

}  // namespace tbd
