#include "runner/quickstart.h"

#include <algorithm>
#include <map>

#include "base/files.h"
#include "measure/clock.h"
#include "models/model.h"
#include "runner/device_choice.h"
#include "runner/device_memory.h"
#include "runner/largest_batch.h"
#include "runner/prepare.h"
#include "runner/worker_process.h"

namespace tbd {
namespace {

constexpr double kStepsWanted = 25 + 5;     // stable ones, after those that never count as stable
constexpr double kRoomForInput = 1.15;      // reading and decoding share the cores with the step
constexpr double kReserve = 0.04;           // of the budget, for the peaks
constexpr double kQuickMemoryFactor = 1.3;  // allocators and workspaces come on top of the prediction
constexpr int64_t kQuickFrameworkBytes = 600ll << 20;

constexpr size_t kMostQuickCells = 6;
constexpr int64_t kMostOnGpu = 1024;

// Cells of one group are compared: they differ in framework and in how they are fed, and get the same batch.
std::string group_of(Workload cell) {
  cell.framework.clear();
  cell.input_mode = {};
  cell.layout = {};
  cell.batch = 0;
  return repro_line(cell);
}

// Cells of one probe have the same step: they differ only in how they are fed.
std::string probe_of(Workload cell) {
  cell.input_mode = {};
  cell.batch = 0;
  return repro_line(cell);
}

bool fits_memory(int64_t bytes, const std::optional<int64_t>& free) {
  const double needed = kQuickMemoryFactor * static_cast<double>(bytes) + static_cast<double>(kQuickFrameworkBytes);
  return !free || needed < static_cast<double>(*free);
}

// What one batch shows of a framework.
struct Probe {
  double start_seconds = 0;   // up to the end of the first step
  double sample_seconds = 0;  // of the step after it, for each sample
};

// nullopt when the worker fails, which the cell itself will show.
std::optional<Probe> probe_cell(Workload cell, int64_t batch, const RunnerSettings& settings) {
  cell.batch = batch;
  cell.input_mode = InputMode::kResident;
  const PreparedCell prepared = prepare(cell, Effort::quick, settings);
  if (prepared.refused) return std::nullopt;
  try {
    const TemporaryFolder scratch;
    const double began = now_seconds();
    WorkerProcess worker(*prepared.worker, settings, worker_environment(prepared, settings), prepared.threads.cores,
                         scratch.path() / "worker.log");
    worker.hello();
    worker.load(load_request(prepared, false));
    std::vector<int64_t> stamps;
    worker.run({.steps = 2}, [&](std::span<const StepRow> rows) {
      for (const StepRow& row : rows) stamps.push_back(row.completed_ns);
      return false;
    });
    const double whole = now_seconds() - began;
    worker.bye();
    if (stamps.size() < 2) return std::nullopt;
    const double step = 1e-9 * static_cast<double>(stamps[1] - stamps[0]);
    return Probe{.start_seconds = whole - step, .sample_seconds = step / static_cast<double>(batch)};
  } catch (const WorkerFault&) {
    return std::nullopt;
  }
}

// Of a cell's launches those of pass clean: the others take one each.
double share_of_speed(const std::vector<Pass>& passes) {
  const auto launches = static_cast<double>(level(Effort::quick).launches);
  return launches / (launches + static_cast<double>(passes.size()) - 1);
}

// Probes each framework and precision once, and gives each cell its batch.
class Chooser {
 public:
  Chooser(std::vector<Workload>& cells, const QuickstartOptions& options, const RunnerSettings& settings,
          const ProgressSink& progress)
      : cells_(cells), settings_(settings), progress_(progress) {
    const double began = now_seconds();
    for (const Workload& cell : cells_) probe_once(cell);
    size_t running = 0;
    for (const Workload& cell : cells_) running += probes_.at(probe_of(cell)).has_value();
    const double left = options.budget_seconds * (1 - kReserve) - (now_seconds() - began);
    share_ = share_of_speed(quickstart_passes(cells_)) * std::max(left, 0.5 * options.budget_seconds) /
             static_cast<double>(std::max<size_t>(1, running));
    for (const Workload& cell : cells_) choose_for(cell);
    for (Workload& cell : cells_)
      if (cell.batch == 0) cell.batch = batches_.contains(group_of(cell)) ? batches_[group_of(cell)] : sweep(cell)[0];
  }

  LaunchPlan launches() const {
    double most = 0;
    for (const Workload& cell : cells_)
      if (const auto& found = probes_.at(probe_of(cell)))
        most = std::max(most, found->start_seconds + 2 * step_seconds(cell, *found));
    return plan_launches(share_, most);
  }

 private:
  static std::vector<int64_t> model_sweep(const Workload& cell) {
    const LoadedProgram loaded = load_program(cell.model, cell.config);
    return loaded.model ? loaded.model->sweep : std::vector<int64_t>{1, 2, 4, 8, 16, 32};
  }
  static std::vector<int64_t> sweep(const Workload& cell) { return sweep_on(cell.device, model_sweep(cell)); }
  // A small batch leaves most of a GPU idle and says little of a large one.
  static int64_t probed_batch(const Workload& cell) {
    return cell.device == Device::kCpu ? model_sweep(cell).front() : model_sweep(cell).back();
  }
  static double step_seconds(const Workload& cell, const Probe& probe) {
    return probe.sample_seconds * static_cast<double>(cell.batch);
  }

