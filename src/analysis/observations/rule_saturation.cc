// Rule 2: recurrent models gain from the batch until memory ends, the others do not.
#include <cmath>

#include "analysis/observations/scope.h"
#include "analysis/observations/suggest.h"
#include "base/text.h"

namespace tbd::rules {
namespace {

constexpr double kGains = 0.3, kSaturated = 0.15;
constexpr double kLeastTimes = 1.5, kMostTimes = 3;  // batches over the one that stands for half of the largest
constexpr size_t kLeastNonRecurrent = 3;
constexpr int64_t kBudget = int64_t{4} << 30;  // of the plan for two cores

// The measured batch nearest to half of the largest, on a log scale.
const SweepPoint* half_of(const Sweep& sweep, const SweepPoint& last) {
  const SweepPoint* found = nullptr;
  const auto off = [&](const SweepPoint& p) {
    return std::abs(std::log2(static_cast<double>(last.batch) / static_cast<double>(p.batch)) - 1);
  };
  for (const SweepPoint* point : ran(sweep)) {
    const double times = static_cast<double>(last.batch) / static_cast<double>(point->batch);
    if (times < kLeastTimes || times > kMostTimes) continue;
    if (!found || off(*point) < off(*found)) found = point;
  }
  return found;
}

// g: doublings of throughput for the last doubling of the batch.
Ranged gain(const SweepPoint& half, const SweepPoint& last) {
  const Ranged q = speed(last, half);
  const double doublings = std::log2(static_cast<double>(last.batch) / static_cast<double>(half.batch));
  const auto log = [&](std::optional<double> v) { return v ? std::optional(std::log2(*v) / doublings) : std::nullopt; };
  return {log(q.value), log(q.low), log(q.high)};
}

Case saturation_case(const Sweep& sweep, const SweepPoint& half, const SweepPoint& last) {
  const Ranged g = gain(half, last);
  return {.what = sweep.label(),
          .passes = sweep.kind.recurrent ? at_least(g, kGains) : at_most(g, kSaturated),
          .said = cat(sweep.kind.recurrent ? "recurrent" : "not recurrent", ", g ", text(g), " from batch ", half.batch,
                      " to ", last.batch, ", ", sweep.memory_limit_label()),
          .numbers = {number("g", g)},
          .records = hashes({&half, &last})};
}

RuleVerdict saturation_verdict(const std::vector<Case>& r, const std::vector<Case>& n, size_t other_models) {
  const Tally rt = tally(r), nt = tally(n);
  if (rt.fails > 0) return RuleVerdict::fails;
  if (rt.all() == 0 || other_models < kLeastNonRecurrent) return RuleVerdict::inconclusive;
  if (!kTwoThirds.met(nt.passes + nt.undecided, nt.all())) return RuleVerdict::fails;  // whichever way these fall
  if (rt.decided() == 0) return RuleVerdict::inconclusive;
  if (5 * (rt.undecided + nt.undecided) > rt.all() + nt.all()) return RuleVerdict::inconclusive;
  return kTwoThirds.met(nt.passes, nt.decided()) ? RuleVerdict::holds : RuleVerdict::fails;
}

// Sweeps from a small batch until the budget ends them, of all that is missing.
std::string both_kinds(const Scope& scope, size_t others) {
  Suggestion more = fresh(scope, ModelKind::recurrent, 1);
  const size_t lacking = kLeastNonRecurrent - std::min(others, kLeastNonRecurrent);
  for (std::string& name : fresh(scope, ModelKind::other, lacking).models) more.models.push_back(std::move(name));
  more.batches = {8, 16, 32, 64, 128, 256, 512, 1024};
  if (scope.device == Device::kCpu || scope.device.empty()) more.workload.memory_budget_bytes = kBudget;
  return command(more);
}

void suggest_batches(Observation& o, const Scope& scope, size_t r, size_t others, bool undecided) {
  o.missing = undecided ? "narrower intervals at the last two batches"
                        : cat("sweeps that end in memory of at least one recurrent model and three others; there are ",
                              r, " and ", others);
  if (!undecided && r == 0 && others < kLeastNonRecurrent) {
    o.command = both_kinds(scope, others);
    return;
  }
  for (const Sweep* sweep : scope.sweeps) {
    const bool wanted = sweep->kind.recurrent ? r == 0 : others < kLeastNonRecurrent;
    if (undecided ? !sweep->memory_limited() : (!wanted || sweep->memory_limited() || !sweep->largest())) continue;
    Suggestion more = again(*sweep, beyond(*sweep, undecided ? 0 : 3));
    if (!more.workload.memory_budget_bytes && scope.device == Device::kCpu) more.workload.memory_budget_bytes = kBudget;
    if (undecided) more.effort = "publish";
    o.command = command(more);
    return;
  }
  const size_t lacking = r == 0 ? 1 : kLeastNonRecurrent - std::min(others, kLeastNonRecurrent);
  Suggestion more = fresh(scope, r == 0 ? ModelKind::recurrent : ModelKind::other, std::max<size_t>(1, lacking));
  if (scope.device == Device::kCpu || scope.device.empty()) more.workload.memory_budget_bytes = kBudget;
  o.command = command(more);
}

}  // namespace

Observation memory_ends_recurrent(const Scope& scope) {
  Observation o = begun(2, scope);
  std::vector<Case> r, n;
  std::vector<const Sweep*> others;
  std::string limit;
  for (const Sweep* sweep : scope.sweeps) {
    const SweepPoint* last = sweep->largest();
    const SweepPoint* half = last && sweep->memory_limited() ? half_of(*sweep, *last) : nullptr;
    if (!half) continue;
    (sweep->kind.recurrent ? r : n).push_back(saturation_case(*sweep, *half, *last));
    if (!sweep->kind.recurrent) others.push_back(sweep);
    if (limit.empty() || limit == sweep->memory_limit_label())
      limit = sweep->memory_limit_label();
    else
      limit = "memory-limited";
  }
  o.verdict = saturation_verdict(r, n, models(others));
  if (!limit.empty()) o.label += ", " + limit;
  o.effect = r.empty() && n.empty()
                 ? "no sweep ended in memory"
                 : cat("in the last doubling: recurrent series that gain (g ≥ 0.3): ", text(tally(r)),
                       "; others that have saturated (g ≤ 0.15): ", text(tally(n)));
  o.cases = std::move(r);
  o.cases.insert(o.cases.end(), n.begin(), n.end());
  const bool enough = o.cases.size() > n.size() && models(others) >= kLeastNonRecurrent;
  suggest_batches(o, scope, o.cases.size() - n.size(), models(others), enough);
  finish(o);
  return o;
}

}  // namespace tbd::rules
