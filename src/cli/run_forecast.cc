#include "cli/run_forecast.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "base/files.h"
#include "base/json.h"
#include "record/shown_axes.h"
#include "runner/device_memory.h"
#include "runner/thinning.h"

namespace tbd::cli {
namespace fs = std::filesystem;
namespace {

constexpr size_t kMostLookedAt = 20;
constexpr double kShortestLimit = 5;  // seconds: below it a launch is mostly its start

// Records of a folder of result sets, those of the newest sets first (their names begin with the time).
std::vector<fs::path> newest_records(const fs::path& results) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (fs::recursive_directory_iterator at(results, fs::directory_options::skip_permission_denied, ignored), end;
       at != end && !ignored; at.increment(ignored)) {
    if (at.depth() > 2) at.disable_recursion_pending();
    if (at->path().filename() == "run.json") found.push_back(at->path());
  }
  std::ranges::sort(found, std::ranges::greater{});
  return found;
}

// What `of` finds in the peaks of the newest record that has some.
template <class Of>
auto newest(const std::vector<fs::path>& results, Of of) -> decltype(of(Json(), std::string())) {
  size_t looked_at = 0;
  for (const fs::path& folder : results)
    for (const fs::path& file : newest_records(folder)) {
      if (++looked_at > kMostLookedAt) break;
      try {
        const auto peaks = maybe<Json>(parse_json(read_file(file), file.string()), "peaks");
        if (!peaks) continue;
        if (auto found = of(*peaks, file.parent_path().string())) return found;
      } catch (const Error&) {  // a record of another time: not what is asked here
      }
    }
  return std::nullopt;
}

// Where the rates of these workloads' devices come from.
std::string sources(const std::vector<Workload>& cells, const Hardware& hardware) {
  std::vector<std::string> out;
  const auto on_cpu = [](const Workload& cell) { return cell.device.empty() || cell.device == Device::kCpu; };
  if (cells.empty() || std::ranges::any_of(cells, on_cpu)) out.push_back(hardware.rates.source);
  if (!std::ranges::all_of(cells, on_cpu)) out.push_back(cat(hardware.gpu.name, ", ", hardware.gpu.rates.source));
  return join(out, "; ");
}

std::vector<PlannedWorkload> planned(const Forecast& forecast, const RunOptions& options, bool all) {
  std::vector<PlannedWorkload> out;
  for (size_t i = 0; i < forecast.cells.size(); ++i) {
    const CellPrediction& p = forecast.cells[i];
    if (!all && !forecast.kept[i]) continue;
    PlannedWorkload& each =
        out.emplace_back(PlannedWorkload{.workload = p.cell, .kind = p.kind, .passes = options.passes});
    each.workload.batch = p.batch;
  }
  return out;
}

const Need& same(const std::vector<Need>& needs, const Need& need) {
  return *std::ranges::find(needs, need.observation, &Need::observation);
}

std::vector<size_t> together(const std::vector<std::vector<size_t>>& groups) {
  std::set<size_t> all;
  for (const std::vector<size_t>& group : groups) all.insert(group.begin(), group.end());
  return {all.begin(), all.end()};
}

// The groups of a decidable observation without those that it can do without, dearest first: cells that decide it.
std::vector<size_t> deciding(const Need& need, const std::vector<PlannedWorkload>& cells,
                             const std::vector<double>& seconds, int64_t launches) {
  const auto cost = [&](const std::vector<size_t>& group) {
    return std::accumulate(group.begin(), group.end(), 0.0, [&](double sum, size_t i) { return sum + seconds[i]; });
  };
  std::vector<std::vector<size_t>> groups = need.groups;
  std::ranges::stable_sort(groups, std::ranges::greater{}, cost);
  for (size_t i = 0; i < groups.size();) {
    std::vector<std::vector<size_t>> others = groups;
    others.erase(others.begin() + static_cast<ptrdiff_t>(i));
    std::vector<PlannedWorkload> left;
    for (const size_t cell : together(others)) left.push_back(cells[cell]);
    if (same(needs(left, launches), need).decidable)
      groups = std::move(others);
    else
      ++i;
  }
  return together(groups);
}

int64_t decidable_count(const Forecast& forecast) { return std::ranges::count(forecast.needs, true, &Need::decidable); }

void thin_to(Forecast& out, const RunOptions& options, int64_t launches) {
  const std::vector<PlannedWorkload> cells = planned(out, options, true);
  std::vector<double> seconds;
  std::vector<bool> fits;
  for (const CellPrediction& cell : out.cells) {
    seconds.push_back(cell.seconds);
    fits.push_back(cell.fits);
  }
  std::vector<PlanQuestion> questions;
  for (const Need& need : out.needs_all) {
    if (!need.decidable || need.groups.empty()) continue;
    const std::string name = cat("observation ", need.observation);
    questions.push_back({name, {deciding(need, cells, seconds, launches)}, true});
    questions.push_back({name, need.groups});
  }
  const Thinned thinned = thin(seconds, questions, *options.budget_seconds - seconds_beside(options), fits);
  if (thinned.kept.empty())
    fail(ErrorKind::usage, "a budget of ", format_seconds(*options.budget_seconds),
         " is too short for any workload: the shortest is predicted to take ",
         format_seconds(*std::ranges::min_element(seconds) + seconds_beside(options)));
  for (const Thinned::LeftOut& each : thinned.left_out) {
    out.kept[each.cell] = false;
    out.reasons[each.cell] = each.reason;
  }
}

Forecast forecast_of(std::vector<CellPrediction> cells, const RunOptions& options) {
  Forecast out{.cells = std::move(cells), .kept = {}, .reasons = {}, .needs = {}, .needs_all = {}, .rates = {}};
  out.kept.assign(out.cells.size(), true);
  out.reasons.resize(out.cells.size());
  const int64_t launches = options.launches.value_or(level(options.effort).launches);
  out.needs_all = needs(planned(out, options, true), launches);
  if (options.budget_seconds && !options.resume && !out.cells.empty()) thin_to(out, options, launches);
  out.needs = needs(planned(out, options, false), launches);
  out.seconds = out.seconds_all = seconds_beside(options);
  for (size_t i = 0; i < out.cells.size(); ++i) {
    out.seconds_all += out.cells[i].seconds;
    if (out.kept[i]) out.seconds += out.cells[i].seconds;
  }
  return out;
}

}  // namespace

