// Rules 1, 4 and 6: what rises with the batch, series by series.
#include <algorithm>

#include "analysis/observations/scope.h"
#include "analysis/observations/spearman.h"
#include "analysis/observations/suggest.h"
#include "base/text.h"

namespace tbd::rules {
namespace {

constexpr size_t kLeastBatches = 4;
constexpr double kCorrelated = 0.9, kFull = 0.9;

Case rise(const Sweep& sweep, const std::vector<const SweepPoint*>& points) {
  const double e = epsilon(sweep);
  const Ranged all = speed(*points.back(), *points.front());
  Decision passes = above(all, 1 + e);
  Ranged least;
  for (size_t i = 1; i < points.size(); ++i) {
    const Ranged step = speed(*points[i], *points[i - 1]);
    passes = both(passes, at_least(step, 1 - e));
    if (!least.value || (step.value && *step.value < *least.value)) least = step;
  }
  return {.what = sweep.label(),
          .passes = passes,
          .said = cat("× ", text(all), " from batch ", points.front()->batch, " to ", points.back()->batch,
                      ", least step × ", text(least)),
          .numbers = {number("whole", all), number("least_step", least), number("epsilon", exactly(e))},
          .records = hashes(points)};
}

// Of the values, and with their intervals used to tilt the series down and up as far as they allow.
Ranged correlation(const std::vector<const SweepPoint*>& points, Measured SweepPoint::*value, double e) {
  std::vector<double> batches, middle, down, up;
  bool bounded = true;
  for (size_t i = 0; i < points.size(); ++i) {
    const Measured& m = points[i]->*value;
    const double low = m.low.value_or(*m.value), high = m.high.value_or(*m.value);
    const double at = static_cast<double>(i) / static_cast<double>(points.size() - 1);
    batches.push_back(static_cast<double>(points[i]->batch));
    middle.push_back(*m.value);
    down.push_back(high - at * (high - low));
    up.push_back(low + at * (high - low));
    bounded = bounded && m.low && m.high;
  }
  const double rho = spearman(batches, middle, e);
  if (!bounded) return {.value = rho, .low = {}, .high = {}};
  return {
      .value = rho, .low = std::min(rho, spearman(batches, down, e)), .high = std::max(rho, spearman(batches, up, e))};
}

Case correlated(const Sweep& sweep, const std::vector<const SweepPoint*>& points, Measured SweepPoint::*value,
                const char* symbol) {
  const Ranged rho = correlation(points, value, epsilon(sweep));
  const Ranged first = ranged(points.front()->*value), last = ranged(points.back()->*value);
  return {.what = sweep.label(),
          .passes = at_least(rho, kCorrelated),
          .said = cat("Spearman ", text(rho), ", ", symbol, " ", text(first, Unit::fraction), " at batch ",
                      points.front()->batch, ", ", text(last, Unit::fraction), " at ", points.back()->batch),
          .numbers = {number("spearman", rho), number("first", first, Unit::fraction),
                      number("last", last, Unit::fraction)},
          .records = hashes(points)};
}

std::string how_many(const Observation& o, const char* what) {
  return o.cases.empty() ? std::string("no series of four batches or more with that number")
                         : cat(what, " in ", text(tally(o.cases)), " series");
}

// Of the others than recurrent models, how many fill the device at their largest batch.
std::vector<Case> filled(const Scope& scope) {
  std::vector<Case> out;
  for (const Sweep* sweep : scope.sweeps) {
    const SweepPoint* last = sweep->largest();
    if (sweep->kind.recurrent || !last || !last->compute_utilization.value) continue;
    out.push_back({.what = sweep->label(),
                   .passes = at_least(ranged(last->compute_utilization), kFull),
                   .said = {},
                   .numbers = {},
                   .records = {}});
  }
  return out;
}

}  // namespace

Observation throughput_rises(const Scope& scope) {
  Observation o = begun(1, scope);
  for (const Sweep* sweep : scope.sweeps)
    if (const auto points = ran(*sweep); points.size() >= kLeastBatches) o.cases.push_back(rise(*sweep, points));
  o.verdict = by_cases(o.cases);
  o.effect = how_many(o, "throughput rises with the batch");
  suggest_sweeps(o, scope, nullptr, {Pass::kClean});
  finish(o);
  return o;
}

Observation batches_fill_device(const Scope& scope) {
  Observation o = begun(4, scope);
  std::vector<Case> telling;  // where there is room to rise
  for (const Sweep* sweep : scope.sweeps) {
    const auto points = with(*sweep, &SweepPoint::compute_utilization);
    if (points.size() < kLeastBatches) continue;
    Case each = correlated(*sweep, points, &SweepPoint::compute_utilization, "U");
    const bool full =
        std::ranges::all_of(points, [](const SweepPoint* p) { return *p->compute_utilization.value >= kFull; });
    if (full) {
      each.passes = std::nullopt;
      each.narrower_decides = false;
      each.said += "; near 1 everywhere, which decides nothing";
    } else {
      telling.push_back(each);
    }
    o.cases.push_back(std::move(each));
  }
  const std::vector<Case> others = filled(scope);
  const Tally n = tally(others);
  o.verdict = by_cases(telling);
  const bool open = n.decided() == 0 || n.mostly_undecided();
  if (o.verdict == RuleVerdict::holds || o.verdict == RuleVerdict::mostly)
    o.verdict = open ? RuleVerdict::inconclusive : 2 * n.passes > n.decided() ? o.verdict : RuleVerdict::fails;
  o.effect = cat(how_many(o, "device utilization rises with the batch"),
                 "; at the largest batch it is 90 % or more for ", text(n), " of the models that are not recurrent");
  suggest_sweeps(o, scope, &SweepPoint::compute_utilization, {Pass::kClean, Pass::kTrace});
  if (by_cases(telling) != RuleVerdict::inconclusive && open) {
    o.missing = "traces of models that are not recurrent at their largest batch";
    o.command = command(fresh(scope, ModelKind::other, 2, {Pass::kClean, Pass::kTrace}));
  }
  finish(o);
  return o;
}

Observation batches_fill_units(const Scope& scope) {
  Observation o = begun(6, scope);
  for (const Sweep* sweep : scope.sweeps)
    if (const auto points = with(*sweep, &SweepPoint::flop_active); points.size() >= kLeastBatches)
      o.cases.push_back(correlated(*sweep, points, &SweepPoint::flop_active, "F"));
  o.verdict = by_cases(o.cases);
  o.effect = how_many(o, "utilization of the floating-point units rises with the batch");
  suggest_sweeps(o, scope, &SweepPoint::flop_active, {Pass::kClean, Pass::kTrace});
  finish(o);
  return o;
}

}  // namespace tbd::rules
