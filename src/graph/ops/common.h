// What every op of the closed set declares, and the small types their attributes use.
//
// For an op struct X (a plain struct with kKind and fields), its file declares
//   Shapes of its results     std::vector<Shape> output_shapes(const X&, Shapes in)     throws Error(invalid)
//   Its parameters            std::vector<ParameterSpec> parameters(const X&, const Shape& x)   (none by default)
//   Its cost                  Cost forward_cost(const X&, const Operands&), and backward_cost alike
//   What its backward keeps   int64_t kept_bytes(const X&, const Operands&)                 (0 by default)
//   Its traits                Traits traits(const X&)
// `in` lists the data operands first, then parameters and buffers in the order of `parameters`.
#pragma once
#include <array>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/error.h"
#include "base/shape.h"

namespace tbd {

// Height and width; one number stands for both.
struct Extent2 {
  int64_t h = 1, w = 1;
  constexpr Extent2() = default;
  constexpr Extent2(int64_t both) : h(both), w(both) {}
  constexpr Extent2(int64_t height, int64_t width) : h(height), w(width) {}
  constexpr bool operator==(const Extent2&) const = default;
};

// Explicit padding in elements: TensorFlow's "SAME" on even sizes is not symmetric.
struct Pads {
  int64_t top = 0, bottom = 0, left = 0, right = 0;
  constexpr bool operator==(const Pads&) const = default;
  constexpr bool symmetric() const { return top == bottom && left == right; }
};

// How a parameter starts: drawn from the stream of its own name, one sample per element (models.md 1).
struct Init {
  enum class Kind { zeros, ones, constant, normal, uniform, truncated_normal };
  Kind kind = Kind::zeros;
  double a = 0;              // constant: the value; normal, truncated: sigma; uniform: half-width
  double low = 0, high = 0;  // truncated: the interval
  int64_t zero_row = -1;     // this row of the first axis starts as 0 all the same: an embedding's padding
  bool operator==(const Init&) const = default;
  static constexpr Init normal(double sigma) { return {Kind::normal, sigma}; }
  static constexpr Init uniform(double half_width) { return {Kind::uniform, half_width}; }
  static constexpr Init truncated(double sigma, double low, double high) {
    return {Kind::truncated_normal, sigma, low, high};
  }
};

struct ParameterSpec {
  std::string suffix;  // "weight" of "layer1.0.conv1.weight"
  Shape shape;
  Init init;
  bool buffer = false;  // state that no gradient reaches: running statistics
};

// Counts of one op in one direction (measurement.md 3). A multiply-accumulate is 2.
struct Cost {
  int64_t model = 0;  // matrix-like work, dense: padding taps and masked pairs included
  int64_t valid = 0;  // the same without them
  int64_t simd = 0;   // elementwise adds, multiplies, compares, selects
  int64_t trans = 0;  // exp, log, sqrt, tanh, ...
  int64_t bytes = 0;  // each distinct operand read once, each result written once
  Cost& operator+=(const Cost& o) {
    model += o.model, valid += o.valid, simd += o.simd, trans += o.trans, bytes += o.bytes;
    return *this;
  }
  bool operator==(const Cost&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Cost& cost);

// What a cost rule sees of a node.
struct Operands {
  std::vector<Shape> in, out;
  std::vector<DType> in_dtypes, out_dtypes;
  std::vector<bool> needs_gradient;  // per input; the backward cost counts only these
  bool needs(size_t input) const { return input < needs_gradient.size() && needs_gradient[input]; }
  int64_t in_bytes(size_t i) const { return in[i].elements() * size_of(in_dtypes[i]); }
  int64_t out_bytes(size_t i = 0) const { return out[i].elements() * size_of(out_dtypes[i]); }
};
int64_t bytes_touched_forward(const Operands& o);  // all inputs once + all outputs once
int64_t elements_needing_gradient(const Operands& o);

enum class PrecisionRule {
  low,    // matrix-like: float operands are cast to the low type
  keep,   // runs in the type of its first operand; own parameters stay fp32 (norms compute in fp32 inside)
  match,  // elementwise on several operands: all take the lowest type among them
  full,   // losses: float operands are cast to fp32
};

struct Traits {
  std::vector<int> saves_inputs;   // operands that backward reads
  bool saves_output = false;       // backward reads the result
  std::vector<int> may_overwrite;  // operands whose storage the result may take
  bool aliases_input = false;      // the result is a view of operand 0
  bool differentiable = true;
  PrecisionRule precision = PrecisionRule::keep;
  std::vector<int> constants;  // float operands that no gradient reaches: masks, weights of rows
};

// Most ops have no parameters; those that do overload this.
template <class Op>
std::vector<ParameterSpec> parameters(const Op&, const Shape&) {
  return {};
}

// Bytes that backward keeps beside operands and results: what was drawn, probabilities, gates. The memory prediction
// adds them; they are what PyTorch keeps on a CPU, where frameworks differ.
template <class Op>
int64_t kept_bytes(const Op&, const Operands&) {
  return 0;
}

}  // namespace tbd
