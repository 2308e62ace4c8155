// Greedy non-maximum suppression: a box is dropped if it overlaps a kept one before it by more than `most`, strictly.
// Boxes come by falling score, of equal scores the lower index first. The decisions are those of the plain double loop;
// an order by x shows which pairs cannot overlap enough.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "host/detection/boxes.h"

namespace tbd::detection {

// Indices of the kept boxes, in their order. Throws Error(invalid) unless the coordinates are finite and 0 <= most
// <= 1. Boxes without area neither suppress nor are suppressed.
std::vector<int32_t> suppress_sorted(std::span<const Box> boxes, double most);

// The same for boxes in any order, by falling score. Throws Error(invalid) also where a score is NaN.
std::vector<int32_t> suppress(std::span<const Box> boxes, std::span<const double> scores, double most);

// Boxes of different classes never suppress each other; the kept ones of all classes by falling score.
std::vector<int32_t> suppress_by_class(std::span<const Box> boxes, std::span<const double> scores,
                                       std::span<const int32_t> classes, double most);

}  // namespace tbd::detection