std::vector<Workload> Forecast::kept_cells(const std::vector<Workload>& of) const {
  std::vector<Workload> out;
  for (size_t i = 0; i < of.size(); ++i)
    if (kept[i]) out.push_back(of[i]);
  return out;
}

std::vector<LeftOutCell> Forecast::left_out(Effort effort) const {
  std::vector<LeftOutCell> out;
  for (size_t i = 0; i < cells.size(); ++i)
    if (!kept[i])
      out.push_back(
          {folder_name(cells[i].cell), repro_line(cells[i].cell, name(effort)), cells[i].seconds, reasons[i]});
  return out;
}

Hardware known_hardware(const std::vector<fs::path>& results, const RunnerSettings& settings) {
  Hardware out{.machine = this_machine(), .rates = {}};
  const std::optional<Rates> rates = newest(results, rates_of);
  out.rates = rates ? *rates : assumed_rates(out.machine.cores);
  if (const std::optional<GpuDescription> gpu = newest(results, gpu_of)) out.gpu = *gpu;
  if (const auto bytes = memory_limit(Device::gpu(0), settings)) out.gpu.memory_bytes = bytes;
  return out;
}

Forecast forecast(const std::vector<Workload>& cells, const RunOptions& options, const Hardware& hardware) {
  Forecast out = forecast_of(predict(cells, options, hardware), options);
  out.rates = sources(cells, hardware);
  return out;
}

LaunchesOfWorkload launches_within_budget(const std::vector<Workload>& cells, const RunOptions& options,
                                          const Hardware& hardware) {
  const EffortLevel& usual = level(options.effort);
  const int64_t fewest = options.launches.value_or(usual.launches);
  const int64_t most = options.launches ? fewest : std::max(fewest, level(Effort::publish).launches);
  const double longest = options.limit_seconds.value_or(usual.limit_seconds);
  std::vector<CellPrediction> predictions = predict(cells, options, hardware);
  LaunchesOfWorkload best;
  int64_t decidable = -1;
  for (int64_t launches = most; launches >= fewest; --launches)
    for (const double share : {1.0, 0.75, 0.5, 0.375, 0.25}) {
      RunOptions other = options;
      other.launches = launches;
      other.limit_seconds = share * longest;
      if (share < 1 && *other.limit_seconds < kShortestLimit) break;
      for (CellPrediction& each : predictions) each.seconds = launches_seconds(each, other);
      const int64_t now = decidable_count(forecast_of(predictions, other));
      if (now <= decidable) continue;
      decidable = now;
      best = {launches, *other.limit_seconds};
    }
  return best;
}

