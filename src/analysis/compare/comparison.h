// Two sets of measurements, workload by workload: is B faster than A, and does it do the same work? (docs/compare.md)
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/compare/measured_row.h"
#include "stats/compare.h"

namespace tbd {

struct CompareOptions {
  double margin = kMargin;  // differences below it do not matter
  double change = 0.05;     // of which it is said how many launches would find it
  double rate = 0.05;       // of false discoveries among the rows called faster or slower
  // Keys of workload fields (record/axes.h) in which partners may differ; "machine": measured on other hardware.
  std::vector<std::string> across;
};

struct Difference {
  std::string what, a, b;  // "framework_version", "cpu.model"
  bool operator==(const Difference&) const = default;
};

struct CounterChange {
  std::string name;
  CounterVerdict verdict = CounterVerdict::unchanged;
  int64_t a = 0, b = 0;  // the first value of each side
};

struct RowPair {
  const MeasuredRow* a = nullptr;
  const MeasuredRow* b = nullptr;
  std::optional<Comparison> result;  // of B against A, each row for itself; absent where a side has no throughput
  Verdict verdict = Verdict::undecided;
  std::string reason;   // why it is undecided, or why one side has no number; a clause
  bool broken = false;  // A has a number, B has none
  // Launches on each side that find CompareOptions::change in nine runs of ten; kMostLaunches + 1: more.
  std::optional<int64_t> launches_to_find;
  std::vector<CounterChange> counters;  // that both sides have
  std::vector<Difference> differences;  // of the workload, then of settings
};

struct Unpaired {
  const MeasuredRow* row = nullptr;
  bool of_a = true;
  std::string reason;  // "B has no mxnet", "model_hash differs"
};

struct RowComparison {
  CompareOptions options;
  std::vector<RowPair> pairs;  // in the order of A
  std::vector<Unpaired> unpaired;
};

// Joins rows whose workloads are alike but for what may change under a program (its version, the optimizer's path, its
// lowering) and for `across`. The rows must outlive it. Of the rows called faster or slower by themselves those stand
// that Benjamini & Hochberg's procedure upholds over all rows; the others become undecided. Throws Error(usage) on a
// name in `across` that is no field.
RowComparison compare_rows(std::span<const MeasuredRow> a, std::span<const MeasuredRow> b,
                           const CompareOptions& options);

// Whether both are of one workload on one machine, but for what may change under a program.
bool same_program(const MeasuredRow& a, const MeasuredRow& b);
// In which the rows differ: fields of the workload first, then machine and settings.
std::vector<Difference> differences_of(const MeasuredRow& a, const MeasuredRow& b);

// Outcomes that a caller may call a failure: "slower", "faster", "undecided", "counters" (one changed), "failed" (B has
// no number where A has one), "missing" (B lacks a workload of A).
const std::vector<std::string>& failing_names();
bool has_outcome(const RowPair& pair, std::string_view name);
// In all rows. Throws Error(usage) on another name.
bool any_has(const RowComparison& comparison, std::string_view name);

}  // namespace tbd
