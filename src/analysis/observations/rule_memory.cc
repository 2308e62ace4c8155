// Rules 11 and 12: what fills memory, and whether filling it pays.
#include <algorithm>
#include <set>

#include "analysis/observations/scope.h"
#include "analysis/observations/suggest.h"
#include "base/text.h"

namespace tbd::rules {
namespace {

constexpr double kHalf = 0.5, kAsFast = 0.95, kSmaller = 0.7;
constexpr size_t kLeastMeasuredModels = 2;

Case by_class(const Sweep& sweep, const SweepPoint& point) {
  const MemoryBytes& bytes = point.memory->study.peak.requested;
  const int64_t maps = bytes[static_cast<size_t>(MemoryClass::feature_map)], all = sum(bytes);
  const double share = all > 0 ? static_cast<double>(maps) / static_cast<double>(all) : 0;
  const bool largest = maps == *std::ranges::max_element(bytes);
  return {.what = sweep.label(),
          .passes = largest && share >= kHalf,
          .said = cat(format_percent(share), " of ", format_bytes(all), " at batch ", point.batch,
                      largest ? "" : ", not the largest class"),
          .numbers = {number("share", exactly(share), Unit::fraction),
                      number("tracked_bytes", exactly(static_cast<double>(all)), Unit::bytes)},
          .records = hashes({&point})};
}

bool has_exact_memory(const SweepPoint& point) {
  return point.memory && point.memory->log.evidence == MemoryEvidence::exact;
}

// The largest batch that ran; where none was timed, the largest of which the memory pass ran.
const SweepPoint* largest_followed(const Sweep& sweep) {
  if (const SweepPoint* timed = sweep.largest()) return timed;
  const SweepPoint* found = nullptr;
  for (const SweepPoint& point : sweep.points)
    if (point.memory && point.cell.judgement.outcome.kind == OutcomeKind::ok) found = &point;
  return found;
}

// Batches up to half of the largest that could stand in for it.
std::vector<const SweepPoint*> smaller(const Sweep& sweep, const SweepPoint& last) {
  std::vector<const SweepPoint*> out;
  for (const SweepPoint* point : ran(sweep))
    if (2 * point->batch <= last.batch && point->peak_bytes && point->peak_source == last.peak_source)
      out.push_back(point);
  return out;
}

Case memory_case(const Sweep& sweep, const SweepPoint& last) {
  Case out{.what = sweep.label(),
           .passes = false,
           .said = "every smaller batch is slower or nearly as large",
           .numbers = {},
           .records = {}};
  for (const SweepPoint* point : smaller(sweep, last)) {
    const Ranged as_fast = speed(*point, last);
    const double peak = static_cast<double>(*point->peak_bytes) / static_cast<double>(*last.peak_bytes);
    const Decision passes = both(at_least(as_fast, kAsFast), peak <= kSmaller);
    if (passes == false || (out.passes != false && !passes)) continue;
    out.passes = passes;
    out.said = cat("batch ", point->batch, " has × ", text(as_fast), " of the throughput of batch ", last.batch,
                   " in × ", significant(peak), " of its memory (", last.peak_source, ")");
    out.numbers = {number("throughput_ratio", as_fast), number("memory_ratio", exactly(peak))};
    out.records = hashes({point, &last});
    if (passes == true) break;
  }
  if (out.records.empty()) out.records = hashes({&last});
  return out;
}

size_t models_with(const std::vector<std::pair<std::string, Decision>>& found, std::optional<Decision> wanted) {
  std::set<std::string> names;
  for (const auto& [model, passes] : found)
    if (!wanted || passes == *wanted) names.insert(model);
  return names.size();
}

}  // namespace

Observation feature_maps_dominate(const Scope& scope) {
  Observation o = begun(11, scope);
  const Sweep* unmeasured = nullptr;
  for (const Sweep* sweep : scope.sweeps) {
    const SweepPoint* last = largest_followed(*sweep);
    if (last && has_exact_memory(*last)) o.cases.push_back(by_class(*sweep, *last));
    if (last && !last->memory && sweep->workload.framework == "pytorch" && !unmeasured) unmeasured = sweep;
  }
  o.verdict = by_cases(o.cases);
  o.effect = o.cases.empty() ? "no exact memory pass at the largest batch"
                             : cat("at the largest batch feature maps are the largest class and half of all in ",
                                   text(tally(o.cases), "series"));
  for (const Case& each : o.cases) o.effect += cat(&each == &o.cases.front() ? ": " : "; ", each.what, " ", each.said);
  o.missing = "the memory pass at the largest batch of two series in pytorch, whose ledger is exact";
  o.command = unmeasured ? command(again(*unmeasured, {unmeasured->largest()->batch}, {Pass::kClean, Pass::kMemory}))
                         : command(fresh(scope, ModelKind::any, 2 - std::min<size_t>(1, o.cases.size()),
                                         {Pass::kClean, Pass::kMemory}));
  finish(o);
  return o;
}

Observation full_memory_is_waste(const Scope& scope) {
  Observation o = begun(12, scope);
  std::vector<std::pair<std::string, Decision>> found;
  const Sweep* shorter = nullptr;
  for (const Sweep* sweep : scope.sweeps) {
    const SweepPoint* last = sweep->largest();
    if (!last) continue;
    if (!last->peak_bytes || smaller(*sweep, *last).empty()) {
      if (!shorter) shorter = sweep;
      continue;
    }
    o.cases.push_back(memory_case(*sweep, *last));
    found.emplace_back(sweep->workload.model, o.cases.back().passes);
  }
  const size_t witnesses = models_with(found, Decision(true)), all = models_with(found, {});
  const bool open = models_with(found, Decision()) > 0;
  if (witnesses >= kLeastMeasuredModels)
    o.verdict = RuleVerdict::holds;
  else if (all >= kLeastMeasuredModels && !open)
    o.verdict = RuleVerdict::fails;
  o.effect = all == 0 ? "no sweep with a batch of half the largest"
                      : cat("in ", witnesses, " of ", all,
                            " models half the batch or less keeps 95 % of the throughput in 70 % of the "
                            "memory");
  for (const Case& each : o.cases)
    if (each.passes == true) o.effect += cat("; ", each.what, ": ", each.said);
  o.missing = all < kLeastMeasuredModels
                  ? cat("sweeps of at least two models, each with a batch of half the largest or less; "
                        "there are ",
                        all)
                  : "narrower intervals of throughput";
  if (shorter) {
    o.command = command(again(*shorter, beyond(*shorter, 2)));
  } else if (all < kLeastMeasuredModels) {
    o.command = command(fresh(scope, ModelKind::any, kLeastMeasuredModels - all));
  } else {
    for (size_t i = 0; i < o.cases.size(); ++i)
      if (const auto sweep = std::ranges::find(scope.sweeps, o.cases[i].what, &Sweep::label);
          !o.cases[i].passes && sweep != scope.sweeps.end())
        o.command = command(again(**sweep, continued(**sweep, 2))) + " --effort publish";
  }
  finish(o);
  if (o.verdict == RuleVerdict::holds) o.offenders.clear();
  return o;
}

}  // namespace tbd::rules
