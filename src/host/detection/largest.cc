#include "host/detection/largest.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace tbd::detection {
namespace {

// The value that the last of the `count` largest has.
double threshold(std::span<const double> values, size_t count) {
  std::vector<double> copy(values.begin(), values.end());
  const auto last = copy.begin() + static_cast<int64_t>(count) - 1;
  std::nth_element(copy.begin(), last, copy.end(), std::greater<>());
  return *last;
}

}  // namespace

std::vector<int32_t> largest(std::span<const double> values, int64_t count) {
  const auto wanted = static_cast<size_t>(std::clamp<int64_t>(count, 0, std::ssize(values)));
  std::vector<int32_t> taken;
  if (wanted == 0) return taken;
  const double least = threshold(values, wanted);
  size_t equal = wanted;  // how many of the value `least` are taken
  for (const double value : values) equal -= value > least ? 1 : 0;
  taken.reserve(wanted);
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] < least || (values[i] == least && equal == 0)) continue;
    if (values[i] == least) --equal;
    taken.push_back(static_cast<int32_t>(i));
  }
  std::stable_sort(taken.begin(), taken.end(), [&](int32_t a, int32_t b) { return values[a] > values[b]; });
  return taken;
}

}  // namespace tbd::detection
