// Each steps.csv: numbers, stamps, units; and that step times add up to the time between the first and last stamp.
#include <algorithm>
#include <cmath>

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

// To the nanosecond: the step times that metrics use against the two outer stamps.
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
  bench.same(launch.folder + ": sum of step times, ns", sum, *last - *first);
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
    check_units(bench, launch);
    check_samples(bench, launch);
  }
}

}  // namespace tbd
