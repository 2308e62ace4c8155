#include "analysis/sweep/sweep.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analysis/evidence.h"
#include "analysis/sweep/parts.h"
#include "record/axes.h"

namespace tbd {
namespace {

void describe(Sweep& sweep, const std::vector<sweep_parts::Candidate>& candidates) {
  std::vector<OpRow> ops;
  for (const sweep_parts::Candidate& each : candidates) {
    const RunInfo& run = each.record->run;
    if (sweep.card.title.empty()) sweep.card = run.card;
    ops.insert(ops.end(), run.ops.begin(), run.ops.end());
  }
  sweep.kind = network_kind(ops, sweep.card.domain);
}

Sweep sweep_of(std::vector<sweep_parts::Candidate> candidates, const SweepOptions& options) {
  std::ranges::stable_sort(candidates, [](const auto& a, const auto& b) {
    const int64_t left = a.record->run.workload.batch, right = b.record->run.workload.batch;
    return left != right ? left < right : better({a.record, &a.cell}, {b.record, &b.cell});
  });
  Sweep sweep;
  for (size_t i = 0; i < candidates.size();) {
    const auto batch = [&](size_t at) { return candidates[at].record->run.workload.batch; };
    size_t end = i + 1;
    for (; end < candidates.size() && batch(end) == batch(i); ++end) sweep.duplicates.push_back(candidates[end].record);
    sweep.points.push_back(sweep_parts::point(std::span(candidates).subspan(i, end - i), options));
    i = end;
  }
  const auto reached = std::ranges::find_if(candidates, [](const auto& c) { return c.reached_worker; });
  const Record& first = *(reached == candidates.end() ? candidates.front() : *reached).record;
  sweep.workload = first.run.workload;
  sweep.machine = machine_of(first);
  describe(sweep, candidates);
  return sweep;
}

bool comes_first(const Sweep& a, const Sweep& b) {
  MeasuredWorkload same_batch = b.workload;
  same_batch.batch = a.workload.batch;
  const int order = compare_by({"model", "config", "framework", "precision", "device", "input_mode",
                                "framework_version", "mode", "layout", "threads"},
                               a.workload, same_batch);
  return order != 0 ? order < 0 : a.machine < b.machine;
}

// The smallest batch from which on all points up to the best reach the share of its X.
int64_t reached(std::span<const SweepPoint* const> up_to_best, double share, double (*x)(const Measured&)) {
  const double wanted = share * *up_to_best.back()->throughput().value;
  int64_t batch = up_to_best.back()->batch;
  for (auto point = up_to_best.rbegin(); point != up_to_best.rend() && x((*point)->throughput()) >= wanted; ++point)
    batch = (*point)->batch;
  return batch;
}

double value(const Measured& m) { return *m.value; }
double lower(const Measured& m) { return m.low.value_or(*m.value); }
double high_end(const Measured& m) { return m.high.value_or(*m.value); }

// Axes that are named by those who ask, or stand in the list below. Others follow that list.
constexpr std::string_view kPlaced[] = {"model", "config", "precision", "device",  "batch",   "framework",
                                        "mode",  "input",  "layout",    "threads", "dropout", "memory"};

std::vector<std::string> axis_values(const Sweep& sweep) {
  const MeasuredWorkload& w = sweep.workload;
  std::vector<std::string> values = {
      w.mode.text(),
      w.input_mode.text(),
      w.framework_version,
      w.layout.text(),
      find_axis("threads")->label.around(cat(w.threads)),
      w.optimizer,
      w.dropout.text(),
      w.synchronisation,
      w.effort,
      w.memory_budget_bytes ? cat("budget ", format_bytes(*w.memory_budget_bytes)) : std::string()};
  for (const Axis& axis : axes())
    if (axis.tells_apart && !axis.key.empty() && !std::ranges::count(kPlaced, axis.name))
      values.push_back(axis.label.around(axis.value(w)));
  return values;
}

void tell_apart(std::vector<Sweep>& sweeps) {
  std::map<std::string, std::vector<Sweep*>> of_machine;
  for (Sweep& sweep : sweeps) of_machine[sweep.machine].push_back(&sweep);
  for (const auto& [machine, own] : of_machine) {
    std::vector<std::string> labels;
    for (const Sweep* sweep : own) labels.push_back(sweep->label());
    const std::vector<std::string> names = told_apart(std::vector<const Sweep*>(own.begin(), own.end()), labels);
    for (size_t i = 0; i < own.size(); ++i) own[i]->apart = names[i].substr(labels[i].size());
  }
}

}  // namespace

bool ended_for_memory(const Outcome& outcome) {
  if (outcome.kind == OutcomeKind::oom) return true;
  return outcome.kind == OutcomeKind::skipped && outcome.reason.find("memory") != std::string::npos;
}

std::string budget_text(int64_t bytes, const char* gap) {
  constexpr int64_t kMiB = int64_t{1} << 20;
  if (bytes % kMiB != 0) return cat(bytes, gap, "B");
  return bytes % (256 * kMiB) == 0 ? cat(static_cast<double>(bytes) / static_cast<double>(1024 * kMiB), gap, "GiB")
                                   : cat(bytes / kMiB, gap, "MiB");
}

bool SweepPoint::ran() const {
  const Measured& x = throughput();
  return x.value && std::isfinite(*x.value) && !ended_for_memory(cell.judgement.outcome);
}

const SweepPoint* Sweep::largest() const {
  const SweepPoint* found = nullptr;
  for (const SweepPoint& point : points)
    if (point.ran()) found = &point;
  return found;
}

bool Sweep::memory_limited() const {
  const SweepPoint* last = largest();
  if (!last || last == &points.back()) return false;
  return ended_for_memory((last + 1)->cell.judgement.outcome);
}

std::string Sweep::memory_limit_label() const {
  if (!memory_limited()) return "";
  return workload.memory_budget_bytes ? cat("memory-limited, budget ", budget_text(*workload.memory_budget_bytes))
                                      : "memory-limited";
}

std::string Sweep::label() const {
  const MeasuredWorkload& w = workload;
  std::string out =
      w.config.empty() || w.config == "default" || w.config == "canonical" ? w.model : cat(w.model, " ", w.config);
  out += cat(" ", w.framework, " ", w.precision);
  if (w.mode != Mode::kEager && w.mode != Mode::kGraph && !w.mode.empty()) out += cat(" ", w.mode);
  if (w.device != Device::kCpu) out += cat(" ", w.device);
  if (w.input_mode != InputMode::kResident) out += cat(" ", w.input_mode);
  return out + apart;
}

std::vector<std::string> told_apart(std::span<const Sweep* const> sweeps, std::vector<std::string> names,
                                    size_t always) {
  std::vector<std::vector<std::string>> axes;  // by sweep
  for (const Sweep* sweep : sweeps) axes.push_back(axis_values(*sweep));
  for (size_t axis = 0; !axes.empty() && axis < axes.front().size(); ++axis) {
    std::map<std::string, std::set<std::string>> values;  // by the names so far, or of all
    const auto key = [&](size_t i) { return axis < always ? std::string() : names[i]; };
    for (size_t i = 0; i < axes.size(); ++i) values[key(i)].insert(axes[i][axis]);
    std::vector<std::string> longer = names;
    for (size_t i = 0; i < axes.size(); ++i)
      if (values[key(i)].size() > 1 && !axes[i][axis].empty()) longer[i] += cat(" ", axes[i][axis]);
    names = std::move(longer);
  }
  return names;
}

std::vector<Sweep> sweeps(std::span<const Record> records, const SweepOptions& options) {
  std::vector<Sweep> all;
  for (std::vector<sweep_parts::Candidate>& series : sweep_parts::series(records))
    all.push_back(sweep_of(std::move(series), options));
  std::ranges::stable_sort(all, comes_first);
  tell_apart(all);
  return all;
}

std::optional<Knee> knee(const Sweep& sweep, double share) {
  std::vector<const SweepPoint*> points;
  for (const SweepPoint& point : sweep.points)
    if (point.ran()) points.push_back(&point);
  if (points.size() < 3) return std::nullopt;
  const auto best = std::ranges::max_element(points, {}, [](const SweepPoint* p) { return *p->throughput().value; });
  const std::span up_to_best(points.begin(), best + 1);
  const int64_t batch = reached(up_to_best, share, value);
  return Knee{.batch = batch,
              .low = std::min(batch, reached(up_to_best, share, high_end)),
              .high = std::max(batch, reached(up_to_best, share, lower))};
}

}  // namespace tbd
