// Rule 10: a faster device gains less than its peak promises, and is used less well.
#include <algorithm>
#include <tuple>

#include "analysis/observations/scope.h"
#include "analysis/observations/suggest.h"
#include "base/text.h"

namespace tbd::rules {
namespace {

std::optional<double> isa_peak(const SweepPoint& point) {
  const Roofs roofs = Roofs::of(point.record->run);
  const auto found = roofs.isa.find(point.cell.workload.precision.text());
  return found == roofs.isa.end() ? std::nullopt : std::optional(found->second);
}

bool same_cells(const Sweep& a, const Sweep& b) {
  const auto identity = [](const MeasuredWorkload& w) {
    return std::tie(w.model, w.config, w.model_hash, w.framework, w.mode, w.precision);
  };
  return identity(a.workload) == identity(b.workload);
}

struct Pair {
  const SweepPoint *fast = nullptr, *slow = nullptr;
  double peaks = 0;  // ratio of the ISA roofs, above 1
};

// At the largest batch that ran on both.
std::optional<Pair> paired(const Sweep& a, const Sweep& b) {
  std::optional<Pair> out;
  for (const SweepPoint* left : ran(a))
    for (const SweepPoint* right : ran(b)) {
      if (left->batch != right->batch) continue;
      const std::optional<double> of_left = isa_peak(*left), of_right = isa_peak(*right);
      if (!of_left || !of_right || *of_left == *of_right) continue;
      out = *of_left > *of_right ? Pair{left, right, *of_left / *of_right} : Pair{right, left, *of_right / *of_left};
    }
  return out;
}

Case device_case(const Sweep& sweep, const Pair& pair) {
  const Ranged x = speed(*pair.fast, *pair.slow);
  const auto share = [&](Measured SweepPoint::*value) {
    return ranged(quotient(ranged(pair.fast->*value), ranged(pair.slow->*value)));
  };
  const Ranged u = share(&SweepPoint::compute_utilization), f = share(&SweepPoint::flop_active);
  return {.what = sweep.label(),
          .passes = both(below(x, pair.peaks), either(below(u, 1), below(f, 1))),
          .said = cat("X × ", text(x), ", peak × ", significant(pair.peaks), ", U × ", text(u), ", F × ", text(f),
                      " at batch ", pair.fast->batch),
          .numbers = {number("throughput_ratio", x), number("peak_ratio", exactly(pair.peaks)),
                      number("compute_utilization_ratio", u), number("flop_utilization_ratio", f)},
          .records = hashes({pair.slow, pair.fast}),
          .narrowed_by = {Pass::kClean, Pass::kTrace}};
}

// Holds already where two thirds of the decided cases pass.
RuleVerdict by_thirds(const std::vector<Case>& cases) {
  const RuleVerdict verdict = by_cases(cases, 2, kTwoThirds);
  return verdict == RuleVerdict::mostly ? RuleVerdict::holds : verdict;
}

}  // namespace

Observation faster_device_used_less(std::span<const Scope> devices) {
  Observation o = begun(10, devices.front());
  if (devices.size() < 2) {
    o.verdict = RuleVerdict::not_applicable;
    o.effect = "all workloads ran on one device";
    return o;
  }
  std::vector<std::string> names;
  for (const Scope& device : devices)
    names.push_back(device.device == Device::kCpu ? device.machine : cat(device.device, " of ", device.machine));
  const bool processors =
      std::ranges::all_of(devices, [](const Scope& device) { return device.device == Device::kCpu; });
  o.label = cat(processors ? "CPU: " : "", join(names, " against "));
  o.machine = join(names, " | ");
  for (size_t a = 0; a < devices.size(); ++a)
    for (size_t b = a + 1; b < devices.size(); ++b)
      for (const Sweep* left : devices[a].sweeps)
        for (const Sweep* right : devices[b].sweeps)
          if (const auto pair = same_cells(*left, *right) ? paired(*left, *right) : std::nullopt)
            o.cases.push_back(device_case(*left, *pair));
  o.verdict = by_thirds(o.cases);
  o.effect = o.cases.empty() ? "no traced workload with a measured peak ran on two devices of different speed"
                             : cat("the faster device gains less than its peak and is used less in ",
                                   text(tally(o.cases), "series"));
  o.missing = "two models or more, traced and with measured peaks, on both devices at the same batch";
  const Scope& last = devices.back();
  o.command = command(fresh(last, ModelKind::any, 2, {Pass::kClean, Pass::kTrace}));
  for (const Sweep* left : devices.front().sweeps) {
    const bool twin = std::ranges::any_of(last.sweeps, [&](const Sweep* s) { return same_cells(*left, *s); });
    if (twin || !left->largest()) continue;
    Suggestion more = again(*left, {left->largest()->batch}, {Pass::kClean, Pass::kTrace});
    more.workload.device = last.device;
    o.command = command(more);
    break;
  }
  finish(o);
  return o;
}

}  // namespace tbd::rules
