// What every op of the closed set declares, and the small types their attributes use.
//
// For an op struct X (a plain struct with kKind, kOperands and fields), its file declares
//   Shapes of its results     std::vector<Shape> output_shapes(const X&, Shapes in)     throws Error(invalid)
//   Its parameters            std::vector<ParameterSpec> parameters(const X&, const Shape& x)   (none by default)
//   Its cost                  Cost forward_cost(const X&, const Operands&), and backward_cost alike
//   What its backward keeps   int64_t kept_bytes(const X&, const Operands&)                 (0 by default)
//   Its traits                Traits traits(const X&)
//   How it rounds             Rounding rounding(const X&, Shapes in)
// and, where the defaults below do not say it, by overloads: how many data operands it has, their roles and integers,
// the types of its results, its gradient as nodes (write_gradient), itself in Python (python_call). `in` lists the data
// operands first, then parameters and buffers in the order of `parameters`.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <ostream>
#include <span>
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

// How a parameter starts: drawn from the stream of its own name, one sample per element (docs/conventions.md).
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

// What an operand is to its op.
enum class Role {
  data,     // floats that gradients pass
  moved,    // of any type: the result has the same elements, elsewhere
  any,      // of any type
  target,   // floats that no gradient passes, as none passes those that follow
  places,   // 0 or 1: which places hold tokens; or by how much each row counts
  scores,   // added to scores: 0, or -1e4 at places that none shall read
  mask,     // 0 or 1: what dropout keeps
  label,    // integers, as those that follow: the class of each row
  index,    // which rows are read
  length,   // of each sample
  integer,  // others
};
constexpr bool is_integer(Role role) { return role >= Role::label; }
constexpr bool is_constant(Role role) { return role >= Role::target && role <= Role::mask; }

enum class Count { one, optional, many };  // many: one or more

// An operand before the parameters; an op lists its own in `kOperands`, those that may be absent last, and no more than
// one of them many.
struct OperandRule {
  std::string_view name;  // as errors call it; empty: "operand 0"
  Role role = Role::data;
  Count count = Count::one;
};
// Of `given` operands those that the rules are for: the nearest number that they allow.
size_t count_of(std::span<const OperandRule> rules, size_t given);
// The rule of one of `data` operands.
const OperandRule& rule_of(std::span<const OperandRule> rules, size_t operand, size_t data);

struct IntegerRange {
  int64_t first = 0, last = 1;
  std::optional<int64_t> besides = {};  // an ignored label beyond the classes, with labels between that are neither
  bool operator==(const IntegerRange&) const = default;
};
// What the integers of an operand may be, and how far that binds.
struct Integers {
  enum class Bound {
    loose,   // says what makes sense
    drawn,   // generated integers keep it, those of a file need not
    strict,  // an integer outside would read what is not there
  };
  IntegerRange range = {};
  Bound bound = Bound::loose;
};

struct ParameterSpec {
  std::string suffix;  // "weight" of "layer1.0.conv1.weight"
  Shape shape;
  Init init;
  bool buffer = false;  // state that no gradient reaches: running statistics
  bool moves = true;    // of a buffer: forward writes it
};

