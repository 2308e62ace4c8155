// Rules 5 and 7: recurrent models use the device, and its floating-point units, less than the others do.
#include <algorithm>
#include <map>

#include "analysis/observations/scope.h"
#include "analysis/observations/suggest.h"
#include "base/text.h"
#include "stats/series.h"

namespace tbd::rules {
namespace {

constexpr size_t kLeastOthers = 2;  // models: of one there is no median

struct Kind {
  int number;
  bool NetworkKind::*is_it;
  Figure figure;
  double bound;  // of the others' median
  const char* models;
};

struct Best {
  const Sweep* sweep = nullptr;
  const SweepPoint* point = nullptr;
};

// Of values and, where all have them, of both ends.
Ranged middle_of(const std::vector<Ranged>& all) {
  std::vector<double> middle, low, high;
  for (const Ranged& each : all) {
    middle.push_back(*each.value);
    if (each.low && each.high) {
      low.push_back(*each.low);
      high.push_back(*each.high);
    }
  }
  if (low.size() < all.size()) return {.value = median(middle), .low = {}, .high = {}};
  return {median(middle), median(low), median(high)};
}

// The value over the median of the others', from the ratios to each of them.
Ranged share_of_median(const Best& each, const std::vector<Best>& others, const Kind& kind) {
  std::vector<Ranged> over;  // the others over this one
  for (const Best& other : others) {
    const auto better = kind.figure.in_turns ? kind.figure.in_turns(*other.point, *each.point) : std::nullopt;
    over.push_back(better.value_or(
        ranged(quotient(ranged(other.point->*kind.figure.value), ranged(each.point->*kind.figure.value)))));
  }
  return ranged(quotient(exactly(1), middle_of(over)));
}

struct Stack {  // series that may be set side by side
  std::vector<Best> these, others;
};
std::map<std::string, Stack> stacks(const Scope& scope, const Kind& kind) {
  std::map<std::string, Stack> all;
  for (const Sweep* sweep : scope.sweeps) {
    const SweepPoint* point = best(with(*sweep, kind.figure.value), kind.figure.value);
    if (!point) continue;
    Stack& home = all[stack(*sweep)];
    (sweep->kind.*kind.is_it ? home.these : home.others).push_back({sweep, point});
  }
  return all;
}

Case kind_case(const Best& each, const std::vector<Best>& others, const Kind& kind) {
  std::vector<Ranged> values;
  for (const Best& other : others) values.push_back(ranged(other.point->*kind.figure.value));
  const Ranged value = ranged(each.point->*kind.figure.value), rest = middle_of(values);
  const Ranged share = share_of_median(each, others, kind);
  return {
      .what = each.sweep->label(),
      .passes = at_most(share, kind.bound),
      .said = cat(kind.figure.symbol, " at most ", text(value, Unit::fraction), " (batch ", each.point->batch, "), ",
                  text(share), " of the median ", text(rest, Unit::fraction), " of ", others.size(), " other series"),
      .numbers = {number("most", value, Unit::fraction), number("others_median", rest, Unit::fraction),
                  number("share", share)},
      .records = hashes({each.point}),
      .narrowed_by = narrowed_by(kind.figure)};
}

size_t models_of(const std::vector<Best>& all) {
  std::vector<const Sweep*> sweeps;
  for (const Best& each : all) sweeps.push_back(each.sweep);
  return models(sweeps);
}

// Those whose number has an interval, where they are of models enough: one that has none would leave the median
// without.
std::vector<Best> bounded_where_enough(const std::vector<Best>& all, Measured SweepPoint::*value) {
  std::vector<Best> bounded;
  for (const Best& each : all)
    if ((each.point->*value).low && (each.point->*value).high) bounded.push_back(each);
  return models_of(bounded) >= kLeastOthers ? bounded : all;
}

void suggest_models(Observation& o, const Scope& scope, const Kind& kind, size_t these, size_t others) {
  const bool lacks_these = these < 2;
  o.missing = lacks_these || others < kLeastOthers ? cat("traced series of at least two ", kind.models,
                                                         " and, in the same framework and precision, of two "
                                                         "other models; there are ",
                                                         these, " and ", others)
                                                   : "narrower intervals: more traced steps";
  if (!lacks_these && others >= kLeastOthers && !o.cases.empty()) {
    for (const Sweep* sweep : scope.sweeps)
      if (sweep->kind.*kind.is_it && sweep->largest())
        o.command =
            command(again(*sweep, {sweep->largest()->batch}, {Pass::kClean, Pass::kTrace})) + " --effort publish";
    return;
  }
  for (const Sweep* sweep : scope.sweeps) {  // measured, but not traced
    const bool wanted = sweep->kind.*kind.is_it ? lacks_these : others < kLeastOthers;
    if (!wanted || !sweep->largest() || !with(*sweep, kind.figure.value).empty()) continue;
    std::vector<int64_t> batches;
    for (const SweepPoint* point : ran(*sweep)) batches.push_back(point->batch);
    o.command = command(again(*sweep, batches, {Pass::kClean, Pass::kTrace}));
    return;
  }
  o.command = command(fresh(scope, lacks_these ? ModelKind::recurrent : ModelKind::other,
                            lacks_these ? 2 - these : kLeastOthers - others, {Pass::kClean, Pass::kTrace}));
}

Observation use_less(const Scope& scope, const Kind& kind) {
  Observation o = begun(kind.number, scope);
  size_t these = 0, others = 0;
  std::string speech;
  for (const auto& [name, home] : stacks(scope, kind)) {
    these = std::max(these, home.these.size());
    others = std::max(others, models_of(home.others));
    if (models_of(home.others) < kLeastOthers) continue;
    const std::vector<Best> beside = bounded_where_enough(home.others, kind.figure.value);
    for (const Best& each : home.these) {
      o.cases.push_back(kind_case(each, beside, kind));
      if (each.sweep->card.domain == "speech recognition")
        speech = cat("; ", each.sweep->card.title, ": ", text(share_of_median(each, beside, kind)));
    }
  }
  o.verdict = by_cases(o.cases);
  o.effect = o.cases.empty() ? cat("no ", kind.models, " traced beside two other models")
                             : cat("at most ", format_percent(kind.bound), " of the others' median ",
                                   kind.figure.symbol, " in ", text(tally(o.cases), cat("series of ", kind.models)));
  o.effect += speech;
  suggest_models(o, scope, kind, these, others);
  finish(o);
  return o;
}

}  // namespace

Observation lstm_uses_less(const Scope& scope) {
  return use_less(scope, {5, &NetworkKind::lstm, kU, 0.67, "LSTM models"});
}

Observation recurrent_uses_less(const Scope& scope) {
  return use_less(scope, {7, &NetworkKind::recurrent, kF, 0.6, "recurrent models"});
}

}  // namespace tbd::rules
