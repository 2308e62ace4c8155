#include "analysis/observations/scope.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.h"

namespace tbd::rules {
namespace {

constexpr std::string_view kReference = "pytorch";

enum class Left { no, smoke, differs, unchecked };

// max(2 %, 2 x CV between launches) of neighbours that `counts`.
template <class Counts>
double most_apart(const Sweep& sweep, Counts counts) {
  double most = kLeastEpsilon;
  const std::vector<const SweepPoint*> points = ran(sweep);
  for (size_t i = 1; i < points.size(); ++i) {
    if (!counts(*points[i - 1], *points[i])) continue;
    const std::optional<Comparison> both = compare_points(*points[i - 1], *points[i]);
    if (both) most = std::max(most, 2 * both->ratio.sd.value_or(0));
  }
  return most;
}

bool checked(const Sweep& sweep) {
  return std::ranges::all_of(ran(sweep), [](const SweepPoint* p) { return p->cell.verified == true; });
}

Left left_out(const Sweep& sweep, bool has_rivals) {
  if (sweep.workload.effort == "smoke") return Left::smoke;
  const auto points = ran(sweep);
  if (std::ranges::any_of(points, [](const SweepPoint* p) { return p->cell.verified == false; })) return Left::differs;
  return has_rivals && sweep.workload.framework != kReference && !checked(sweep) ? Left::unchecked : Left::no;
}

void leave_out(Scope& scope) {
  std::set<std::string> frameworks;
  for (const Sweep* sweep : scope.sweeps) frameworks.insert(sweep->workload.framework);
  size_t counts[4] = {};
  std::erase_if(scope.sweeps, [&](const Sweep* sweep) {
    const Left why = left_out(*sweep, frameworks.size() > 1);
    counts[static_cast<size_t>(why)] += sweep->points.size();
    return why != Left::no;
  });
  const auto several =
      std::ranges::stable_partition(scope.sweeps, [](const Sweep* sweep) { return sweep->workload.workers == 1; });
  scope.together.assign(several.begin(), several.end());
  scope.sweeps.erase(several.begin(), several.end());
  int64_t disturbed = 0;
  for (const Sweep* sweep : scope.sweeps) disturbed += std::ranges::count(sweep->points, false, &SweepPoint::bounded);
  if (disturbed > 0)
    scope.notes.push_back(
        cat(disturbed, disturbed == 1 ? " workload" : " workloads", " left out: other work disturbed them"));
  const auto say = [&](Left why, const char* what) {
    const size_t n = counts[static_cast<size_t>(why)];
    if (n > 0) scope.notes.push_back(cat(n, n == 1 ? " workload" : " workloads", what));
  };
  say(Left::smoke, " of effort smoke left out: they show that something runs, not how fast");
  say(Left::differs, " left out: not the same network as the reference's (tbd check names the node)");
  say(Left::unchecked, " left out: never checked against the reference (tbd check)");
}

}  // namespace

std::vector<Scope> scopes(std::span<const Sweep> sweeps) {
  std::vector<Scope> all;
  std::set<std::string> machines;
  for (const Sweep& sweep : sweeps) {
    const MeasuredWorkload& w = sweep.workload;
    machines.insert(sweep.machine);
    auto found = std::ranges::find_if(all, [&](const Scope& s) {
      return s.machine == sweep.machine && s.device == w.device && s.input_mode == w.input_mode;
    });
    if (found == all.end())
      found = all.insert(all.end(), Scope{.machine = sweep.machine,
                                          .device = w.device,
                                          .input_mode = w.input_mode,
                                          .sweeps = {},
                                          .notes = {},
                                          .label = {}});
    found->sweeps.push_back(&sweep);
  }
  for (Scope& scope : all) {
    std::vector<std::string> parts;
    if (machines.size() > 1) parts.push_back(scope.machine);
    parts.push_back(scope.device == Device::kCpu ? "CPU" : scope.device.text());
    if (scope.input_mode != InputMode::kResident) parts.push_back(cat(scope.input_mode, " input"));
    scope.label = join(parts, ", ");
    leave_out(scope);
  }
  return all;
}

std::vector<const SweepPoint*> ran(const Sweep& sweep) {
  std::vector<const SweepPoint*> out;
  for (const SweepPoint& point : sweep.points)
    if (point.ran() && point.bounded) out.push_back(&point);
  return out;
}

double epsilon(const Sweep& sweep) {
  return most_apart(sweep, [](const SweepPoint&, const SweepPoint&) { return true; });
}

double quiet_epsilon(const Sweep& sweep) {
  return most_apart(sweep,
                    [](const SweepPoint& a, const SweepPoint& b) { return unlike_evidence(a.cell, b.cell).empty(); });
}

std::vector<const SweepPoint*> with(const Sweep& sweep, Measured SweepPoint::*value) {
  std::vector<const SweepPoint*> out;
  for (const SweepPoint& point : sweep.points)
    if ((point.*value).value && point.bounded) out.push_back(&point);
  return out;
}

const SweepPoint* best(const std::vector<const SweepPoint*>& points, Measured SweepPoint::*value) {
  const auto found = std::ranges::max_element(points, {}, [&](const SweepPoint* p) { return *(p->*value).value; });
  return found == points.end() ? nullptr : *found;
}

const SweepPoint* fastest(const Sweep& sweep) {
  const auto points = ran(sweep);
  const auto found = std::ranges::max_element(points, {}, [](const SweepPoint* p) { return *p->throughput().value; });
  return found == points.end() ? nullptr : *found;
}

std::optional<Comparison> compare_points(const SweepPoint& a, const SweepPoint& b) {
  std::optional<Comparison> of_launches = compare_launches(a.cell, b.cell);
  const bool few =
      of_launches && of_launches->ratio.paired && of_launches->ratio.launches_a < static_cast<int64_t>(kFewestPairs);
  const std::vector<double>&quiet_a = a.cell.timed.rates, &quiet_b = b.cell.timed.rates;
  const auto fewest = static_cast<size_t>(kFewestLaunches);
  if (few && a.bounded && b.bounded && std::min(quiet_a.size(), quiet_b.size()) >= fewest)
    return compare(quiet_a, quiet_b);
  return of_launches;
}

Ranged speed(const SweepPoint& a, const SweepPoint& b) {
  const std::optional<Comparison> launches = compare_points(a, b);
  Ranged ratio = ranged(speed_ratio(a.cell, b.cell, launches));
  if (!(launches && launches->ratio.paired) && !(a.bounded && b.bounded)) ratio.low = ratio.high = std::nullopt;
  return ratio;
}

std::optional<Ranged> flops_in_turns(const SweepPoint& a, const SweepPoint& b) {
  const std::optional<Comparison> launches = compare_points(a, b);
  if (!launches || !launches->ratio.paired || unlike_evidence(a.cell, b.cell).empty()) return std::nullopt;
  const Ranged use = ranged(quotient(ranged(a.compute_utilization), ranged(b.compute_utilization)));
  Ranged ratio = ranged(quotient(speed(a, b), use));
  if (!ratio.value || !a.flops_per_unit || !b.flops_per_unit || *b.flops_per_unit == 0) return std::nullopt;
  for (std::optional<double>* each : {&ratio.value, &ratio.low, &ratio.high})
    if (*each) **each *= *a.flops_per_unit / *b.flops_per_unit;
  return ratio;
}

std::vector<Pass> narrowed_by(const Figure& figure) {
  return figure.in_turns ? std::vector{Pass::kClean, Pass::kTrace} : std::vector{Pass::kTrace};
}

std::vector<std::string> hashes(const std::vector<const SweepPoint*>& points) {
  std::vector<std::string> out;
  for (const SweepPoint* point : points) out.push_back(point->cell.record_hash);
  return out;
}

std::string stack(const Sweep& sweep) {
  const MeasuredWorkload& w = sweep.workload;
  return cat(w.framework, " ", w.framework_version, " ", w.mode, " ", w.precision);
}

size_t models(const std::vector<const Sweep*>& sweeps) {
  std::set<std::string> names;
  for (const Sweep* sweep : sweeps) names.insert(sweep->workload.model);
  return names.size();
}

Observation begun(int number, const Scope& scope) {
  Observation o;
  o.number = number;
  o.claim = claim_of(number);
  o.label = scope.label;
  o.machine = scope.machine;
  o.device = scope.device;
  o.input_mode = scope.input_mode;
  o.notes = scope.notes;
  return o;
}

void finish(Observation& o) {
  for (const Case& each : o.cases)
    if (each.passes == false) o.offenders.push_back(each.what);
  if (o.verdict != RuleVerdict::inconclusive) {
    o.missing.clear();
    o.command.clear();
  }
}

}  // namespace tbd::rules
