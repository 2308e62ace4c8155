// Rule 8: tuned convolutional networks still have long kernels that use the device badly (Zhu et al. 2018, table 5).
#include "analysis/observations/scope.h"
#include "analysis/observations/suggest.h"
#include "analysis/trace/kernel_table.h"
#include "base/text.h"

namespace tbd::rules {
namespace {

constexpr size_t kLongest = 5;
constexpr double kShare = 0.10;

struct Found {
  double share = 0;  // of the time of all kernels
  std::vector<std::string> names;
};
Found long_below_average(const Profile& profile) {
  const double mean = profile.mean_utilization();
  int64_t all = 0, below = 0;
  Found out;
  for (const RankedWork& work : profile.ranked()) {  // longest first
    all += work.total_ns;
    if (out.names.size() == kLongest || work.utilization.value_or(0) >= mean) continue;
    below += work.total_ns;
    out.names.push_back(cat(short_kernel_name(work.name), " (", work.direction, ")"));
  }
  out.share = all > 0 ? static_cast<double>(below) / static_cast<double>(all) : 0;
  return out;
}

// The convolutional series with the highest F, or where no peak is known the highest U, at its best point.
const SweepPoint* best_traced(const Scope& scope, const Sweep*& series) {
  for (const auto value : {&SweepPoint::flop_active, &SweepPoint::compute_utilization}) {
    const SweepPoint* found = nullptr;
    for (const Sweep* sweep : scope.sweeps) {
      std::vector<const SweepPoint*> points = with(*sweep, value);
      std::erase_if(points, [&](const SweepPoint* p) { return !p->profile || !sweep->kind.convolutional; });
      const SweepPoint* point = best(points, value);
      if (point && (!found || *(point->*value).value > *(found->*value).value)) {
        found = point;
        series = sweep;
      }
    }
    if (found) return found;
  }
  return nullptr;
}

}  // namespace

Observation long_slow_kernels(const Scope& scope) {
  Observation o = begun(8, scope);
  const Sweep* series = nullptr;
  const SweepPoint* point = best_traced(scope, series);
  if (point) {
    const Found found = long_below_average(*point->profile);
    Decision passes = found.share >= kShare;
    if (point->profile->mean_utilization() <= 0) passes = std::nullopt;
    o.cases.push_back(
        {.what = cat(series->label(), " batch ", point->batch),
         .passes = passes,
         .said = cat("the five longest below-average kernels take ", format_percent(found.share),
                     " of the "
                     "kernels' time: ",
                     join(found.names, ", ")),
         .numbers = {number("share", exactly(found.share), Unit::fraction),
                     number("mean_utilization", exactly(point->profile->mean_utilization()), Unit::fraction)},
         .records = hashes({point}),
         .narrowed_by = {}});
    o.effect = cat(o.cases.front().what, ": ", o.cases.front().said);
  } else {
    o.effect = "no convolutional network was traced";
  }
  o.verdict = by_cases(o.cases, 1);
  o.missing = point ? "measured peaks, without which no kernel has a utilization" : "a traced convolutional network";
  Suggestion more = fresh(scope, ModelKind::convolutional, 1, {Pass::kClean, Pass::kTrace});
  for (const Sweep* sweep : scope.sweeps)
    if (sweep->kind.convolutional && sweep->largest())
      more = again(*sweep, {sweep->largest()->batch}, {Pass::kClean, Pass::kTrace});
  o.command = command(more);
  finish(o);
  return o;
}

}  // namespace tbd::rules
