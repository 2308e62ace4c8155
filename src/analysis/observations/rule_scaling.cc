// Rule 13: training over several workers is worth it only over a fast link.
#include <algorithm>

#include "analysis/observations/planned.h"
#include "analysis/observations/scope.h"
#include "analysis/observations/suggest.h"
#include "analysis/scaling.h"
#include "base/link_limits.h"
#include "base/text.h"
#include "record/axes.h"

namespace tbd::rules {
namespace {

constexpr double kEfficient = 0.8;
constexpr double kFastLink = 1e10;                 // bits per second, at least
constexpr std::string_view kSlowLink = "100Mbit";  // that a command asks for

// E = X(n) / (n X(1)).
Ranged efficiency(const ScalingPoint& point) {
  const auto n = static_cast<double>(point.workers);
  const auto part = [&](std::optional<double> v) { return v ? std::optional(*v / n) : std::nullopt; };
  return {part(point.speedup.value), part(point.speedup.low), part(point.speedup.high)};
}

Case scaling_case(const ScalingPoint& point) {
  const Ranged e = efficiency(point);
  const double bound = point.fast_link ? kEfficient : 1 / static_cast<double>(point.workers);
  return {.what = cat(point.what, ", ", point.workers, " workers, ", point.fast_link ? "fast" : "slow", " link"),
          .passes = point.fast_link ? at_least(e, bound) : below(e, bound),
          .said = cat("E ", text(e), point.emulated ? ", emulated link" : ""),
          .numbers = {number("efficiency", e), number("bound", exactly(bound))},
          .records = point.records};
}

const SweepPoint* point_of(const Sweep& sweep, int64_t batch) {
  for (const SweepPoint& point : sweep.points)
    if (point.ran() && point.batch == batch) return &point;
  return nullptr;
}

// Of one worker, whose cores are as many as those of each of the several.
const SweepPoint* one_beside(const Scope& scope, const Sweep& several, int64_t batch) {
  std::vector<std::string_view> keys = {"workers", "batch"};
  for (const Axis& axis : axes())
    if (axis.of_several) keys.push_back(axis.key);
  for (const Sweep* sweep : scope.sweeps)
    if (alike_but(keys, sweep->workload, several.workload))
      if (const SweepPoint* point = point_of(*sweep, batch)) return point;
  return nullptr;
}

}  // namespace

std::vector<ScalingPoint> scaling_points(const Scope& scope) {
  std::vector<ScalingPoint> points;
  for (const Sweep* sweep : scope.together) {
    const MeasuredWorkload& w = sweep->workload;
    const double rate = limits_of(w.link).bits_per_second;
    const bool fast = rate == 0 || rate >= kFastLink;
    const bool usual = exchange_words(w) == ExchangeMode::kAllReduce.text();
    if (!usual || (!fast && rate > kSlowLinkRate)) continue;
    for (const SweepPoint& all : sweep->points) {
      const SweepPoint* one = all.ran() ? one_beside(scope, *sweep, all.batch) : nullptr;
      if (one)
        points.push_back({.what = cat(w.model, " ", w.framework, " ", w.precision, ", batch ", all.batch,
                                      w.link.empty() ? "" : cat(", ", w.link)),
                          .workers = w.workers,
                          .batch = all.batch,
                          .fast_link = fast,
                          .emulated = rate > 0,
                          .speedup = speed(all, *one),
                          .records = hashes({one, &all}),
                          .sweep = sweep});
    }
  }
  return points;
}

// Measures a point again beside one worker with as many threads as each of them: over a slow and a fast link, or where
// both are there over its own with more launches.
std::string command_for(const ScalingPoint& point, bool has_both) {
  const Workload& w = point.sweep->workload;
  Suggestion more = again(*point.sweep, {point.batch});
  more.workload.threads = w.threads;
  more.lists["workers"] = cat("1,", point.workers);
  if (has_both)
    more.effort = "publish";
  else
    more.lists["link"] = cat(kLoopback, ",", point.fast_link ? kSlowLink : std::string_view(w.link.text()));
  return command(more);
}

// On the slow link the smallest batch of each sweep is a case; on the fast link each point is one.
Observation scaling_needs_network(const Scope& scope, std::span<const ScalingPoint> points) {
  Observation o = begun(13, scope);
  if (points.empty()) {
    o.verdict = RuleVerdict::not_applicable;
    o.effect = "no workload trains over a link";
    return o;
  }
  bool slow = false, fast = false, emulated = false;
  const ScalingPoint* open = nullptr;
  for (const ScalingPoint& point : points) {
    const bool smaller = std::ranges::any_of(points, [&](const ScalingPoint& other) {
      return !other.fast_link && other.sweep == point.sweep && other.batch < point.batch;
    });
    if (!point.fast_link && smaller) continue;
    (point.fast_link ? fast : slow) = true;
    emulated = emulated || point.emulated;
    o.cases.push_back(scaling_case(point));
    if (!open && !o.cases.back().passes) open = &point;
  }
  o.verdict = slow && fast ? by_cases(o.cases, 1) : RuleVerdict::inconclusive;
  if (emulated) o.label += ", emulated links";
  o.effect = cat("E < 1/n on the slow link and E ≥ 0.8 on the fast one in ", text(tally(o.cases), "cases"));
  o.missing = slow && fast ? cat("narrower intervals of throughput (", kFewestLaunches,
                                 " launches or more in turns where other work disturbs)")
                           : "workers over both a slow and a fast link";
  o.command = command_for(open ? *open : points.front(), slow && fast);
  finish(o);
  return o;
}

}  // namespace tbd::rules
