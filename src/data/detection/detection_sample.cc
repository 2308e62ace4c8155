#include "data/detection/detection_sample.h"

#include <algorithm>

namespace tbd {
namespace {

template <class T>
void remove_at(std::vector<T>& values, std::span<const size_t> indices) {
  if (values.empty()) return;
  size_t kept = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::ranges::binary_search(indices, i)) continue;
    if (kept != i) values[kept] = std::move(values[i]);
    ++kept;
  }
  values.resize(kept);
}

}  // namespace

void remove_objects(DetectionSample& sample, std::span<const size_t> indices) {
  remove_at(sample.boxes, indices);
  remove_at(sample.labels, indices);
  remove_at(sample.masks, indices);
}

}  // namespace tbd
