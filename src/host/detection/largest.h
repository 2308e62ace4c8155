// The largest of many numbers, in an order that every machine agrees on.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace tbd::detection {

// Indices of the `count` largest values (of all, if there are fewer), largest first, of equals the lower index.
// The values are not NaN.
std::vector<int32_t> largest(std::span<const double> values, int64_t count);

}  // namespace tbd::detection
