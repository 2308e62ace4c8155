// What ops need to spell themselves as Python in a reproduction script, over the names x0, x1, weight, bias, ... of
// their operands, for the frameworks whose Python interface this program knows.
#pragma once
#include "graph/ops/common.h"

namespace tbd {

class PythonNode {
 public:
  enum class Framework { torch, tensorflow, mxnet };
  // `in` and `names`: of the operands, parameters included ("n3.x0", "n3.weight").
  PythonNode(Framework framework, Shapes in, std::span<const std::string> names)
      : framework_(framework), in_(in), names_(names) {}

  bool is(Framework framework) const { return framework_ == framework; }
  const Shape& x(size_t operand) const { return in_[operand]; }
  Shapes shapes() const { return in_; }
  bool has(std::string_view parameter) const;
  std::string optional(std::string_view parameter) const;  // its name, or "None"
  // Operand i as it was given, before the framework took it.
  std::string given(size_t operand) const;

  std::string pick(std::string torch, std::string tensorflow, std::string mxnet) const;
  PythonCall one_of(std::string torch, std::string tensorflow, std::string mxnet) const;
  // `y` is written over a dozen words that each framework's text defines for itself: constant, concat, log_softmax,
  // matmul, permute, repeat, reshape, sigmoid, softmax, stack, tanh, total; and over what `before` defines.
  PythonCall composed(std::string y, const std::string& before = "") const;

  // x0 (N, C, H, W) with these pads, of zeros or of the lowest number; in TensorFlow its channels are last then, and
  // `channels_first` turns a result back.
  std::string padded(const Pads& pads, bool lowest = false) const;
  std::string channels_first(const std::string& y) const;

 private:
  Framework framework_;
  Shapes in_;
  std::span<const std::string> names_;
};

// The shortest digits that Python reads as the same double.
std::string python_number(double number);
std::string python_bool(bool value);
std::string python_pair(const Extent2& extents);
std::string python_tuple(std::span<const int64_t> numbers);

}  // namespace tbd
