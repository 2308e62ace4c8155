// Rules 1, 4 and 6: what rises with the batch, series by series.
#include <algorithm>
#include <cmath>

#include "analysis/observations/scope.h"
#include "analysis/observations/spearman.h"
#include "analysis/observations/suggest.h"
#include "base/philox.h"
#include "base/text.h"
#include "stats/distributions.h"
#include "stats/series.h"

namespace tbd::rules {
namespace {

constexpr size_t kLeastBatches = 4;
constexpr double kCorrelated = 0.9, kFull = 0.9;
constexpr uint32_t kDraws = 1000;

Case rise(const Sweep& sweep, const std::vector<const SweepPoint*>& points) {
  const double e = epsilon(sweep);
  const Ranged all = speed(*points.back(), *points.front());
  Decision passes = above(all, 1 + kLeastEpsilon);  // how far launches differ is in the interval
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

std::vector<Ranged> with_ends(const std::vector<const SweepPoint*>& points, Measured SweepPoint::*value) {
  std::vector<Ranged> out;
  for (const SweepPoint* point : points) out.push_back(ranged(point->*value));
  return out;
}

// Of each point over the first, by launches in turns; empty where not all of them took turns with it.
std::vector<Ranged> over_first(const std::vector<const SweepPoint*>& points, const Figure& figure) {
  std::vector<Ranged> out = {exactly(1)};
  for (size_t i = 1; i < points.size(); ++i) {
    const std::optional<Ranged> ratio = figure.in_turns ? figure.in_turns(*points[i], *points.front()) : std::nullopt;
    if (!ratio) return {};
    out.push_back(*ratio);
  }
  return out;
}

// Half of its 95 % interval, of the logarithm; at most that of a factor of 1,000.
double log_half(const Ranged& x) { return std::log(*x.high / std::max(*x.low, *x.high / 1e6)) / 2; }

// Of the values, with the 95 % interval of what it is where each value is drawn as its own interval says: parametric
// bootstrap (Efron & Tibshirani 1993, An Introduction to the Bootstrap, section 6.5).
Ranged correlation(const std::vector<const SweepPoint*>& points, const std::vector<Ranged>& values, double e) {
  std::vector<double> batches, middle;
  for (const SweepPoint* point : points) batches.push_back(static_cast<double>(point->batch));
  for (const Ranged& each : values) middle.push_back(*each.value);
  const double rho = spearman(batches, middle, e);
  if (!std::ranges::all_of(values, [](const Ranged& each) { return each.low && each.high; }))
    return {.value = rho, .low = {}, .high = {}};
  const Philox random(1, "correlation");
  std::vector<double> rhos;
  for (uint32_t draw = 0; draw < kDraws; ++draw) {
    std::vector<double> drawn;
    for (size_t i = 0; i < values.size(); ++i)
      drawn.push_back(middle[i] *
                      std::exp(log_half(values[i]) / normal_quantile(0.975) * random.at(draw, 0).normal(i)));
    rhos.push_back(spearman(batches, drawn, e));
  }
  return {.value = rho, .low = std::min(rho, quantile(rhos, 0.025)), .high = std::max(rho, quantile(rhos, 0.975))};
}

Case correlated(const Sweep& sweep, const std::vector<const SweepPoint*>& points, const Figure& figure) {
  const std::vector<Ranged> values = with_ends(points, figure.value), in_turns = over_first(points, figure);
  const Ranged rho = correlation(points, in_turns.empty() ? values : in_turns, quiet_epsilon(sweep));
  const Ranged &first = values.front(), &last = values.back();
  return {.what = sweep.label(),
          .passes = at_least(rho, kCorrelated),
          .said = cat("Spearman ", text(rho), ", ", figure.symbol, " ", text(first, Unit::fraction), " at batch ",
                      points.front()->batch, ", ", text(last, Unit::fraction), " at ", points.back()->batch,
                      in_turns.empty() ? "" : cat(", × ", text(in_turns.back()), " by launches in turns")),
          .numbers = {number("spearman", rho), number("first", first, Unit::fraction),
                      number("last", last, Unit::fraction)},
          .records = hashes(points),
          .narrowed_by = narrowed_by(figure)};
}

std::string how_many(const Observation& o, const char* what) {
  return o.cases.empty() ? std::string("no series of four batches or more with that number")
                         : cat(what, " in ", text(tally(o.cases), "series"));
}

std::string how_device_fills(const Observation& o) {
  constexpr const char* kBusy = "90 % or more at every batch";
  const size_t decidable = tally(o.cases).all(), full = o.cases.size() - decidable;
  if (full > 0 && decidable == 0)
    return cat("device utilization is ", kBusy, " in ", full, " series, which decides nothing");
  return how_many(o, "device utilization rises with the batch") +
         (full > 0 ? cat("; in ", full, " more it is ", kBusy) : "");
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
  for (const Sweep* sweep : scope.sweeps) {
    const auto points = with(*sweep, &SweepPoint::compute_utilization);
    if (points.size() < kLeastBatches) continue;
    Case each = correlated(*sweep, points, kU);
    if (std::ranges::all_of(points, [](const SweepPoint* p) { return *p->compute_utilization.value >= kFull; })) {
      each.passes = std::nullopt;
      each.decidable = false;
      each.said += "; near 1 everywhere";
    }
    o.cases.push_back(std::move(each));
  }
  const std::vector<Case> others = filled(scope);
  const Tally n = tally(others);
  const RuleVerdict rises = by_cases(o.cases);
  o.verdict = rises;
  const bool open = n.decided() == 0 || n.mostly_undecided();
  if (o.verdict == RuleVerdict::holds || o.verdict == RuleVerdict::mostly)
    o.verdict = open ? RuleVerdict::inconclusive : 2 * n.passes > n.decided() ? o.verdict : RuleVerdict::fails;
  o.effect = cat(how_device_fills(o), "; at the largest batch it is 90 % or more for ", text(n),
                 " of the models that are not recurrent");
  suggest_sweeps(o, scope, &SweepPoint::compute_utilization, {Pass::kClean, Pass::kTrace});
  if (rises != RuleVerdict::inconclusive && open) {
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
      o.cases.push_back(correlated(*sweep, points, kF));
  o.verdict = by_cases(o.cases);
  o.effect = how_many(o, "utilization of the floating-point units rises with the batch");
  suggest_sweeps(o, scope, &SweepPoint::flop_active, {Pass::kClean, Pass::kTrace});
  finish(o);
  return o;
}

}  // namespace tbd::rules
