// A point of a sweep: one cell's numbers, with those of its traced launch and its memory pass.
#include <algorithm>
#include <cmath>

#include "analysis/metric_parts.h"
#include "analysis/sweep/parts.h"
#include "base/json.h"
#include "stats/effort.h"

namespace tbd::sweep_parts {
namespace {

Measured measured(std::optional<double> value, const std::optional<Interval>& interval, const std::string& reason) {
  if (!value || !std::isfinite(*value)) return absent(reason);
  Measured out{.value = value, .low = {}, .high = {}, .reason = {}};
  if (interval) {
    out.low = interval->low;
    out.high = interval->high;
  }
  return out;
}

void set_utilization(SweepPoint& point, const std::string& reason) {
  point.compute_utilization = point.flop_active = point.flop_window = absent(reason);
}

void use_profile(SweepPoint& point, const Judgement& judgement) {
  const Profile& profile = *point.profile;
  if (profile.overhead && profile.overhead->value > kUseless)
    return set_utilization(point, "tracing cost more than 20 % of a step");
  const ProfileIntervals intervals = intervals_of(profile);
  point.compute_utilization = measured(profile.compute_utilization(), intervals.compute, "no traced step has a length");
  if (profile.steps == 1) point.notes.push_back("trace: one step was looked at, so there is no interval.");
  if (judgement.utilization_withheld) {
    point.flop_active = point.flop_window = absent(*judgement.utilization_withheld);
    return;
  }
  const FlopUse none, &use = profile.flops.empty() ? none : profile.flops.front();
  const std::string reason = cat("no isa peak was measured for ", point.cell.workload.precision);
  const bool counted = use.flops > 0;
  point.flop_active = measured(counted ? use.active : std::nullopt, intervals.active,
                               counted ? reason : "the record holds no FLOP count");
  point.flop_window = measured(counted ? use.window : std::nullopt, intervals.window,
                               counted ? reason : "the record holds no FLOP count");
}

// The first candidate that has the pass; a file that cannot be read is said.
template <class Found, class Read>
const Candidate* read_pass(std::span<const Candidate> candidates, const Pass& pass, SweepPoint& point, Found& found,
                           Read read) {
  for (const Candidate& each : candidates) try {
      found = read(*each.record);
      if (!found) continue;
      if (each.record != point.record) point.notes.push_back(cat(pass, ": of record ", each.record->hash, "."));
      return &each;
    } catch (const std::exception& error) {
      point.notes.push_back(cat(pass, ": ", error.what(), "."));
    }
  return nullptr;
}

// Why there is no trace or memory log, from the launch that should have left one.
std::string missing_pass(const Record& record, const Pass& pass) {
  for (const Launch& launch : record.launches)
    if (launch.info.pass == pass && !launch.info.outcome.reason.empty())
      return cat("the ", pass, " pass: ", launch.info.outcome.reason);
  return cat("the ", pass, " pass was not measured");
}

void use_trace(SweepPoint& point, std::span<const Candidate> candidates) {
  const size_t notes = point.notes.size();
  const Candidate* from = read_pass(candidates, Pass::kTrace, point, point.profile, profile_of);
  if (from) return use_profile(point, from->cell.judgement);
  set_utilization(point, point.notes.size() > notes ? point.notes.back() : missing_pass(*point.record, Pass::kTrace));
}

// Of all workers together; nullopt where one of several left no log.
std::optional<int64_t> ledger_peak(const MemoryReport& memory) {
  if (memory.ranks.empty()) return sum(memory.study.peak.requested);
  int64_t bytes = 0;
  for (const MemoryOfRank& rank : memory.ranks) {
    if (!rank.peak) return std::nullopt;
    bytes += *rank.peak;
  }
  return bytes;
}

void add_peak(SweepPoint& point) {
  const bool gpu = on_gpu(point.record->run.workload);
  const Measured& allocator = point.cell["allocator_peak_bytes"];
  const Measured& whole = point.cell[gpu ? "gpu_memory_bytes" : "peak_rss_bytes"];
  if (const auto peak = point.memory ? ledger_peak(*point.memory) : std::nullopt) {
    point.peak_bytes = *peak;
    point.peak_source = "ledger";
  } else if (allocator.value) {
    point.peak_bytes = std::llround(*allocator.value);
    point.peak_source = "allocator";
  } else if (whole.value) {
    point.peak_bytes = std::llround(*whole.value);
    point.peak_source = gpu ? "device memory" : "resident set";
  }
}

Measured machine_use(const RunView& run) {
  double weighted = 0, seconds = 0;
  for (const LaunchView& launch : run.launches) {
    const std::optional<Json> use = maybe<Json>(launch.launch->info.host, "use");
    const std::optional<double> share = use ? maybe<double>(*use, "util_machine") : std::nullopt;
    if (!share) return absent("the processors' use was not recorded");
    weighted += *share * launch.seconds();
    seconds += launch.seconds();
  }
  return seconds > 0 ? Measured{.value = weighted / seconds, .low = {}, .high = {}, .reason = {}}
                     : absent("no step was measured after warming up");
}

// What bounds a workload that other work disturbed or whose level moved, in units a second. With six quiet blocks or
// more, of two launches or more, the level of these, from the slowest to the fastest one: an interval of 96.9 % or more
// for their median, whatever their distribution (Conover 1999, Practical Nonparametric Statistics,
// section 3.2), and as far as the level moved. With fewer, where other work is known to have disturbed, all of its
// time, from the launch that was held up most to the fastest quiet block. Absent where no block was quiet, since then
// the fastest was not either, and where the level of a single launch moved for no known reason.
struct Bounds {
  double value = 0, low = 0, high = 0;
  bool quiet = false;  // of quiet blocks alone
};
std::optional<Bounds> bounds_of(const RunView& run) {
  constexpr size_t kFewestQuiet = 6, kFewestLaunchesOfThem = 2;
  std::vector<double> blocks, launches;
  double units = 0, seconds = 0;
  size_t with_quiet = 0;
  for (const LaunchView& launch : run.launches) {
    if (launch.seconds() > 0) launches.push_back(launch.units() / launch.seconds());
    const size_t before = blocks.size();
    for (const Block& block : launch.blocks) {
      if (!block.undisturbed() || !(block.seconds > 0) || !(block.units > 0)) continue;
      blocks.push_back(block.units / block.seconds);
      units += block.units;
      seconds += block.seconds;
    }
    with_quiet += blocks.size() > before;
  }
  if (blocks.empty()) return std::nullopt;
  const auto [slowest, fastest] = std::ranges::minmax(blocks);
  if (blocks.size() >= kFewestQuiet && with_quiet >= kFewestLaunchesOfThem)
    return Bounds{units / seconds, slowest, fastest, /*quiet=*/true};
  if (run.basis != Basis::total) return std::nullopt;
  return Bounds{run.units() / run.seconds(), std::ranges::min(launches), std::max(fastest, std::ranges::max(launches))};
}

// Widens by as much, on either side, as the throughput's interval reaches beyond its value.
void widen_alike(Measured& figure, const Measured& x) {
  if (!figure.value || !x.value || !x.low || !x.high) return;
  figure.low = figure.low.value_or(*figure.value) * (*x.low / *x.value);
  figure.high = figure.high.value_or(*figure.value) * (*x.high / *x.value);
}

void bound(SweepPoint& point, const RunView& run) {
  const Judgement& judged = point.cell.judgement;
  if (judged.grade != name(Grade::disturbed)) return;
  if (judged.single_launches_shift && point.cell.launches >= kFewestLaunches) return;
  const std::optional<Bounds> bounds = bounds_of(run);
  point.bounded = point.ran() && bounds && !judged.no_block_is_quiet;
  if (!point.bounded) return;
  Measured& x = point.cell["throughput"];
  if (bounds->quiet) {
    x = {.value = bounds->value, .low = bounds->low, .high = bounds->high, .reason = {}};
    point.cell.timed = launch_rates(run, Basis::undisturbed);
  } else {
    point.cell.timed = {};
    x.low = std::min(x.low.value_or(bounds->low), bounds->low);
    x.high = std::max(x.high.value_or(bounds->high), bounds->high);
  }
  for (Measured* use : {&point.flop_active, &point.flop_window}) widen_alike(*use, x);
}

}  // namespace

SweepPoint point(std::span<const Candidate> candidates, const SweepOptions& options) {
  const Candidate& best = candidates.front();
  SweepPoint point;
  point.batch = best.record->run.workload.batch;
  point.record = best.record;
  point.cell = best.cell;
  const RunView run = view(*best.record);
  point.flops_per_unit = flops_per_unit(run);
  point.cpu_utilization = point.cell["cpu_utilization"];
  point.machine_utilization = machine_use(run);
  const Measured& x = point.throughput();
  if (point.ran() && !x.low) point.notes.push_back("throughput: too few steps for an interval.");
  set_utilization(point, "traces were not asked for");
  if (options.traces) use_trace(point, candidates);
  if (options.memory) read_pass(candidates, Pass::kMemory, point, point.memory, memory_report);
  bound(point, run);
  add_peak(point);
  return point;
}

}  // namespace tbd::sweep_parts
