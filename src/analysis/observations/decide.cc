#include "analysis/observations/decide.h"

#include <cmath>

#include "base/text.h"

namespace tbd::rules {

Decision both(Decision a, Decision b) {
  if ((a && !*a) || (b && !*b)) return false;
  return a && b ? Decision(true) : std::nullopt;
}

Decision either(Decision a, Decision b) {
  if ((a && *a) || (b && *b)) return true;
  return a && b ? Decision(false) : std::nullopt;
}

Ranged exactly(double value) { return {value, value, value}; }
Ranged ranged(const Measured& m) { return {m.value, m.low, m.high}; }
Ranged ranged(const Quotient& q) { return {q.value, q.low, q.high}; }

Quotient quotient(const Ranged& numerator, const Ranged& denominator) {
  const auto measured = [](const Ranged& x) { return Measured{x.value, x.low, x.high, ""}; };
  return tbd::quotient(measured(numerator), measured(denominator));
}

Decision at_least(const Ranged& x, double bound) {
  if (!x.low || !x.high) return std::nullopt;
  if (*x.low >= bound) return true;
  return *x.high < bound ? Decision(false) : std::nullopt;
}

Decision above(const Ranged& x, double bound) {
  if (!x.low || !x.high) return std::nullopt;
  if (*x.low > bound) return true;
  return *x.high <= bound ? Decision(false) : std::nullopt;
}

Decision at_most(const Ranged& x, double bound) {
  const Decision more = above(x, bound);
  return more ? Decision(!*more) : std::nullopt;
}

Decision below(const Ranged& x, double bound) {
  const Decision not_less = at_least(x, bound);
  return not_less ? Decision(!*not_less) : std::nullopt;
}

CaseNumber number(std::string name, const Ranged& x, Unit unit) {
  return {.name = std::move(name), .value = x.value, .low = x.low, .high = x.high, .unit = unit};
}

std::string text(const Ranged& x, Unit unit) {
  if (!x.value) return "unknown";
  const auto said = [&](double v) { return unit == Unit::fraction ? format_percent(v) : significant(v); };
  if (!x.low || !x.high) return said(*x.value) + " (no interval)";
  if (*x.low == *x.high) return said(*x.value);
  return cat(said(*x.value), " (", said(*x.low), " … ", said(*x.high), ")");
}

Tally tally(std::span<const Case> cases) {
  Tally out;
  for (const Case& each : cases)
    if (each.decidable) ++(!each.passes ? out.undecided : *each.passes ? out.passes : out.fails);
  return out;
}

std::string text(const Tally& tally, std::string_view what) {
  if (tally.all() == 0) return "none";
  std::string out = cat(tally.passes, " of ", tally.all(), what.empty() ? "" : " ", what);
  if (tally.undecided > 0) out += cat(", ", tally.undecided, " undecided");
  return out;
}

RuleVerdict by_cases(std::span<const Case> cases, size_t least, const Quota& quota) {
  const Tally t = tally(cases);
  if (t.all() < least) return RuleVerdict::inconclusive;
  if (!quota.met(t.passes + t.undecided, t.all())) return RuleVerdict::fails;
  if (t.decided() < least || t.mostly_undecided()) return RuleVerdict::inconclusive;
  if (t.fails == 0) return RuleVerdict::holds;
  return quota.met(t.passes, t.decided()) ? RuleVerdict::mostly : RuleVerdict::fails;
}

}  // namespace tbd::rules
