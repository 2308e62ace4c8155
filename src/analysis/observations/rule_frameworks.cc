// Rule 3: no framework wins everywhere. Rows are compared where both passed the equivalence gates.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analysis/observations/scope.h"
#include "analysis/observations/suggest.h"
#include "base/text.h"
#include "stats/compare.h"

namespace tbd::rules {
namespace {

constexpr size_t kLeastModels = 3;

struct Side {
  const Sweep* sweep = nullptr;
  const SweepPoint* point = nullptr;  // its best batch
};
using Network = std::tuple<std::string, std::string, std::string, Precision>;  // model, config, hash, precision
using Sides = std::map<std::string, Side>;                                     // by framework, version and mode

bool tuned(const SweepPoint& point) { return std::ranges::count(point.cell.judgement.flags, "tuned") > 0; }

std::map<Network, Sides> best_batches(const Scope& scope) {
  std::map<Network, Sides> all;
  for (const Sweep* sweep : scope.sweeps) {
    const SweepPoint* point = fastest(*sweep);
    if (!point || point->cell.verified != true || tuned(*point)) continue;
    const MeasuredWorkload& w = sweep->workload;
    Side& side = all[{w.model, w.config, w.model_hash, w.precision}][stack(*sweep)];
    if (!side.point || *point->throughput().value > *side.point->throughput().value) side = {sweep, point};
  }
  return all;
}

struct Match {
  std::string a, b, network;
  Comparison result;
};

Case framework_case(const std::string& network, const std::string& a, const Side& left, const std::string& b,
                    const Side& right, std::vector<Match>& matches) {
  const Comparison c = compare_points(*left.point, *right.point).value_or(Comparison{});
  matches.push_back({a, b, network, c});
  const auto& interval = c.ratio.interval;
  const Ranged ratio{c.ratio.value, interval ? std::optional(interval->low) : std::nullopt,
                     interval ? std::optional(interval->high) : std::nullopt};
  Case out{
      .what = cat(network, ": ", a, " against ", b),
      .passes = {},
      .said = cat(name(c.verdict), ", × ", text(ratio), " at batches ", left.point->batch, " and ", right.point->batch),
      .numbers = {number("ratio", ratio)},
      .records = hashes({left.point, right.point})};
  if (c.verdict != Verdict::undecided) out.passes = false;
  return out;
}

// A pair of matches of the same two rivals with opposite winners.
void mark_witnesses(const std::vector<Match>& matches, std::vector<Case>& cases) {
  for (size_t i = 0; i < matches.size(); ++i)
    for (size_t j = 0; j < matches.size(); ++j) {
      const bool rivals = matches[i].a == matches[j].a && matches[i].b == matches[j].b;
      if (rivals && matches[i].result.verdict == Verdict::faster && matches[j].result.verdict == Verdict::slower)
        cases[i].passes = cases[j].passes = true;
    }
}

}  // namespace

Observation no_framework_wins(const Scope& scope) {
  Observation o = begun(3, scope);
  std::vector<Match> matches;
  std::set<std::string> models;
  for (const auto& [network, sides] : best_batches(scope))
    for (auto a = sides.begin(); a != sides.end(); ++a)
      for (auto b = std::next(a); b != sides.end(); ++b) {
        if (a->second.sweep->workload.framework == b->second.sweep->workload.framework) continue;
        const auto& [model, config, hash, precision] = network;
        models.insert(model);
        o.cases.push_back(framework_case(cat(model, config.empty() ? "" : " ", config), a->first, a->second, b->first,
                                         b->second, matches));
      }
  mark_witnesses(matches, o.cases);
  const Tally t = tally(o.cases);
  if (t.passes > 0)
    o.verdict = RuleVerdict::holds;
  else if (models.size() >= kLeastModels && t.undecided == 0)
    o.verdict = RuleVerdict::fails;
  if (o.verdict == RuleVerdict::holds) {
    const auto first = std::ranges::find(o.cases, Decision(true), &Case::passes);
    o.effect = cat("the faster framework depends on the model: ", first->what, " ", first->said);
  } else if (o.cases.empty()) {
    o.effect = "no model was measured in two verified frameworks";
  } else {
    o.effect = cat(o.cases.size(), o.cases.size() == 1 ? " comparison of " : " comparisons of ", models.size(),
                   models.size() == 1 ? " model, " : " models, ", t.undecided, " undecided, none with another winner");
  }
  const bool has_few = std::ranges::any_of(matches, [](const Match& match) {
    const Comparison& c = match.result;
    return c.verdict == Verdict::undecided && std::min(c.ratio.launches_a, c.ratio.launches_b) < kFewestLaunches;
  });
  if (models.size() < kLeastModels)
    o.missing = cat("at least three models verified in two frameworks; there are ", models.size());
  else if (has_few)
    o.missing = cat(kFewestLaunches, " launches a workload (in turns where other work disturbs), ",
                    "so that a comparison decides");
  else
    o.missing = "narrower intervals: more launches in turns, or a quieter machine";
  Suggestion more = fresh(scope, ModelKind::any, kLeastModels);
  more.frameworks = {"pytorch", "tensorflow"};
  more.effort = "publish";
  more.batches = {4, 8, 16, 32};
  o.command = command(more);
  finish(o);
  // What an existence rule has not found is no offence of a case.
  if (o.verdict != RuleVerdict::fails) o.offenders.clear();
  return o;
}

}  // namespace tbd::rules
