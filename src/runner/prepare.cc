#include "runner/prepare.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/json.h"
#include "graph/least_batch.h"
#include "graph/memory.h"
#include "graph/passes.h"
#include "graph/ragged_rows.h"
#include "measure/cores.h"
#include "measure/gpu/visible_device.h"
#include "models/model.h"
#include "record/axes.h"
#include "record/frameworks.h"
#include "runner/allocators.h"
#include "runner/data_source.h"
#include "runner/device_choice.h"
#include "runner/device_memory.h"
#include "runner/seats.h"

namespace tbd {
namespace {

int64_t samples_per_step(const Program& program, int64_t batch) {
  int64_t samples = 0;
  for (const StepEntry& entry : program.step) samples += batch * entry.repeat * program.phase(entry.phase).accumulate;
  return samples;
}

std::string optimizer_name(const Program& program) {
  switch (program.phases.front().update.optimizer.kind) {
    case Optimizer::Kind::sgd:
      return "sgd";
    case Optimizer::Kind::adam:
      return "adam";
    case Optimizer::Kind::adamw:
      return "adamw";
    case Optimizer::Kind::lamb:
      return "lamb";
  }
  return "sgd";
}

int64_t elements(const std::vector<Parameter>& parameters) {
  int64_t count = 0;
  for (const Parameter& parameter : parameters) count += parameter.shape.elements();
  return count;
}

void require_readable(const std::string& folder) {
  if (folder.empty()) return;
  if (!std::filesystem::exists(folder)) fail(ErrorKind::not_found, "there is no data folder ", folder);
  if (!std::filesystem::is_directory(folder)) fail(ErrorKind::usage, "the data ", folder, " is not a folder");
  if (::access(folder.c_str(), R_OK | X_OK) != 0)
    fail(ErrorKind::io, "cannot read the data folder ", folder, ": ", std::strerror(errno));
}

ThreadRequest threads_wanted(const Workload& cell) {
  ThreadRequest request{.allowed = logical_cpus(allowed_cpus()),
                        .usable_cores = usable_cores(),
                        .wait = cell.wait,
                        .affinity = cell.affinity};
  if (cell.threads > 0) request.threads = cell.threads;
  return request;
}

// Hosts are taken to be like this machine: the fullest has most workers.
int64_t workers_of_machine(const Workload& cell, const RunnerSettings& settings) {
  if (settings.hosts.empty()) return cell.workers;
  int64_t most = 0;
  for (const std::string& host : settings.hosts)
    most = std::max<int64_t>(most, std::ranges::count(settings.hosts, host));
  return std::min(most, cell.workers);
}

// Of several workers, each one's cores. On hosts: of those of one host.
std::vector<ThreadRequest> shares_of_workers(const Workload& cell, const RunnerSettings& settings) {
  const ThreadRequest request = threads_wanted(cell);
  if (settings.seats) return shares_of_seats(settings.seats->facts(cell.workers), request, settings.oversubscribe);
  return shares_of_cores(request, workers_of_machine(cell, settings), settings.oversubscribe);
}

bool is_oversubscribed(const Workload& cell, const RunnerSettings& settings) {
  if (cell.workers == 1) return false;
  if (settings.seats) return are_more_than_cores(settings.seats->facts(cell.workers));
  return static_cast<double>(workers_of_machine(cell, settings)) > std::max(1.0, usable_cores());
}

// As many threads for all as the worker with the fewest cores has.
void plan_threads_of(PreparedCell& prepared, const RunnerSettings& settings) {
  if (prepared.cell.workers == 1) {
    prepared.threads = plan_threads(threads_wanted(prepared.cell));
    return;
  }
  std::vector<ThreadRequest> shares = shares_of_workers(prepared.cell, settings);
  int64_t least = plan_threads(shares.front()).threads;
  for (const ThreadRequest& share : shares) least = std::min(least, plan_threads(share).threads);
  for (ThreadRequest& share : shares) share.threads = least;
  prepared.threads = plan_threads(shares.front());
  if (!run_on_one_machine(settings, prepared.cell.workers)) return;
  for (const ThreadRequest& share : shares) prepared.rank_cores.push_back(plan_threads(share).cores);
}

// Whether one of the settings that only a tuned program has differs from the default. Such rows are never ranked
// against rows of the default.
bool is_tuned(const Workload& cell) {
  const auto is_set = [&](const Axis& axis) { return axis.setting && !axis.print(cell).empty(); };
  return cell.mode == Mode::kEagerOnednn || std::ranges::any_of(axes(), is_set);
}

// What several workers cannot do yet.
void require_trainable_together(const Workload& cell, const RunnerSettings& settings) {
  if (cell.workers == 1 && !cell.link.empty())
    fail(ErrorKind::usage, "a link joins several workers: ask for workers 2 or more with link ", cell.link);
  if (cell.workers == 1) return;
  if (cell.device != Device::kCpu && !cell.link.empty())
    fail(ErrorKind::usage, "a link of ", cell.link,
         " is made between workers on processors: ask for --device cpu, got ", cell.device);
  if (!cell.link.empty() && (settings.seats || !settings.hosts.empty()))
    fail(ErrorKind::usage, "a link of ", cell.link, " is made on this machine, and ",
         settings.seats ? "a launcher places the workers: start one tbd, without it"
                        : "the workers are to run on hosts: name one of both");
  if (cell.batch == kLargestThatFits)
    fail(ErrorKind::usage, "the largest batch is looked for with one worker, got ", cell.workers,
         ": name the batch of each worker");
  (void)shares_of_workers(cell, settings);
}

// A prediction above the whole memory cannot come true; allocators and workspaces only add to it, and valid rows of
// what is ragged: none are counted. What fits into an enforced budget is found by running: only what is far above is
// not tried.
std::optional<Outcome> too_large(const PreparedCell& prepared, const RunnerSettings& settings) {
  constexpr double kFarAbove = 1.5;
  const std::optional<int64_t> limit = memory_limit(prepared.cell.device, settings);
  const std::optional<int64_t> budget = prepared.cell.memory_budget_bytes;
  constexpr int64_t kNoRows = 0;
  const Keeper keeper = keeper_of(prepared.cell.framework);
  const MemoryPrediction predicted = predict_memory(prepared.program, prepared.bindings, kNoRows, keeper);
  const Bytes not_here = prepared.cell.device == Device::kCpu ? Bytes(0) : predicted.kernels;  // oneDNN's
  const int64_t needed = (predicted.peak() - not_here).value;
  const int64_t workers = prepared.cell.workers;
  const int64_t sharing = prepared.cell.device == Device::kCpu ? workers : 1;  // each worker has a GPU of its own
  const bool ragged = most_rows(prepared.program, prepared.bindings) > 0;
  const auto skipped = [&](const std::string& there) {
    return Outcome{
        .kind = OutcomeKind::skipped,
        .reason = cat("a step is predicted to need ", format_bytes(needed), " of memory",
                      workers > 1 ? " in each worker" : "", ragged ? " without its ragged rows, " : ", ", there),
        .repro = ""};
  };
  if (limit && needed > *limit / sharing) return skipped(cat("there are ", format_bytes(*limit)));
  if (budget && static_cast<double>(needed) > kFarAbove * static_cast<double>(*budget))
    return skipped(cat("more than 1.5 times the memory budget of ", format_bytes(*budget)));
  return std::nullopt;
}

void fill_workload(PreparedCell& prepared, const LoadedProgram& loaded, Effort effort) {
  const Workload& cell = prepared.cell;
  MeasuredWorkload& w = prepared.run.workload;
  prepared.run.request = cell;
  static_cast<Workload&>(w) = cell;
  w.model = loaded.program.model.empty() ? folder_name({.model = cell.model}) : loaded.program.model;
  w.config = loaded.program.config;
  w.model_hash = program_hash(loaded.program);
  w.lowered_hash = program_hash(prepared.program);
  w.framework = prepared.worker ? prepared.worker->framework : cell.framework.substr(0, cell.framework.find('@'));
  w.framework_version = prepared.worker ? prepared.worker->version : "";
  if (w.mode.empty()) w.mode = Mode::kEager;
  w.samples_per_step = cell.workers * samples_per_step(prepared.program, cell.batch);
  w.unit = loaded.model ? loaded.model->unit : loaded.program.unit;
  w.effort = name(effort);
  w.optimizer = optimizer_name(prepared.program);
  w.unpinned = prepared.worker && !prepared.worker->pinned;
  if (loaded.model)
    prepared.run.card = {.title = loaded.model->title,
                         .domain = loaded.model->domain,
                         .dataset = loaded.model->dataset,
                         .layers = loaded.model->config(w.config).layers};
  w.repro = repro_line(cell, name(effort));
}

void require_known_framework(const std::string& framework, const RunnerSettings& settings) {
  std::vector<std::string> known;
  for (const KnownFramework& each : known_frameworks()) known.emplace_back(each.name);
  for (const WorkerEntry& entry : settings.workers)
    if (!find_framework(entry.framework)) known.push_back(entry.framework);
  require_known_name("framework", framework.substr(0, framework.find('@')), known);
}

void find_its_worker(PreparedCell& prepared, const RunnerSettings& settings) {
  try {
    prepared.worker = &find_worker(settings.workers, prepared.cell.framework);
  } catch (const Error& e) {
    prepared.refused = Outcome{.kind = OutcomeKind::unavailable, .reason = e.what(), .repro = ""};
  }
}

// An allocator that is not installed.
void find_its_allocator(PreparedCell& prepared, const RunnerSettings& settings) {
  const std::string absence = allocator_absence(prepared.cell.allocator, library_folders(settings));
  if (!absence.empty()) prepared.refused = Outcome{.kind = OutcomeKind::unavailable, .reason = absence, .repro = ""};
}

OpCost op_cost(const Cost& cost, int64_t times) {
  return {.flop_model = cost.model * times,
          .flop_valid = cost.valid * times,
          .flop_simd = cost.simd * times,
          .trans = cost.trans * times,
          .bytes = cost.bytes * times};
}

}  // namespace

std::vector<OpRow> op_rows(const Program& program, const Bindings& bindings, int64_t workers) {
  std::vector<OpRow> rows;
  for (const StepEntry& entry : program.step) {
    const Phase& phase = program.phase(entry.phase);
    const Graph graph = bind(program, phase, bindings);
    const std::vector<NodeCost> costs = node_costs(graph), of_row = costs_of_row(graph);
    const RaggedRows ragged(graph);
    const int64_t times = entry.repeat * phase.accumulate * workers;
    const std::string prefix = program.phases.size() > 1 ? phase.name + "/" : "";
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      OpRow& row = rows.emplace_back(OpRow{.node = cat(prefix, graph.nodes[i].name),
                                           .op = kind(graph.nodes[i].op),
                                           .forward = op_cost(costs[i].forward, times),
                                           .backward = op_cost(costs[i].backward, times)});
      if (ragged.reads_rows(graph.nodes[i]))
        row.row = {ragged.most() * times, op_cost(of_row[i].forward, 1), op_cost(of_row[i].backward, 1)};
    }
  }
  return rows;
}

