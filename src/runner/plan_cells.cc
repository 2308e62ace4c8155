// The cells that axes make.
#include <algorithm>

#include "graph/passes.h"
#include "measure/cores.h"
#include "models/model.h"
#include "record/axes.h"
#include "record/frameworks.h"
#include "runner/device_memory.h"
#include "runner/plan.h"
#include "runner/plan_parts.h"

namespace tbd {
namespace {

constexpr int64_t kLargestBatch = 1 << 20;
constexpr int64_t kMostThreads = 4096;
constexpr size_t kMostCells = 100'000;

// Throws Error(usage) on what no workload can have.
void check(const Workload& workload) {
  const int64_t batch = workload.batch;
  const int64_t threads = workload.threads;
  if (batch == kLargestThatFits && !workload.memory_budget_bytes)
    fail(ErrorKind::usage, "the largest batch needs a memory budget: set one (memory = 4GiB)");
  if (batch > kLargestBatch) fail(ErrorKind::usage, "batch must be between 1 and ", kLargestBatch, ", got ", batch);
  if (threads > kMostThreads) fail(ErrorKind::usage, "threads must be between 1 and ", kMostThreads, ", got ", threads);
  if (workload.input_mode == InputMode::kPipeline && workload.data.empty())
    fail(ErrorKind::usage, "pipeline input reads a data set: name its folder with --data");
}

std::vector<int64_t> sweep_of(const std::string& model, int64_t most) {
  if (!plan_parts::own_model(model) && (model.ends_with(".json") || model.find('/') != std::string::npos))
    fail(ErrorKind::usage, "a program file defines no sweep: list its batches");
  std::vector<int64_t> batches = find_model(model).sweep;
  if (most > 0) std::erase_if(batches, [&](int64_t batch) { return batch > most; });
  if (batches.empty()) fail(ErrorKind::usage, "the sweep of ", model, " has no batch of at most ", most);
  return batches;
}

// The values of an axis for one workload, which may be its model's sweep.
std::vector<std::string> values_for(const Workload& workload, const Axis& axis,
                                    const std::vector<std::string>& values) {
  const std::optional<int64_t> most = axis.name == "batch" ? sweep_from(values) : std::nullopt;
  if (!most) return values;
  std::vector<std::string> batches;
  for (const int64_t batch : sweep_of(workload.model, *most)) batches.push_back(cat(batch));
  return batches;
}

// Replaces each workload by one for each value.
void multiply(std::vector<Workload>& all, const Axis& axis, const std::vector<std::string>& values) {
  if (values.empty()) return;
  if (all.size() > kMostCells / values.size())
    fail(ErrorKind::usage, "a set makes more than ", kMostCells, " workloads: shorten its lists");
  const auto has_default = [&](const Workload& each) {
    return (axis.of_several && each.workers == 1) || (axis.of_pipeline && each.input_mode != InputMode::kPipeline);
  };
  if (std::ranges::all_of(all, has_default))
    fail(ErrorKind::usage, axis.name,
         axis.of_several ? " says how several workers train together: ask for them (workers = 2)"
                         : " says how batches of pipeline input are prepared: ask for it (input = pipeline)");
  std::vector<Workload> out;
  for (const Workload& each : all)
    if (has_default(each))
      out.push_back(each);
    else
      for (const std::string& value : values_for(each, axis, values))
        axis.parse(out.emplace_back(each), value, axis.name);
  all = std::move(out);
}

std::string base_of(const std::string& framework) { return framework.substr(0, framework.find('@')); }

}  // namespace

const std::vector<std::string>& WorkloadSet::values(std::string_view axis) const {
  static const std::vector<std::string> none;
  const auto found = lists.find(axis);
  return found == lists.end() ? none : found->second;
}

std::vector<Workload> cells(const WorkloadSet& set) {
  if (set.values("model").empty()) fail(ErrorKind::usage, "a set of workloads names no model");
  std::vector<const Axis*> outer_first;
  for (const Axis& axis : axes()) outer_first.push_back(&axis);
  std::ranges::stable_sort(outer_first, {}, &Axis::inner);
  std::vector<Workload> all(1);
  for (const Axis* axis : outer_first) multiply(all, *axis, set.values(axis->name));
  for (const Workload& each : all) check(each);
  if (set.values("device").empty())
    for (Workload& each : all) each.device = {};  // left open
  return all;
}

bool excluded(const Workload& cell, const WorkloadSet& exclude) {
  const Model* model = plan_parts::own_model(cell.model);
  const KnownFramework* framework = find_framework(base_of(cell.framework));
  Workload whole = cell;
  if (cell.config.empty() && model) whole.config = model->configs.front().name;
  if (cell.layout.empty() && framework) whole.layout = usual_layout(framework->name);
  if (cell.batch == 0) whole.batch = default_batch(model ? model->sweep : std::vector<int64_t>{});
  return std::ranges::all_of(exclude.lists, [&](const auto& list) {
    const auto& [name, values] = list;
    const bool of_any_build = name == "framework" && std::ranges::count(values, base_of(cell.framework)) > 0;
    return of_any_build || std::ranges::count(values, find_axis(name)->value(whole)) > 0;
  });
}

std::vector<Workload> cells(const Plan& plan) {
  std::vector<Workload> all;
  for (const WorkloadSet& set : plan.sets)
    for (Workload& cell : cells(set)) {
      const bool out =
          std::ranges::any_of(plan.excludes, [&](const WorkloadSet& each) { return excluded(cell, each); });
      if (!out && std::ranges::find(all, cell) == all.end()) all.push_back(std::move(cell));
    }
  return all;
}

Machine this_machine() {
  return {.cores = std::max<int64_t>(1, static_cast<int64_t>(usable_cores())), .memory = memory_limit()};
}

Plan plan_for(Plan plan, const Machine& machine) {
  const auto fails = [&](const WorkloadSet& set) {
    const bool any_memory = set.when.memory == Bounds{};
    return !set.when.cores.holds(machine.cores) ||
           (!any_memory && (!machine.memory || !set.when.memory.holds(*machine.memory)));
  };
  std::erase_if(plan.sets, fails);
  if (plan.sets.empty())
    fail(ErrorKind::usage, "no set of the plan is for this machine: it has ", machine.cores,
         machine.cores == 1 ? " core" : " cores", " and ",
         machine.memory ? format_bytes(*machine.memory) : "unknown memory");
  for (WorkloadSet& set : plan.sets) set.when = {};
  return plan;
}

}  // namespace tbd
