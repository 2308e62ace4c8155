// The weights of bilinear resampling along one axis.
#pragma once
#include <cstdint>
#include <vector>

namespace tbd {

// Output i = sum over k < taps of weight(i, k) * input[first[i] + k]. All inputs lie in [begin, end).
struct AxisFilter {
  int64_t taps = 0;
  std::vector<int64_t> first;
  std::vector<float> weights;  // [output, taps], each row sums to 1; unused taps are 0
  int64_t begin = 0, end = 0;

  int64_t size() const { return static_cast<int64_t>(first.size()); }
  const float* row(int64_t i) const { return weights.data() + i * taps; }
};

// `output` samples of the interval [start, start + extent) of an axis, reading only inputs in [low, high).
// Half-pixel centres. The filter is a triangle: of half-width 1 input when enlarging (plain bilinear interpolation),
// of half-width extent / output inputs when reducing, which is what PIL calls BILINEAR.
// Throws Error(invalid) unless extent > 0, output >= 1 and the interval overlaps [low, high).
AxisFilter triangle_filter(double start, double extent, int64_t output, int64_t low, int64_t high);

// The same samples in reverse order.
AxisFilter mirrored(const AxisFilter& filter);

}  // namespace tbd
