// Do outcome and flags agree with the data?
#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/cell.h"
#include "analysis/metric_parts.h"
#include "analysis/verify/raw.h"
#include "base/text.h"

namespace tbd {
namespace {

bool is_clean(const RawLaunch& launch) { return maybe<std::string>(launch.info, "pass") == "clean"; }

// A cell of the loss column that is no finite number.
std::optional<std::string> first_bad_loss(const RawLaunch& launch) {
  const auto column = launch.columns.find("loss");
  if (column == launch.columns.end()) return std::nullopt;
  for (size_t i = 0; i < column->second.size(); ++i)
    if (!column->second[i].empty() && !parse_double(column->second[i]))
      return cat("loss ", column->second[i], " at step ", i + 1);
  return std::nullopt;
}

void check_outcome(const Bench& bench) {
  const std::string told = maybe<std::string>(part(bench.raw.run, "outcome"), "kind").value_or("");
  if (maybe<std::string>(bench.raw.run, "state") == "running")
    return bench.unknown("outcome", "the run's end was never written");
  size_t steps = 0;
  for (const RawLaunch& launch : bench.raw.launches) {
    if (!is_clean(launch)) continue;
    steps += launch.rows;
    const auto bad = first_bad_loss(launch);
    if (bad && told == "ok") return bench.differs("outcome", told, "nonfinite", cat(launch.folder, ": ", *bad));
    const auto ended = maybe<std::string>(part(launch.info, "outcome"), "kind");
    if (ended && *ended != "ok" && told == "ok")
      return bench.differs("outcome", told, *ended, cat(launch.folder, " ended so"));
  }
  const bool other_pass = std::ranges::any_of(bench.raw.launches, [](const RawLaunch& l) { return !is_clean(l); });
  if (told == "ok" && steps == 0 && !other_pass)
    return bench.differs("outcome", told, "failed", "no step was measured");
  bench.ok("outcome");
}

class Flags {
 public:
  explicit Flags(const Bench& bench) : bench_(bench), shown_(judge(bench.run).flags) {}
  void expect(const char* flag, bool carried) const {
    const bool shown = std::ranges::count(shown_, flag) > 0 || told(flag);
    bench_.holds(cat("flag ", flag), shown == (carried || told(flag)), shown ? "carried" : "not carried",
                 carried ? "carried" : "not carried");
  }

 private:
  bool told(const char* flag) const { return std::ranges::count(bench_.record.run.flags, flag) > 0; }
  const Bench& bench_;
  std::vector<std::string> shown_;
};

bool metric_exceeds(const Bench& bench, const char* id, double limit) {
  return metric(id).compute(bench.run).value.value_or(0) > limit;
}

}  // namespace

// Shares themselves are recomputed in check_metrics; here the thresholds are.
void check_marks(const Bench& bench) {
  check_outcome(bench);
  const Flags flags(bench);
  flags.expect("disturbed-steal", metric_exceeds(bench, "steal_share", 0.01));
  flags.expect("disturbed-runqueue", metric_exceeds(bench, "runqueue_share", 0.02) &&
                                         metric("foreign_share").compute(bench.run).value.value_or(1) > 0.02);
  flags.expect("disturbed-other-work", metric_exceeds(bench, "foreign_share", 0.05));
  flags.expect("over-roof", metric_exceeds(bench, "mfu", 1.02));
  flags.expect("roof-beaten", metric_exceeds(bench, "gemm_share", 1));
  flags.expect("peaks-drift", peaks_drift(part(bench.raw.run, "peaks"), bench.run.workload().precision.text()) > 0.03);
  flags.expect("unpinned", maybe<bool>(part(bench.raw.run, "workload"), "unpinned").value_or(false));
  bool cut = false, is_short = false, one = false;
  for (const RawLaunch& launch : bench.raw.launches)
    if (is_clean(launch)) cut |= launch.has_steps && !launch.steps_text.empty() && !launch.steps_text.ends_with('\n');
  for (const LaunchView& launch : bench.run.launches) {
    if (!launch.fault.empty()) continue;
    const StepWork headline = work_of(launch, bench.run.basis);
    if (!(std::accumulate(headline.units.begin(), headline.units.end(), 0.0) > 0)) continue;
    is_short = is_short || headline.times.size() < 100;
    one = one || headline.times.size() == 1;
  }
  flags.expect("cut-line-dropped", cut);
  flags.expect("short", is_short);
  flags.expect("one-step", one);
}

// Every number that the row has against the same one now.
void check_row(const Bench& bench, const Json& row) {
  Json now = to_json(summarize(bench.run));
  for (const auto& [key, value] : row.items()) {
    if (key == "record" || key == "reasons" || !now.contains(key)) continue;
    const std::string check = "row: " + key;
    if (value.is_number() && now[key].is_number())
      bench.same(check, value.get<double>(), now[key].get<double>());
    else
      bench.holds(check, value == now[key], value.dump(), now[key].dump());
  }
}

}  // namespace tbd