  void probe_once(const Workload& cell) {
    if (probes_.contains(probe_of(cell))) return;
    if (settings_.interrupted()) fail(ErrorKind::io, "interrupted before anything was measured");
    if (progress_)
      progress_({.cells = cells_.size(),
                 .name = cat(cell.model, " ", cell.framework, " ", cell.precision),
                 .stage = "first step",
                 .note = "choosing the batch"});
    probes_[probe_of(cell)] = probe_cell(cell, probed_batch(cell), settings_);
  }

  void choose_for(const Workload& cell) {
    const auto& found = probes_.at(probe_of(cell));
    if (!found) return;
    const Program program = prepare(cell, Effort::quick, settings_).program;
    const PredictBytes bytes = bytes_of_step(program, cell.framework);
    const auto starts = static_cast<double>(level(Effort::quick).launches);
    const std::vector<int64_t> batches = sweep(cell);
    const std::optional<int64_t> free = free_memory(cell.device, settings_);
    const int64_t batch =
        choose_batch(batches, found->sample_seconds * static_cast<double>(batches.front()),
                     share_ - starts * found->start_seconds, [&](int64_t b) { return fits_memory(bytes(b), free); });
    const auto [entry, first] = batches_.try_emplace(group_of(cell), batch);
    if (!first) entry->second = std::min(entry->second, batch);
  }

  std::vector<Workload>& cells_;
  const RunnerSettings& settings_;
  const ProgressSink& progress_;
  std::map<std::string, std::optional<Probe>> probes_;
  std::map<std::string, int64_t> batches_;
  double share_ = 0;  // seconds of a cell's clean launches
};

}  // namespace

std::vector<FrameworkOffer> framework_offers(const std::vector<std::string>& frameworks, const Device& device,
                                             const RunnerSettings& settings) {
  std::vector<FrameworkOffer> offers;
  for (const std::string& framework : frameworks) {
    FrameworkOffer offer{.framework = framework, .precisions = {}};
    offer.device = with_devices({{.framework = framework, .device = device}}, settings).front().device;
    try {
      const protocol::HelloReply can = capabilities(find_worker(settings.workers, framework), settings);
      offer.precisions = can.precisions;
      offer.pipeline = can.pipeline;
    } catch (const Error&) {  // its row will say why
    }
    offers.push_back(std::move(offer));
  }
  return offers;
}

std::vector<Workload> quickstart_cells(const Workload& like, const std::vector<FrameworkOffer>& offers) {
  std::vector<Workload> cells, twins;
  for (const FrameworkOffer& offer : offers)
    for (const Precision& precision : {Precision::kFp32, Precision::kTf32, Precision::kBf16}) {
      if (precision == Precision::kTf32 && offer.device == Device::kCpu) continue;
      const bool offered = std::ranges::find(offer.precisions, precision) != offer.precisions.end();
      if (!offered && precision != Precision::kFp32) continue;
      Workload& cell = cells.emplace_back(like);
      cell.framework = offer.framework;
      cell.precision = precision;
      cell.device = offer.device;
      cell.input_mode = InputMode::kResident;
      if (!offer.pipeline || !offered) continue;
      twins.push_back(cell);
      twins.back().input_mode = InputMode::kPipeline;
    }
  const size_t room = cells.size() < kMostQuickCells ? kMostQuickCells - cells.size() : 0;
  if (twins.size() > room) twins.resize(room);
  for (const Workload& twin : twins) {  // each beside its resident cell
    const auto beside =
        std::ranges::find_if(cells, [&](const Workload& cell) { return probe_of(cell) == probe_of(twin); });
    cells.insert(beside + 1, twin);
  }
  return cells;
}

std::vector<Pass> quickstart_passes(const std::vector<Workload>& cells) {
  const auto on_cpu = [](const Workload& cell) { return cell.device.empty() || cell.device == Device::kCpu; };
  if (std::ranges::all_of(cells, on_cpu)) return {Pass::kClean};
  return {Pass::kClean, Pass::kTrace, Pass::kMemory};
}

std::vector<int64_t> sweep_on(const Device& device, std::vector<int64_t> sweep) {
  if (device == Device::kCpu) return sweep;
  for (int64_t batch = 2 * sweep.back(); batch <= kMostOnGpu; batch *= 2) sweep.push_back(batch);
  return sweep;
}

int64_t choose_batch(const std::vector<int64_t>& sweep, double smallest_step_seconds, double share_seconds,
                     const std::function<bool(int64_t)>& fits) {
  int64_t best = sweep.front();
  for (const int64_t batch : sweep) {
    const double step = smallest_step_seconds * static_cast<double>(batch) / static_cast<double>(sweep.front());
    if (kRoomForInput * kStepsWanted * step > share_seconds || !fits(batch)) break;
    best = batch;
  }
  return best;
}

LaunchPlan plan_launches(double share_seconds, double start_seconds) {
  const int64_t launches = level(Effort::quick).launches;
  const double limit = share_seconds / static_cast<double>(launches) - start_seconds;
  if (limit >= start_seconds) return {.launches = launches, .limit_seconds = limit};
  return {.launches = 1, .limit_seconds = std::max(0.25 * share_seconds, share_seconds - start_seconds)};
}

std::vector<CellRun> run_quickstart(std::vector<Workload> cells, const QuickstartOptions& options,
                                    const RunnerSettings& settings, const ProgressSink& progress) {
  if (cells.empty()) fail(ErrorKind::usage, "there is no workload to measure");
  const Chooser chosen(cells, options, settings, progress);
  const LaunchPlan plan = chosen.launches();
  const RunOptions run{.effort = Effort::quick,
                       .out = options.out,
                       .limit_seconds = plan.limit_seconds,
                       .launches = plan.launches,
                       .passes = quickstart_passes(cells)};
  return run_cells(cells, run, settings, progress);
}

}  // namespace tbd
