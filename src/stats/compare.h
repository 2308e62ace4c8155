// Is A faster than B? Verdicts from launches, with the power that they had (docs/statistics.md).
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "stats/intervals.h"
#include "stats/series.h"

namespace tbd {

constexpr double kMargin = 0.02;        // differences below it do not matter; fixed in advance
constexpr int64_t kFewestLaunches = 3;  // on each side, for a verdict

enum class Verdict { faster, slower, same, undecided };  // of A against B
std::string_view name(Verdict verdict);
enum class Direction { none, a_higher, b_higher };  // `none`: the interval of the ratio holds 1
std::string_view name(Direction direction);         // "-", "A higher", "B higher"

// X_A / X_B of the geometric means of launches, and what is known of it. The launch is the unit: steps of one process
// share its layout of memory and its moment, so more steps do not stand for more launches (Kalibera & Jones 2013,
// Rigorous Benchmarking in Reasonable Time, ISMM, section 6).
struct Ratio {
  double value = 0;
  std::optional<Interval> interval;  // 95 %, Welch's t on ln X; absent with a single launch on a side
  // Of ln X between launches, pooled over both sides, absent with a single launch on each; of pairs, of the logarithm
  // of their ratios over sqrt(2), absent with a single pair.
  std::optional<double> sd;
  std::optional<double> p_value;         // two-sided, of ratio 1; absent where the interval is, or both sd are 0
  std::optional<double> error, freedom;  // standard error of ln value, degrees of freedom; absent where p_value is
  int64_t launches_a = 0, launches_b = 0;
  bool paired = false;
};
// Throughputs of launches, positive. Throws Error(invalid) where a side is empty or a value is not positive.
// Welch 1947, Biometrika 34; degrees of freedom by Satterthwaite 1946, Biometrics Bulletin 2(6).
Ratio ratio(Series a, Series b);
// The same of launches that were neighbours in time, a[i] and b[i]: Student's t on ln a[i] - ln b[i], so that what
// moves both is in neither. Throws Error(invalid) also where the sides differ in length.
Ratio paired_ratio(Series a, Series b);

// p-value of a difference beyond the margin: twice the lesser of the one-sided ones of 1 + m and 1 / (1 + m), at most
// 1. It is below 5 % exactly where verdict() says faster or slower, launches enough provided. nullopt where p_value is.
std::optional<double> margin_p_value(const Ratio& ratio, double margin = kMargin);

// faster: lower end > 1 + m. slower: upper end < 1 / (1 + m). same: within both. undecided: else, and with fewer than
// kFewestLaunches on a side.
Verdict verdict(const Ratio& ratio, double margin = kMargin);
Direction direction(const Ratio& ratio);
// On a GPU: a difference must also hold in work per clock cycle, else the clock made it and the verdict is undecided.
Verdict confirmed_in_cycles(Verdict in_time, Verdict in_cycles);

// The smallest relative gain that launches_a against launches_b find in 90 of 100 runs. `sd` of ln X between launches.
double detectable_change(double sd, int64_t launches_a, int64_t launches_b, double margin = kMargin);

constexpr int64_t kMostLaunches = 50;
// The least launches on each side that find a change of `change` (0.05: 5 %) in 90 of 100 runs, from 3 on; at most
// kMostLaunches + 1, which stands for more. `paired`: pairs.
int64_t launches_to_find(double change, double sd, bool paired = false, double margin = kMargin);

struct Power {
  std::optional<double> detectable_change;  // with the launches at hand; absent where sd is, or with 2 launches in all
  // On each side, for a verdict other than undecided on this ratio in 90 of 100 runs; kMostLaunches + 1: "> 50".
  std::optional<int64_t> launches_needed;
};
Power power(const Ratio& ratio, double margin = kMargin);

struct Comparison {
  Ratio ratio;
  Verdict verdict = Verdict::undecided;
  Direction direction = Direction::none;
  Power power;
  std::optional<double> mann_whitney_p;  // second opinion; present with at least 9 launches on both sides
  bool made_by_clock = false;            // undecided only because the difference is not in work per clock cycle
};
Comparison compare(Series a, Series b, double margin = kMargin);
// Of a GPU: the work per second of each launch, and the mean clock while it worked. Where both sides have a clock for
// each launch, a difference stands as confirmed_in_cycles() says.
struct ClockedLaunches {
  Series rates, clocks;
};
Comparison compare(const ClockedLaunches& a, const ClockedLaunches& b, double margin = kMargin);
Comparison compare_pairs(Series a, Series b, double margin = kMargin);  // of paired_ratio; no second opinion

// Two-sided p-value of the Mann-Whitney U test; exact where no values tie and n_a n_b <= 2,500, else by the normal
// approximation with ties and continuity corrected. Mann & Whitney 1947, Ann. Math. Stat. 18(1).
double mann_whitney_p(Series a, Series b);

// Which of many hypotheses are rejected with a false discovery rate of `rate`.
// Benjamini & Hochberg 1995, J. R. Stat. Soc. B 57(1).
std::vector<bool> discoveries(Series p_values, double rate = 0.05);

// A deterministic counter over the steps after warming up and launches of each side (ops, allocations, peak bytes,
// FLOPs, copies).
enum class CounterVerdict { unchanged, changed, varies };  // varies: not constant within a side; gates nothing
std::string_view name(CounterVerdict verdict);
CounterVerdict compare_counters(std::span<const int64_t> a, std::span<const int64_t> b);  // Error(invalid) when empty

}  // namespace tbd
