// Polygons around a mask, as annotators draw them, but along the edges of pixels.
#pragma once
#include <optional>
#include <vector>

#include "host/run_lengths.h"

namespace tbd {

// x y of the corners of each part that is connected by sides of pixels; polygons_mask fills exactly the mask again.
// nullopt for a mask with a hole, which polygons cannot say, and for an empty one.
std::optional<std::vector<std::vector<double>>> outline(const RunLengths& mask);

}  // namespace tbd
