// Where a short series of independent values changes its level: a benchmark's history (docs/compare.md).
#pragma once
#include <cstddef>
#include <vector>

#include "stats/series.h"

namespace tbd {

// Places of the first values of new levels, ascending. A level is at least two values long, but for one that ends the
// series: the newest value may be the first bad one. The series is split where Student's t between both sides, their
// variance pooled, is greatest, if it is beyond what one in a hundred series without a change reaches by Bonferroni's
// bound over the places, and the sides differ by more than `least`; then each side again.
// Hawkins 1977, JASA 72(357), Testing a Sequence of Observations for a Shift in Location; binary segmentation as
// Scott & Knott 1974, Biometrics 30(3), which may miss two changes that cancel each other.
std::vector<size_t> level_changes(Series x, double least);

}  // namespace tbd