Program lowered_program(const Program& program, const Workload& cell) {
  Program lowered = with_precision(with_dropout(program, cell.dropout), cell.precision);
  for (Phase& phase : lowered.phases)
    if (std::ranges::count(lowered.step, phase.name, &StepEntry::phase) > 0) phase.accumulate *= cell.accumulate;
  return lowered;
}

void require_startable(const Workload& cell, const RunnerSettings& settings) {
  require_known_framework(cell.framework, settings);
  require_readable(cell.data);
  require_trainable_together(cell, settings);
}

PreparedCell prepare(const Workload& cell, Effort effort, const RunnerSettings& settings) {
  const LoadedProgram loaded = load_program(cell.model, cell.config);
  PreparedCell prepared{.cell = with_devices({cell}, settings).front()};
  require_startable(prepared.cell, settings);
  prepared.program = lowered_program(loaded.program, cell);
  if (cell.batch == 0) prepared.cell.batch = default_batch(loaded.model ? loaded.model->sweep : std::vector<int64_t>{});
  if (cell.batch == kLargestThatFits) prepared.cell.batch = least_batch(prepared.program, {});
  if (cell.layout.empty()) prepared.cell.layout = usual_layout(cell.framework);
  prepared.cell.config = loaded.program.config;
  prepared.bindings = {{"N", prepared.cell.batch}};
  validate(prepared.program, prepared.bindings);
  plan_threads_of(prepared, settings);
  prepared.cell.threads = prepared.threads.threads;
  find_its_worker(prepared, settings);
  if (!prepared.refused) find_its_allocator(prepared, settings);
  if (!prepared.refused) prepared.refused = too_large(prepared, settings);
  fill_workload(prepared, loaded, effort);
  if (cell.workers > 1) prepared.run.workload.repro = at_its_places(prepared.run.workload.repro, settings);

  RunInfo& run = prepared.run;
  run.tool = settings.tool;
  run.ops = op_rows(prepared.program, prepared.bindings, cell.workers);
  prepared.parameters = elements(prepared.program.parameters);
  run.parameters = prepared.parameters;
  const NodeCost cost = step_cost(prepared.program, prepared.bindings);
  run.train_flops = cell.workers * (cost.forward.model + cost.backward.model) / run.workload.samples_per_step;
  if (!prepared.threads.warnings.empty()) run.flags.push_back("threads-over-cores");
  if (is_oversubscribed(prepared.cell, settings)) run.flags.push_back("oversubscribed");
  if (is_tuned(prepared.cell)) run.flags.push_back("tuned");
  if (!framework_note(run.workload.framework).empty()) run.flags.push_back("retired-upstream");
  return prepared;
}