// Counts of one op in one direction (docs/flops.md). A multiply-accumulate is 2.
struct Cost {
  int64_t model = 0;  // matrix-like work, dense: padding taps and masked pairs included
  int64_t valid = 0;  // the same without them
  int64_t simd = 0;   // elementwise adds, multiplies, compares, selects
  int64_t trans = 0;  // exp, log, sqrt, tanh, ...
  int64_t bytes = 0;  // each distinct operand read once, each result written once
  Cost& operator+=(const Cost& o) {
    model += o.model;
    valid += o.valid;
    simd += o.simd;
    trans += o.trans;
    bytes += o.bytes;
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
  bool saves_all_inputs = false;   // or all of them, however many
  bool saves_output = false;       // backward reads the result
  std::vector<int> may_overwrite;  // operands whose storage the result may take
  bool aliases_input = false;      // the result is a view of operand 0
  bool differentiable = true;
  bool passes_gradient = false;  // the operands' gradients are the result's, or parts of it
  // Data operands from this one on share their rows: row i of the result reads row i of them and of no other. -1: rows
  // meet.
  int rows_from = -1;
  bool images = true;  // operands of rank 4 are images (N, C, H, W), not heads or scores
  PrecisionRule precision = PrecisionRule::keep;
};

// How far an op may lie from the same op in float64 on the same operands and upstream gradients: c x epsilon x
// sqrt(reduction), of max |reference|, for each result, gradient and buffer. c is about four times what PyTorch shows
// against its own float64 over tests/op_cases.cc in fp32 and bf16, at least the one rounding that every result has, and
// more where the op says why.
struct Rounding {
  double c = 1;
  int64_t reduction = 1;  // the longest sum among results and gradients
  bool smooth = true;     // not: an operand's rounding may choose another branch
};
// Terms of a sum over all but the channels of (N, C, ...).
int64_t per_channel(const Shape& x);

// Weights of x that have its shape, or its leading axes, one or more. Throws Error(invalid) where they do not.
void require_leading(std::string_view name, const Shape& weights, const Shape& x);
// Their shape with axes of 1 behind it, as many as x has.
Shape spread_weights(const Shape& weights, const Shape& x);

// Most ops have no parameters; those that do overload this.
template <class Op>
std::vector<ParameterSpec> parameters(const Op&, const Shape&) {
  return {};
}

// Data operands among `given`, which are all of a node, or these alone. Ops with parameters whose number of data
// operands varies overload this.
template <class Op>
size_t data_operands(const Op&, size_t given) {
  return count_of(Op::kOperands, given);
}
// `in`: all operands of a node. Ops whose optional operands are told apart by their shapes overload this.
template <class Op>
Role role(const Op& op, size_t operand, Shapes in) {
  const size_t data = data_operands(op, in.size());
  return operand < data ? rule_of(Op::kOperands, operand, data).role : Role::data;  // of parameters
}

// An op has one result, or says how many by kResults.
template <class Op>
constexpr size_t results_of() {
  if constexpr (requires { Op::kResults; })
    return Op::kResults;
  else
    return 1;
}
template <class Op>
size_t result_count(const Op&) {
  return results_of<Op>();
}
// The type of operand 0, and no dropout, unless the op overloads these.
template <class Op>
DType output_dtype(const Op&, size_t, std::span<const DType> in) {
  return in[0];
}
template <class Op>
std::optional<double> dropout_rate(const Op&) {
  return std::nullopt;
}
// For the pass that makes all floats double: attributes that are types.
template <class Op>
void make_double(Op&) {}
constexpr DType doubled(DType dtype) { return is_float(dtype) ? DType::f64 : dtype; }

// An op as Python, over the names x0, x1, weight, bias, ... of its operands.
struct PythonCall {
  std::string y;            // an expression; of several results a tuple of them
  std::string before = {};  // definitions that it needs
};
class PythonNode;  // graph/ops/python.h
// Where there is no text for it in the node's framework: nullopt.
template <class Op>
std::optional<PythonCall> python_call(const Op&, const PythonNode&) {
  return std::nullopt;
}

// Writes the gradient of the node's operands, given that of its result, as nodes: the rule by which expand (graph/
// expand.h) differentiates it twice. false: there is none for it.
class GradientWriter;  // graph/ops/gradient_writer.h
template <class Op>
bool write_gradient(const Op&, GradientWriter&, const std::string&) {
  return false;
}

// What the op takes as integers of that operand, given what is taken of its result: the same, unless the op overloads
// this.
template <class Op>
Integers allowed_integers(const Op&, size_t, Shapes, const Integers& result) {
  return result;
}

// Bytes that backward keeps beside operands and results: what was drawn, probabilities, gates. The memory prediction
// adds them; they are what PyTorch keeps on a CPU, where frameworks differ.
template <class Op>
int64_t kept_bytes(const Op&, const Operands&) {
  return 0;
}

}  // namespace tbd
