// A record in one row: what `tbd run --json` prints and reports show.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/fit.h"
#include "analysis/gates.h"
#include "analysis/metrics.h"
#include "record/record.h"
#include "stats/compare.h"

namespace tbd {

// Launches of one workload by number, as far as they have a throughput.
struct LaunchRates {
  std::vector<double> rates;        // units per second
  std::vector<int64_t> numbers;     // within the pass
  std::vector<std::string> starts;  // UTC: "2026-01-31T12:00:01Z"
  std::vector<double> clocks;       // MHz of a GPU, mean over each of these launches; empty: none, or not of all
};
// Of the clean launches with a step of this basis.
LaunchRates launch_rates(const RunView& run, Basis basis);

struct CellResult {
  MeasuredWorkload workload;
  Judgement judgement;
  std::vector<Measured> values;  // as metrics() are; those that a gate withholds are absent with its reason
  std::optional<bool> verified;
  Basis basis = Basis::total;  // of the throughput and what follows from it
  int64_t steps = 0;           // after warming up, of all launches
  int64_t steps_total = 0;     // in all launches
  int64_t launches = 0;
  LaunchRates timed;                     // of each clean launch with a step of the basis; withheld ones too
  LaunchRates whole;                     // of all its steps after warming up, disturbed or not
  std::optional<double> launch_seconds;  // of a clean launch, from its start to its last step
  std::string record;                    // the folder, as it was named
  std::string record_hash;

  const Measured& operator[](std::string_view metric_id) const;
  Measured& operator[](std::string_view metric_id);
};
CellResult summarize(const Record& record);
CellResult summarize(const RunView& run);  // the same where a view is at hand

// Why a ratio of the two throughputs would not be one of the programs: one was measured undisturbed and the other in
// total, or one was disturbed. With what would decide it. Empty where the evidence is alike.
std::string unlike_evidence(const CellResult& a, const CellResult& b);
// The same, but empty too where their launches took turns, by which compare_launches() then goes.
std::string why_no_ratio(const CellResult& a, const CellResult& b);

// Throughputs of those launches of both that have one number and lay side by side: each pair began before the next, so
// that what moves the machine from one round to the next moves both. A launch made up for later is in no pair.
struct LaunchPairs {
  std::vector<double> a, b;
};
constexpr size_t kFewestPairs = 4;  // of three the t of pairs is half as large again as that of two groups
// nullopt where they did not take turns, and with fewer than `fewest`.
std::optional<LaunchPairs> launches_in_turns(const LaunchRates& a, const LaunchRates& b, size_t fewest = kFewestPairs);

// X_a / X_b from their launches, with its verdict (docs/statistics.md); nullopt where a side has no launch. By pairs
// where they were measured in turns, if these are four of five launches of each side: to drop more would cost more than
// pairs gain. Of rows without like evidence by all pairs, kFewestLaunches or more, with all of their time: what slows
// both cancels, and what slows one of them by chance widens the interval, as in tbd ab. Workers that shared cores have
// none.
std::optional<Comparison> compare_launches(const CellResult& a, const CellResult& b);

// The quotient of two independent figures; their 95 % intervals add in quadrature on a log scale.
struct Quotient {
  std::optional<double> value, low, high;
};
Quotient quotient(const Measured& numerator, const Measured& denominator);
// X_a / X_b: of their launches where both have several, else the quotient of the two throughputs.
Quotient speed_ratio(const CellResult& a, const CellResult& b);
// By the caller's comparison of their launches.
Quotient speed_ratio(const CellResult& a, const CellResult& b, const std::optional<Comparison>& launches);

// One object with the keys of the machine interface (docs/metrics.md), seconds, bytes, counts, fractions. What is null
// has its reason under the same key in `reasons`.
Json to_json(const CellResult& cell);
std::string to_json_line(const CellResult& cell);  // with its newline

Table machine_table(std::span<const CellResult> cells);  // the same keys as columns, for CSV
Table results_table(std::span<const CellResult> cells);  // what a person reads first
// In the format asked for: the table for people, to_json_line or the CSV of machine_table for machines.
// Only the table for people is fitted to the width.
std::string print_cells(std::span<const CellResult> cells, Format format, size_t width = kUnbounded);

}  // namespace tbd
