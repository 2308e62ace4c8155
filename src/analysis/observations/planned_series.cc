#include "analysis/observations/planned_series.h"

#include <algorithm>

namespace tbd::planned {
namespace {

// Alike but for the batch, and for the seed, which changes no speed.
bool one_series(Workload a, const Workload& b) {
  a.batch = b.batch;
  a.seed = b.seed;
  return a == b;
}

bool measured_in(const PlannedWorkload& cell, const Pass& pass) {
  return cell.passes.empty() ? pass == Pass::kClean : std::ranges::count(cell.passes, pass) > 0;
}

}  // namespace

std::vector<PlannedSeries> series(std::span<const PlannedWorkload> cells, const Pass& pass) {
  std::vector<PlannedSeries> all;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (!measured_in(cells[i], pass)) continue;
    auto found = std::ranges::find_if(
        all, [&](const PlannedSeries& s) { return one_series(s.any->workload, cells[i].workload); });
    PlannedSeries& home =
        found == all.end() ? all.emplace_back(PlannedSeries{.any = &cells[i], .cells = {}, .batches = {}}) : *found;
    home.cells.push_back(i);
    home.batches.insert(cells[i].workload.batch);
  }
  return all;
}

std::vector<std::vector<size_t>> cells_of(const std::vector<PlannedSeries>& all) {
  std::vector<std::vector<size_t>> out;
  for (const PlannedSeries& each : all) out.push_back(each.cells);
  return out;
}

size_t models(const std::vector<PlannedSeries>& all) {
  std::set<std::string> names;
  for (const PlannedSeries& each : all) names.insert(each.any->workload.model);
  return names.size();
}

bool has_pair(const PlannedSeries& series) {
  return std::ranges::any_of(series.batches, [&](int64_t b) { return series.batches.contains(2 * b); });
}

}  // namespace tbd::planned
