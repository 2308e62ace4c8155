// The extents of a tensor, outermost first. Logical layout is NCHW; [N, T, ...] for sequences.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <vector>

namespace tbd {

class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<int64_t> extents) : extents_(extents) {}
  explicit Shape(std::vector<int64_t> extents) : extents_(std::move(extents)) {}

  int64_t rank() const { return static_cast<int64_t>(extents_.size()); }
  int64_t operator[](int64_t axis) const { return extents_[static_cast<size_t>(axis)]; }
  int64_t& operator[](int64_t axis) { return extents_[static_cast<size_t>(axis)]; }
  int64_t back() const { return extents_.back(); }
  int64_t elements() const;  // 1 for a scalar (rank 0)
  std::span<const int64_t> extents() const { return extents_; }
  bool operator==(const Shape&) const = default;

 private:
  std::vector<int64_t> extents_;
};

std::ostream& operator<<(std::ostream& out, const Shape& shape);  // (8, 3, 224, 224)

using Shapes = std::span<const Shape>;

}  // namespace tbd
