// A picture's objects, as every source of detection data knows them and every network's inputs are made from.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/crop_plan.h"
#include "host/run_lengths.h"

namespace tbd {

struct DetectionSample {
  ImageSize size;  // of the picture in pixels, without padding
  // x1 y1 x2 y2 in pixels, x to the right, y down, the upper left corner of the picture being (0, 0);
  // 0 <= x1 < x2 <= width, 0 <= y1 < y2 <= height.
  std::vector<std::array<float, 4>> boxes;
  std::vector<int32_t> labels;    // of each box, from 1; 0 is the background
  std::vector<RunLengths> masks;  // of each box, of this size; none at all where nobody reads masks
};

// Removes the objects with these indices, which ascend.
void remove_objects(DetectionSample& sample, std::span<const size_t> indices);

}  // namespace tbd
