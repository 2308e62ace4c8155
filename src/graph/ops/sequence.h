// Ops on tokens and positions of sequences: samples first, [N, T, ...].
#pragma once
#include "graph/ops/common.h"

namespace tbd {

// Rows of each sample: x (N, S, ...), positions i32 (N, P) in [0, S) -> (N, P, ...), result[n, p] = x[n, positions[n,
// p]]. Any type of x, which the result has. Gradient to x: sums where a position is taken more than once.
struct Gather {
  static constexpr std::string_view kKind = "gather";
  static constexpr OperandRule kOperands[] = {{"x", Role::moved}, {"positions", Role::index}};
  bool operator==(const Gather&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, Gather>
void fields(Op&, Visit) {}
std::vector<Shape> output_shapes(const Gather& op, Shapes in);
Cost forward_cost(const Gather& op, const Operands& o);
Cost backward_cost(const Gather& op, const Operands& o);
Traits traits(const Gather& op);
Rounding rounding(const Gather& op, Shapes in);
std::optional<PythonCall> python_call(const Gather& op, const PythonNode& in);
Integers allowed_integers(const Gather& op, size_t operand, Shapes in, const Integers& result);

// Rows of a table: ids i32 (...) in [0, rows), weight (rows, width) -> (..., width) in the type of the weight. Gradient
// to the weight: dense, the sum over the places of each id; row `pad` gets none from here (-1: every row does), though
// other uses of a shared weight still reach it. The result at ids of `pad` is that row, which starts as 0.
struct Embedding {
  static constexpr std::string_view kKind = "embedding";
  static constexpr OperandRule kOperands[] = {{"ids", Role::index}};
  int64_t rows = 0;
  int64_t width = 0;
  int64_t pad = -1;
  bool operator==(const Embedding&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, Embedding>
void fields(Op& op, Visit visit) {
  visit("rows", op.rows);
  visit("width", op.width);
  visit("pad", op.pad);
}
std::vector<Shape> output_shapes(const Embedding& op, Shapes in);
// weight ~ N(0, 1), row `pad` 0.
std::vector<ParameterSpec> parameters(const Embedding& op, const Shape& ids);
Cost forward_cost(const Embedding& op, const Operands& o);
Cost backward_cost(const Embedding& op, const Operands& o);
Traits traits(const Embedding& op);
Rounding rounding(const Embedding& op, Shapes in);
std::optional<PythonCall> python_call(const Embedding& op, const PythonNode& in);
inline DType output_dtype(const Embedding&, size_t, std::span<const DType> in) { return in[1]; }
Integers allowed_integers(const Embedding& op, size_t operand, Shapes in, const Integers& result);

// 1 where an integer equals `value`, else 0, in the float type `to` (f64 after the fp64 pass). No gradient.
struct Equals {
  static constexpr std::string_view kKind = "equals";
  static constexpr OperandRule kOperands[] = {{"", Role::integer}};
  int64_t value = 0;
  DType to = DType::f32;
  bool operator==(const Equals&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, Equals>
void fields(Op& op, Visit visit) {
  visit("value", op.value);
  visit("to", op.to);
}
std::vector<Shape> output_shapes(const Equals& op, Shapes in);
Cost forward_cost(const Equals& op, const Operands& o);
Cost backward_cost(const Equals& op, const Operands& o);
Traits traits(const Equals& op);
Rounding rounding(const Equals& op, Shapes in);
std::optional<PythonCall> python_call(const Equals& op, const PythonNode& in);
inline DType output_dtype(const Equals& op, size_t, std::span<const DType>) { return op.to; }
inline void make_double(Equals& op) { op.to = doubled(op.to); }
Integers allowed_integers(const Equals& op, size_t operand, Shapes in, const Integers& result);

// Positions as waves: valid (N, T), 0 or 1 -> (N, T, width) of its type: valid[n, t] times row t of the constant table
// [sin(pos w_j), cos(pos w_j)], j < width / 2, the sines first; pos = first + t, w_j = 10000^(-j / (width / 2 - 1)).
// The table is computed in double and rounded to fp32 (kept double in fp64). width even, at least 4. No gradient.
// Vaswani et al. 2017, arXiv:1706.03762, section 3.5, in the halves of tensor2tensor and fairseq.
struct Sinusoid {
  static constexpr std::string_view kKind = "sinusoid";
  static constexpr OperandRule kOperands[] = {{"valid", Role::places}};
  int64_t first = 0;
  int64_t width = 0;
  bool operator==(const Sinusoid&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, Sinusoid>
void fields(Op& op, Visit visit) {
  visit("first", op.first);
  visit("width", op.width);
}
std::vector<Shape> output_shapes(const Sinusoid& op, Shapes in);
Cost forward_cost(const Sinusoid& op, const Operands& o);
Cost backward_cost(const Sinusoid& op, const Operands& o);
Traits traits(const Sinusoid& op);
Rounding rounding(const Sinusoid& op, Shapes in);
std::optional<PythonCall> python_call(const Sinusoid& op, const PythonNode& in);

}  // namespace tbd
