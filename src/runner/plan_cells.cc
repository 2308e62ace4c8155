// The cells that axes make.
#include <algorithm>

#include "graph/passes.h"
#include "measure/cores.h"
#include "models/model.h"
#include "runner/frameworks.h"
#include "runner/plan.h"
#include "runner/plan_parts.h"
#include "runner/prepare.h"

namespace tbd {
namespace {

constexpr int64_t kLargestBatch = 1 << 20;
constexpr size_t kMostCells = 100'000;

void require_known(std::string_view what, const std::string& value, const std::vector<std::string>& known) {
  if (std::ranges::find(known, value) == known.end()) fail(ErrorKind::usage, unknown_name(what, value, known));
}

void require_device(const std::string& device) {
  const bool gpu = device.starts_with("cuda:") && parse_int(device.substr(5)).value_or(-1) >= 0;
  if (device != "cpu" && !gpu) fail(ErrorKind::usage, "device '", device, "' is neither 'cpu' nor 'cuda:N'");
}

// Throws Error(usage) on a value that no cell can have.
void check(const Cell& cell) {
  require_value("precision", cell.precision), require_value("dropout", cell.dropout);
  require_value("device", cell.device), require_value("input", cell.input_mode);
  if (!cell.layout.empty()) require_value("layout", cell.layout);
  if (!cell.mode.empty()) require_value("mode", cell.mode);
  if (cell.input_mode == "pipeline" && cell.data.empty())
    fail(ErrorKind::usage, "pipeline input reads a data set: name its folder with --data");
}

template <class T>
std::vector<T> or_default(const std::vector<T>& values, const T& otherwise) {
  return values.empty() ? std::vector<T>{otherwise} : values;
}

// Replaces each cell by one for each value.
template <class T>
void multiply(std::vector<Cell>& cells, T Cell::*field, const std::vector<T>& values) {
  if (cells.size() > kMostCells / values.size())
    fail(ErrorKind::usage, "a set makes more than ", kMostCells, " cells; the lists are too long");
  std::vector<Cell> out;
  for (const Cell& cell : cells)
    for (const T& value : values) (out.emplace_back(cell).*field) = value;
  cells = std::move(out);
}

void check_counts(const Axes& axes) {
  for (const int64_t batch : axes.batches)
    if (batch == kLargestThatFits && axes.memory_budget <= 0)
      fail(ErrorKind::usage, "the largest batch is looked for within a memory budget: name one (memory = 4GiB)");
    else if (batch != kLargestThatFits && (batch < 1 || batch > kLargestBatch))
      fail(ErrorKind::usage, "batch must be between 1 and ", kLargestBatch, ", got ", batch);
  for (const int64_t threads : axes.threads)
    if (threads < 1 || threads > 4096) fail(ErrorKind::usage, "threads must be between 1 and 4096, got ", threads);
}

std::vector<int64_t> sweep_of(const std::string& model, int64_t most) {
  if (!plan_parts::own_model(model) && (model.ends_with(".json") || model.find('/') != std::string::npos))
    fail(ErrorKind::usage, "a program file has no sweep of its own: name its batches");
  std::vector<int64_t> batches = find_model(model).sweep;
  if (most > 0) std::erase_if(batches, [&](int64_t batch) { return batch > most; });
  if (batches.empty()) fail(ErrorKind::usage, "the sweep of ", model, " has no batch up to ", most);
  return batches;
}

// Each model's sweep, beside the axes outside of it.
void multiply_sweep(std::vector<Cell>& cells, int64_t most) {
  std::vector<Cell> out;
  for (const Cell& cell : cells)
    for (const int64_t batch : sweep_of(cell.model, most)) (out.emplace_back(cell)).batch = batch;
  cells = std::move(out);
}

template <class T>
bool lacks(const std::vector<T>& list, const T& value) {
  return !list.empty() && std::ranges::find(list, value) == list.end();
}

std::string base_of(const std::string& framework) { return framework.substr(0, framework.find('@')); }

}  // namespace

void require_value(std::string_view setting, const std::string& value) {
  if (setting == "precision") (void)precision_from(value);
  if (setting == "dropout") (void)dropout_from(value);
  if (setting == "device") require_device(value);
  if (setting == "input") require_known("input mode", value, {"resident", "pipeline"});
  if (setting == "layout") require_known("layout", value, {"nchw", "nhwc"});
  if (setting == "mode") require_known("mode", value, {"eager", "eager-onednn", "graph", "xla"});
  if (setting == "passes") require_known("pass", value, {"clean", "trace", "memory"});
}

std::vector<Cell> cells(const Axes& axes) {
  check_counts(axes);
  if (axes.models.empty()) fail(ErrorKind::usage, "a set of cells needs a model");
  const Cell fallback;
  std::vector<Cell> all(1);
  all[0].data = axes.data, all[0].seed = axes.seed, all[0].memory_budget = axes.memory_budget;
  multiply(all, &Cell::model, axes.models);
  multiply(all, &Cell::config, or_default(axes.configs, fallback.config));
  multiply(all, &Cell::framework, or_default(axes.frameworks, fallback.framework));
  multiply(all, &Cell::device, or_default(axes.devices, fallback.device));
  multiply(all, &Cell::threads, or_default(axes.threads, fallback.threads));
  multiply(all, &Cell::layout, or_default(axes.layouts, fallback.layout));
  multiply(all, &Cell::mode, or_default(axes.modes, fallback.mode));
  multiply(all, &Cell::dropout, or_default(axes.dropouts, fallback.dropout));
  multiply(all, &Cell::precision, or_default(axes.precisions, fallback.precision));
  if (axes.sweep_to)
    multiply_sweep(all, *axes.sweep_to);
  else
    multiply(all, &Cell::batch, or_default(axes.batches, fallback.batch));
  multiply(all, &Cell::input_mode, or_default(axes.input_modes, fallback.input_mode));
  for (const Cell& cell : all) check(cell);
  return all;
}

bool excluded(const Cell& cell, const Axes& exclude) {
  const Model* model = plan_parts::own_model(cell.model);
  const KnownFramework* framework = find_framework(base_of(cell.framework));
  const std::string config = cell.config.empty() && model ? model->configs.front().name : cell.config;
  const std::string layout = cell.layout.empty() && framework ? std::string(framework->layout) : cell.layout;
  const int64_t batch = cell.batch == 0 ? default_batch(model ? model->sweep : std::vector<int64_t>{}) : cell.batch;
  if (lacks(exclude.models, cell.model) || lacks(exclude.configs, config)) return false;
  if (lacks(exclude.frameworks, cell.framework) && lacks(exclude.frameworks, base_of(cell.framework))) return false;
  if (lacks(exclude.batches, batch) || lacks(exclude.precisions, cell.precision)) return false;
  if (lacks(exclude.devices, cell.device) || lacks(exclude.threads, cell.threads)) return false;
  if (lacks(exclude.layouts, layout) || lacks(exclude.modes, cell.mode)) return false;
  return !lacks(exclude.input_modes, cell.input_mode) && !lacks(exclude.dropouts, cell.dropout);
}

std::vector<Cell> cells(const Plan& plan) {
  std::vector<Cell> all;
  for (const Axes& set : plan.sets)
    for (Cell& cell : cells(set)) {
      const bool out = std::ranges::any_of(plan.excludes, [&](const Axes& each) { return excluded(cell, each); });
      if (!out && std::ranges::find(all, cell) == all.end()) all.push_back(std::move(cell));
    }
  return all;
}

Machine this_machine() {
  return {.cores = std::max<int64_t>(1, static_cast<int64_t>(usable_cores())), .memory = memory_limit()};
}

Plan plan_for(Plan plan, const Machine& machine) {
  const auto fails = [&](const Axes& set) {
    const bool any_memory = set.when.memory == Bounds{};
    return !set.when.cores.holds(machine.cores) ||
           (!any_memory && (!machine.memory || !set.when.memory.holds(*machine.memory)));
  };
  std::erase_if(plan.sets, fails);
  if (plan.sets.empty())
    fail(ErrorKind::usage, "no set of the plan is for this machine: it has ", machine.cores,
         machine.cores == 1 ? " core" : " cores", " and ",
         machine.memory ? format_bytes(*machine.memory) : "unknown memory");
  for (Axes& set : plan.sets) set.when = {};
  return plan;
}

}  // namespace tbd
