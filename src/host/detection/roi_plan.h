// RoIAlign as a sparse matrix: result rows (roi, i, j) = S T with T the table of all cells of all levels.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/tensor.h"
#include "host/detection/boxes.h"

namespace tbd::detection {

// T has a row for each cell: by level, image, y, x.
struct RoiPlanSettings {
  std::vector<Extent> extents;  // of each level's map
  std::vector<double> scales;   // cells of a level per pixel of the image: 1/4, 1/8, ...
  int64_t images = 1;           // N
  int64_t out = 7;              // bins along a side
  int64_t sampling = 2;         // samples along a side of a bin
};

int64_t table_rows(const RoiPlanSettings& settings);

// Row (roi, i, j) of S has 4 sampling^2 entries: sample by sample (y, then x), each with its corners (low y, low x),
// (low y, high x), (high y, low x), (high y, high x). Along an axis, in cells: size max(hi - lo, 1), samples at lo + i
// bin + (s + 1/2) bin / sampling; a sample below -1 or above the extent has weights 0, else it is clamped to
// 0 ... extent - 1. Weights contain the mean over samples; an entry of weight 0 has row 0. Equal to torchvision's
// roi_align with aligned = false.
//   in:  rois (R, 5) float: image, x1, y1, x2, y2; level (R) i32
//   out: index (R out^2, 4 sampling^2) i32: rows of T; weight, the same shape, of any float type
// Coordinates in double, weights rounded once. Throws Error(invalid) "roi I: ..." on an image or level that is not
// there or a coordinate that is not finite, and on shapes that do not fit.
void roi_plan(const RoiPlanSettings& settings, std::span<const HostTensor> in, std::span<HostTensor> out);

}  // namespace tbd::detection
