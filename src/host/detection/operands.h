// Operands and results of detection's host functions: reading, rounding and checking tensors.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/tensor.h"
#include "host/detection/boxes.h"

namespace tbd::detection {

// The elements of a tensor of any float type, in double. The tensor outlives it.
class Reals {
 public:
  explicit Reals(const HostTensor& tensor);
  double operator[](int64_t i) const { return f32_.empty() ? f64_[i] : f32_[i]; }
  Box box(int64_t row) const;  // of four elements a row

 private:
  std::vector<double> widened_;  // of a type that is neither float nor double
  std::span<const float> f32_;
  std::span<const double> f64_;
};

// Rounds the values once, to the type that `out` has.
void store(std::span<const double> values, HostTensor& out);

// Throws Error(invalid) "NAME: expected (2, 4) float, got ..." unless it has this shape and a float type.
void require_float(const HostTensor& tensor, const Shape& shape, std::string_view name);
void require_i32(const HostTensor& tensor, const Shape& shape, std::string_view name);

// The images' sizes from (N, 2) i32 of h, w. Throws Error(invalid) "image I: ..." on one below 1.
std::vector<Extent> image_sizes(const HostTensor& tensor);

}  // namespace tbd::detection