TableCell batch_cell(const CellPrediction& p) {
  return p.cell.batch == kLargestThatFits ? TableCell(cat("largest, about ", p.batch)) : TableCell(p.batch);
}

// Axes that tell these cells apart and have no column, behind the input.
void add_axes(Table& table, const Forecast& forecast) {
  constexpr std::string_view kHas[] = {"model",     "config", "framework", "device",
                                       "precision", "batch",  "workers",   "input"};
  std::vector<const Workload*> cells;
  for (const CellPrediction& each : forecast.cells) cells.push_back(&each.cell);
  ptrdiff_t at = std::size(kHas);
  for (const Axis* axis : axes_to_show(cells, kHas)) {
    table.columns.insert(table.columns.begin() + at, Column{std::string(axis->name), std::string(axis->name)});
    for (size_t i = 0; i < cells.size(); ++i)
      table.rows[i].insert(table.rows[i].begin() + at, TableCell(axis->value(*cells[i])));
    ++at;
  }
}

Table forecast_cells(const Forecast& forecast) {
  Table table{
      .title = "Cells",
      .columns = {{"model", "model"},
                  {"config", "config"},
                  {"framework", "framework"},
                  {"device", "device"},
                  {"precision", "precision"},
                  {"batch", "batch", Unit::count},
                  {"workers", "workers", Unit::count},
                  {"input_mode", "input"},
                  {"predicted_memory_bytes", "memory of a step", Unit::bytes},
                  {"fits", "fits"},
                  {"predicted_step_seconds", "step", Unit::seconds},
                  {"predicted_seconds", "all launches", Unit::seconds},
                  {"measured", "measured"},
                  {"reason", "reason"}},
      .rows = {},
      .notes = {"Time and memory are predictions. Memory is that of the network, without the framework's own."}};
  for (size_t i = 0; i < forecast.cells.size(); ++i) {
    const CellPrediction& p = forecast.cells[i];
    table.rows.push_back({p.cell.model, p.cell.config, p.cell.framework, p.cell.device.text(), p.cell.precision.text(),
                          batch_cell(p), p.cell.workers, p.cell.input_mode.text(), p.memory_bytes, bool{p.fits},
                          p.step_seconds, p.seconds, bool{forecast.kept[i]},
                          forecast.reasons[i].empty() ? TableCell() : TableCell(forecast.reasons[i])});
  }
  add_axes(table, forecast);
  return table;
}

Table forecast_observations(const Forecast& forecast) {
  Table table{
      .title = "The paper's observations",
      .columns = {{"observation", "observation", Unit::count},
                  {"decidable", "decidable"},
                  {"decidable_without_budget", "by the whole plan"},
                  {"lacks", "what is missing"}},
      .rows = {},
      .notes = {"Decidable: the workloads give enough cases for a verdict, provided that all run and that memory ends "
                "the sweeps that it is expected to end."}};
  for (const Need& need : forecast.needs)
    table.rows.push_back({int64_t{need.observation}, need.decidable, same(forecast.needs_all, need).decidable,
                          need.lacks.empty() ? TableCell() : TableCell(need.lacks)});
  return table;
}

Table forecast_total(const Forecast& forecast, const RunOptions& options) {
  const auto kept = static_cast<int64_t>(std::ranges::count(forecast.kept, true));
  return {.title = "Together",
          .columns = {{"cells", "workloads", Unit::count},
                      {"measured_cells", "measured", Unit::count},
                      {"predicted_seconds", "predicted time", Unit::seconds},
                      {"predicted_seconds_of_all", "of all workloads", Unit::seconds},
                      {"budget_seconds", "budget", Unit::seconds},
                      {"launches", "launches each", Unit::count},
                      {"limit_seconds", "steps of a launch, at most", Unit::seconds},
                      {"decidable_observations", "decidable observations", Unit::count},
                      {"rates", "rates"}},
          .rows = {{static_cast<int64_t>(forecast.cells.size()), kept, forecast.seconds, forecast.seconds_all,
                    cell(options.budget_seconds), options.launches.value_or(level(options.effort).launches),
                    options.limit_seconds.value_or(level(options.effort).limit_seconds), decidable_count(forecast),
                    forecast.rates}},
          .notes = {}};
}

}  // namespace tbd::cli
