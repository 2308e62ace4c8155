#include "analysis/gap/framework_gap.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "analysis/gap/split.h"
#include "analysis/sweep/sweep.h"
#include "base/error.h"
#include "stats/effort.h"

namespace tbd {
namespace {

auto compared_axes(const Record& record) {
  const MeasuredWorkload& w = record.run.workload;
  return std::tuple(w.model, w.config, w.model_hash, w.device, w.threads, w.workers, w.link, w.precision, w.input_mode,
                    w.batch, w.samples_per_step, machine_of(record));
}

std::string with_trace(const Record& record) {
  const MeasuredWorkload& w = record.run.workload;
  const std::string repro = w.repro.empty() ? cat("tbd run ", w.model, " --framework ", w.framework) : w.repro;
  return repro.find("--passes") == std::string::npos ? cat(repro, " --passes clean,trace") : repro;
}

std::optional<StepSplit> split_of(const GapCell& cell, std::vector<GapMissing>& missing) {
  std::string why = "no traced launch";
  try {
    if (std::optional<StepSplit> split = split_steps(*cell.record)) return split;
  } catch (const Error& error) {
    why = error.what();
  }
  missing.push_back({cell.record, cat(why, "; measure it: ", with_trace(*cell.record))});
  return std::nullopt;
}

// Sides of the parts of one step, in integer ns; what division leaves over belongs to the residual.
using PartKey = std::pair<std::string, std::string>;  // name, direction

class Parts {
 public:
  void add(const StepSplit& split, int64_t step_ns, bool slow) {
    int64_t rest = step_ns;
    const auto put = [&](GapPart& part, int64_t ns) {
      const int64_t a_step = ns / split.steps;
      (slow ? part.slow_ns : part.fast_ns) += a_step;
      rest -= a_step;
    };
    for (const NodeShare& node : split.nodes) {
      GapPart& part = nodes_[{node.node, node.direction}];
      part.name = node.node;
      part.direction = node.direction;
      (slow ? part.slow_kernel : part.fast_kernel) = node.kernel;
      put(part, node.ns);
    }
    for (size_t i = 0; i < kIdleCauses; ++i) {
      idle_[i].kind = GapPart::Kind::idle;
      idle_[i].name = std::string(name(static_cast<IdleCause>(i)));
      put(idle_[i], split.idle[i]);
    }
    (slow ? residual_.slow_ns : residual_.fast_ns) = rest;
  }

  std::vector<GapPart> sorted() const {
    std::vector<GapPart> parts;
    for (const auto& [key, part] : nodes_) parts.push_back(part);
    std::ranges::stable_sort(parts, std::greater{}, &GapPart::difference);
    for (const GapPart& part : idle_)
      if (part.slow_ns != 0 || part.fast_ns != 0) parts.push_back(part);
    parts.push_back(residual_);
    return parts;
  }

 private:
  std::map<PartKey, GapPart> nodes_;
  std::array<GapPart, kIdleCauses> idle_;
  GapPart residual_{.kind = GapPart::Kind::residual, .name = "residual"};
};

// Of each framework the shortest step, the fastest first.
std::vector<const GapCell*> rivals(const std::vector<const GapCell*>& cells) {
  std::map<std::string, const GapCell*> best;
  for (const GapCell* cell : cells) {
    const GapCell*& own = best[cell->record->run.workload.framework];
    if (cell->fault.empty() && (!own || cell->step_ns < own->step_ns)) own = cell;
  }
  std::vector<const GapCell*> found;
  for (const auto& [framework, cell] : best)
    if (cell) found.push_back(cell);
  std::ranges::stable_sort(found, {}, &GapCell::step_ns);
  return found;
}

bool differ_in_framework(const std::vector<const GapCell*>& cells) {
  return std::ranges::any_of(cells, [&](const GapCell* cell) {
    return cell->record->run.workload.framework != cells.front()->record->run.workload.framework;
  });
}

void explain(const std::vector<const GapCell*>& cells, FrameworkGaps& result) {
  for (const GapCell* cell : cells)
    if (!cell->fault.empty()) result.missing.push_back({cell->record, cell->fault});
  const std::vector<const GapCell*> found = rivals(cells);
  if (found.size() < 2) return;
  std::vector<std::pair<const GapCell*, StepSplit>> split;
  for (const GapCell* cell : found)
    if (std::optional<StepSplit> own = split_of(*cell, result.missing)) split.emplace_back(cell, std::move(*own));
  for (size_t i = 1; i < split.size(); ++i) {
    const auto& [fast, fast_split] = split.front();
    const auto& [slow, slow_split] = split[i];
    Parts parts;
    parts.add(slow_split, slow->step_ns, true);
    parts.add(fast_split, fast->step_ns, false);
    result.gaps.push_back({slow->record, fast->record, slow->step_ns, fast->step_ns, parts.sorted()});
  }
}

int64_t headline_step_ns(const RunView& run) {
  const StepTotals headline = headline_steps(run);
  return std::llround(1e9 * headline.seconds / static_cast<double>(std::max<int64_t>(1, headline.steps)));
}

}  // namespace

GapCell gap_cell(const RunView& run, const CellResult& result) {
  GapCell cell{.record = run.record};
  const Outcome& outcome = result.judgement.outcome;
  const Measured& throughput = result["throughput"];
  if (outcome.kind != OutcomeKind::ok)
    cell.fault = cat(name(outcome.kind), ": ", outcome.reason);
  else if (!throughput.value || run.stable_steps() == 0)
    cell.fault = throughput.reason.empty() ? "no clean step time" : throughput.reason;
  else if (result.judgement.grade == name(Grade::disturbed))
    cell.fault = cat("disturbed: ", result.judgement.grade_reason);
  else if (run.smoke())
    cell.fault = "effort smoke shows that it runs, not how fast";
  else if (!result.verified)
    cell.fault = cat("never checked against the reference: tbd check ", run.workload().model);
  else if (!*result.verified)
    cell.fault = cat("does not train the same network: tbd check ", run.workload().model, " names the node");
  else
    cell.step_ns = headline_step_ns(run);
  return cell;
}

FrameworkGaps framework_gaps(std::span<const GapCell> cells) {
  std::map<decltype(compared_axes(*cells.front().record)), std::vector<const GapCell*>> groups;
  for (const GapCell& cell : cells) groups[compared_axes(*cell.record)].push_back(&cell);
  FrameworkGaps result;
  for (const auto& [key, group] : groups)
    if (differ_in_framework(group)) explain(group, result);
  return result;
}

}  // namespace tbd
