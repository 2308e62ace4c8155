// From intervals to case verdicts, and from cases to a rule's verdict (docs/observations.md).
#pragma once
#include "analysis/observations/observations.h"

namespace tbd::rules {

// nullopt: undecided.
using Decision = std::optional<bool>;
Decision both(Decision a, Decision b);
Decision either(Decision a, Decision b);

// A value with the interval that decides; both ends absent: nothing is decided. An exact number is its own interval.
struct Ranged {
  std::optional<double> value, low, high;
};
Ranged exactly(double value);
Ranged ranged(const Measured& m);
Ranged ranged(const Quotient& q);
Quotient quotient(const Ranged& numerator, const Ranged& denominator);

// True if the whole interval satisfies it, false if none of it does.
Decision at_least(const Ranged& x, double bound);
Decision at_most(const Ranged& x, double bound);
Decision above(const Ranged& x, double bound);
Decision below(const Ranged& x, double bound);

CaseNumber number(std::string name, const Ranged& x, Unit unit = Unit::none);
std::string text(const Ranged& x, Unit unit = Unit::none);  // "1.24 (1.22 … 1.27)"

struct Tally {
  size_t passes = 0, fails = 0, undecided = 0;
  size_t decided() const { return passes + fails; }
  size_t all() const { return decided() + undecided; }
  bool mostly_undecided() const { return 5 * undecided > all(); }  // more than 20 %
};
Tally tally(std::span<const Case> cases);  // of those that can be decided
// "3 of 4, 1 undecided"; with `what` between, "3 of 4 series, 1 undecided"; "none" of none.
std::string text(const Tally& tally, std::string_view what = "");

// The share of the cases that must pass.
struct Quota {
  size_t part = 4, whole = 5;
  bool met(size_t passes, size_t cases) const { return whole * passes >= part * cases; }
};
constexpr Quota kTwoThirds{.part = 2, .whole = 3};

// Inconclusive with fewer than `least` cases, and with fewer than that decided or more than 20 % undecided unless the
// rule fails whichever way these fall.
RuleVerdict by_cases(std::span<const Case> cases, size_t least = 2, const Quota& quota = {});

}  // namespace tbd::rules
