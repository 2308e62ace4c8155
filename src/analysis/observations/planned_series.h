// Cells of a plan that differ in the batch alone.
#pragma once
#include <set>

#include "analysis/observations/planned.h"

namespace tbd::planned {

struct PlannedSeries {
  const PlannedWorkload* any = nullptr;
  std::vector<size_t> cells;  // indices of the plan
  std::set<int64_t> batches;
};
// Of the cells that are measured in this pass, in the plan's order; "no passes" means clean.
std::vector<PlannedSeries> series(std::span<const PlannedWorkload> cells, const Pass& pass);

std::vector<std::vector<size_t>> cells_of(const std::vector<PlannedSeries>& all);
size_t models(const std::vector<PlannedSeries>& all);  // different ones
bool has_pair(const PlannedSeries& series);            // of batches b and 2 b

template <class Test>
std::vector<PlannedSeries> where(const std::vector<PlannedSeries>& all, Test test) {
  std::vector<PlannedSeries> kept;
  for (const PlannedSeries& each : all)
    if (test(each)) kept.push_back(each);
  return kept;
}

}  // namespace tbd::planned