protocol::Load load_request(const PreparedCell& prepared, bool capture) {
  return {.program = prepared.program,
          .bindings = prepared.bindings,
          .device = prepared.cell.device,
          .layout = prepared.cell.layout,
          .precision = prepared.cell.precision,
          .dropout = prepared.cell.dropout,
          .mode = prepared.cell.mode,
          .threads = prepared.cell.threads,
          .interop = prepared.cell.interop,
          .seed = prepared.cell.seed,
          .capture = capture};
}

protocol::InputPlan input_plan(const PreparedCell& prepared) {
  const Workload& cell = prepared.cell;
  protocol::InputPlan plan{.mode = cell.input_mode};
  *plan.source = data_source(prepared.program, cell.seed);  // its kind is what the program reads
  if (!cell.data.empty()) plan.source["path"] = cell.data;
  plan.source["threads"] = prepared.threads.cores.size();  // as many as may run: they share the cores with the step
  plan.source["prefetch"] = cell.prefetch;
  return plan;
}

std::map<std::string, std::string> worker_environment(const PreparedCell& prepared, const RunnerSettings& settings) {
  std::map<std::string, std::string> environment = allowed_environment(settings.environment);
  for (const std::string& name : prepared.threads.unset) environment.erase(name);
  for (const auto& [name, value] : prepared.threads.environment) environment[name] = value;
  for (const auto& [name, value] : allocator_variables(prepared.cell.allocator, environment, library_folders(settings)))
    environment[name] = value;
  environment.try_emplace("KINETO_LOG_LEVEL", "99");  // silences a library that looks for a GPU driver
  return prepared.cell.device == Device::kCpu ? environment : in_driver_order(environment);
}

}  // namespace tbd
