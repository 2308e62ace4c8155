// Each steps.csv: numbers, stamps, units; that step times add up to the time between the first and last stamp, and that
// they are long enough for the processor time that the steps took. Of several workers also what they make of it.
#include <algorithm>
#include <cmath>
#include <set>

#include "analysis/verify/raw.h"
#include "base/text.h"

namespace tbd {
namespace {

void check_numbers(const Bench& bench, const RawLaunch& launch) {
  const std::string check = launch.folder + ": step numbers";
  for (size_t i = 0; i < launch.rows; ++i) {
    const auto step = launch.count("step", i);
    const auto expected = static_cast<int64_t>(i) + 1;
    if (step != expected) return bench.differs(check, step ? cat(*step) : "none", cat(expected), cat("row ", i + 1));
  }
  bench.ok(check);
}

void check_stamps(const Bench& bench, const RawLaunch& launch) {
  const std::string check = launch.folder + ": stamps";
  std::optional<int64_t> before = maybe<int64_t>(launch.info, "first_step_began_ns");
  for (size_t i = 0; i < launch.rows; ++i) {
    const auto stamp = launch.count("completed_ns", i);
    if (!stamp) return bench.differs(check, "none", "a stamp", cat("step ", i + 1));
    if (before && *stamp <= *before)
      return bench.differs(check, cat(*stamp), cat("more than ", *before),
                           cat("step ", i + 1, " ends before it begins"));
    before = stamp;
  }
  bench.ok(check);
}

// To the nanosecond: the step times that metrics use, and the pauses of the speed probe between them, against the two
// outer stamps.
void check_sum(const Bench& bench, const RawLaunch& launch) {
  const auto of = std::ranges::find_if(
      bench.run.launches, [&](const LaunchView& v) { return v.launch->info.folder_name() == launch.folder; });
  if (of == bench.run.launches.end() || launch.rows == 0) return;
  const auto began = maybe<int64_t>(launch.info, "first_step_began_ns");
  const auto first = began ? began : launch.count("completed_ns", 0),
             last = launch.count("completed_ns", launch.rows - 1);
  if (!first || !last) return;
  int64_t sum = 0;
  for (const double seconds : of->times) sum += std::llround(seconds * 1e9);
  for (size_t i = 0; i + 1 < launch.rows; ++i) sum += launch.count("pause_ns", i).value_or(0);
  bench.same(launch.folder + ": sum of step times, ns", sum, *last - *first);
}

// A quota is enforced over periods of 0.1 s, and processor time is read just after the stamp: only what goes beyond
// both in a run of steps is too much.
constexpr double kPeriodSeconds = 0.1, kClocksApart = 1.01;

struct Excess {  // of processor time over what the cores give, in a run of consecutive steps
  double seconds = 0;
  size_t from = 0, to = 0;  // rows
};

// The run of steps with the greatest excess (Kadane); nullopt where processor time is unknown throughout.
std::optional<Excess> greatest_excess(const RawLaunch& launch, double cores) {
  std::optional<Excess> greatest;
  Excess now;
  std::optional<int64_t> before = maybe<int64_t>(launch.info, "first_step_began_ns");
  for (size_t i = 0; i < launch.rows; ++i) {
    const auto stamp = launch.count("completed_ns", i), user = launch.count("user_cpu_ns", i),
               system = launch.count("system_cpu_ns", i);
    if (before && stamp && user && system) {
      const auto used = static_cast<double>(*user + *system), took = static_cast<double>(*stamp - *before);
      if (now.seconds <= 0) now = {.seconds = 0, .from = i};
      now.seconds += (used - kClocksApart * cores * took) * 1e-9;
      now.to = i;
      if (!greatest || now.seconds > greatest->seconds) greatest = now;
    }
    before = stamp;
  }
  return greatest;
}

void check_processor_time(const Bench& bench, const RawLaunch& launch) {
  const std::string check = launch.folder + ": processor time";
  const auto cores = maybe<double>(launch.info, "cores");
  if (!cores || !(*cores > 0)) return bench.unknown(check, "the cores of the launch were not recorded");
  const std::optional<Excess> excess = greatest_excess(launch, *cores);
  if (!excess) return bench.unknown(check, "steps.csv does not count processor time");
  if (excess->seconds <= kPeriodSeconds * *cores) return bench.ok(check);
  bench.differs(check, cat(significant(excess->seconds, 3), " s more than ", *cores, " cores give"),
                cat("at most ", significant(kPeriodSeconds * *cores, 3), " s more"),
                cat("rows ", excess->from + 1, " to ", excess->to + 1, ": too short for the work in them"));
}

// Without padding a sample is worth the same in every step; the first step may run another part of the program.
void check_units(const Bench& bench, const RawLaunch& launch) {
  const std::string check = launch.folder + ": units";
  std::optional<double> usual;
  bool padded = false;
  for (size_t i = 0; i < launch.rows; ++i) {
    const auto units = launch.number("units", i);
    if (!units || *units < 0)
      return bench.differs(check, units ? exact(*units) : "none", "0 or more", cat("step ", i + 1));
    if (launch.count("padded", i)) padded = true;
    if (i == 0 || padded) continue;
    const auto samples = launch.number("samples", i);
    const double each = samples && *samples > 0 ? *units / *samples : *units;
    if (usual && std::abs(each - *usual) > 1e-9 * std::abs(*usual))
      return bench.differs(check, exact(each), exact(*usual),
                           cat("units of a sample in step ", i + 1, " and before it"));
    usual = each;
  }
  if (padded) return bench.unknown(check, "samples are padded: a step's units are those of its own batch");
  bench.ok(check);
}

void check_samples(const Bench& bench, const RawLaunch& launch) {
  const std::string check = launch.folder + ": samples of a step";
  const auto planned =
      maybe<int64_t>(maybe<Json>(bench.raw.run, "workload").value_or(Json::object()), "samples_per_step");
  bool counted = false;
  for (size_t i = 1; i < launch.rows; ++i) {
    const auto samples = launch.count("samples", i);
    if (!samples || !planned) continue;
    counted = true;
    if (*samples != *planned) return bench.differs(check, cat(*planned), cat(*samples), cat("step ", i + 1));
  }
  if (!counted) return bench.unknown(check, "steps.csv does not count samples");
  bench.ok(check);
}

// The first row in which the world's value is not what the ranks' make; all rows where they agree.
void check_sum_of_ranks(const Bench& bench, const RawLaunch& launch, const char* column) {
  const std::string check = cat(launch.folder, ": ", column, " of all workers");
  for (size_t i = 0; i < launch.rows; ++i) {
    const auto stored = launch.number(column, i);
    std::optional<double> sum = 0;
    for (const RawLaunch& rank : launch.ranks) {
      const auto own = rank.number(column, i);
      sum = sum && own ? std::optional(*sum + *own) : std::nullopt;
    }
    if (stored.has_value() != sum.has_value() || (sum && std::abs(*stored - *sum) > 1e-12 * std::abs(*sum)))
      return bench.differs(check, stored ? exact(*stored) : "none", sum ? exact(*sum) : "none", cat("step ", i + 1));
  }
  bench.ok(check);
}

void check_stamps_of_rank_0(const Bench& bench, const RawLaunch& launch) {
  const std::string check = launch.folder + ": stamps of rank 0";
  for (size_t i = 0; i < launch.rows; ++i) {
    const auto stored = launch.count("completed_ns", i), own = launch.ranks[0].count("completed_ns", i);
    if (stored != own)
      return bench.differs(check, stored ? cat(*stored) : "none", own ? cat(*own) : "none", cat("step ", i + 1));
  }
  bench.ok(check);
}

// Only of a launch that ended by itself do all ranks know each step.
void check_steps_of_ranks(const Bench& bench, const RawLaunch& launch) {
  const bool ended = maybe<std::string>(part(launch.info, "outcome"), "kind") == "ok";
  for (size_t rank = 0; rank < launch.ranks.size(); ++rank) {
    const size_t rows = launch.ranks[rank].rows;
    bench.holds(cat(launch.folder, ": steps of rank ", rank), ended ? rows == launch.rows : rows >= launch.rows,
                cat(launch.rows), cat(rows));
  }
}

// Of workers that share cores those that there are; each has one, which `cores_of_ranks` names.
bool check_shared_cores(const Bench& bench, const RawLaunch& launch) {
  const Json flags = maybe<Json>(bench.raw.run, "flags").value_or(Json::array());
  const Json threads = part(part(bench.raw.run, "environment"), "threads");
  const bool shares = std::find(flags.begin(), flags.end(), "oversubscribed") != flags.end();
  if (!shares || !threads.contains("cores_of_ranks")) return false;
  std::set<std::string> cores;
  for (const Json& each : threads["cores_of_ranks"]) cores.insert(each.dump());
  if (const auto stored = maybe<double>(launch.info, "cores"))
    bench.same(launch.folder + ": cores of all workers", *stored, static_cast<double>(cores.size()));
  return true;
}

void check_fact_of_ranks(const Bench& bench, const RawLaunch& launch, const char* key) {
  const auto stored = maybe<double>(launch.info, key);
  if (!stored) return;
  double sum = 0;
  for (const RawLaunch& rank : launch.ranks) sum += maybe<double>(rank.info, key).value_or(0);
  bench.same(cat(launch.folder, ": ", key, " of all workers"), *stored, sum);
}

}  // namespace

void check_steps(const Bench& bench) {
  for (const RawLaunch& launch : bench.raw.launches) {
    if (!launch.has_steps) {
      bench.unknown(launch.folder + ": steps", "there is no steps.csv");
      continue;
    }
    check_numbers(bench, launch);
    check_stamps(bench, launch);
    check_sum(bench, launch);
    check_processor_time(bench, launch);
    check_units(bench, launch);
    check_samples(bench, launch);
  }
}

void check_ranks(const Bench& bench) {
  const int64_t workers = maybe<int64_t>(part(bench.raw.run, "workload"), "workers").value_or(1);
  if (workers == 1) return;
  for (const RawLaunch& launch : bench.raw.launches) {
    bench.same(launch.folder + ": workers", workers, static_cast<int64_t>(launch.ranks.size()));
    if (launch.ranks.empty() || !launch.has_steps) continue;
    check_steps_of_ranks(bench, launch);
    check_stamps_of_rank_0(bench, launch);
    for (const char* column : {"units", "samples", "user_cpu_ns", "system_cpu_ns", "rss_bytes"})
      check_sum_of_ranks(bench, launch, column);
    if (!check_shared_cores(bench, launch)) check_fact_of_ranks(bench, launch, "cores");
    for (const char* key : {"peak_rss_bytes", "allocator_peak_bytes"}) check_fact_of_ranks(bench, launch, key);
  }
}

}  // namespace tbd
