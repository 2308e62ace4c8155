// Recurrent ops: one layer and direction each. Hochreiter and Schmidhuber 1997; with forget gates, Gers et al. 2000.
//   i, f, o = sigmoid(.), g = tanh(.) of rows of weight_ih x + bias_ih + weight_hh h + bias_hh in the order i, f, g, o
//   c' = f c + i g, h' = o tanh(c'); no forget-bias constant, no peepholes.
// Parameters, H = hidden: weight_ih (4 H, in), weight_hh (4 H, H), bias_ih (4 H), bias_hh (4 H), all U(+-1 / sqrt(H)).
#pragma once
#include "graph/ops/common.h"

namespace tbd {

// Whether operand 1 of lstm or gru is lengths, of all operands (data and parameters) or of the data alone.
constexpr bool has_lengths(size_t operands) { return operands == 2 || operands == 6; }

// x (N, T, in), and optionally lengths i32 (N) in [1, T] -> y (N, T, H), h (N, H), c (N, H) of the type of x; the state
// starts as 0. With lengths: y is 0 from a sample's length on, h and c are those of its last valid step. reverse: runs
// from the last valid step to the first; y stays in the order of x, h and c are those after step 0.
// Gradient: of x and the parameters, through all three results.
struct Lstm {
  static constexpr std::string_view kKind = "lstm";
  static constexpr OperandRule kOperands[] = {{"x"}, {"lengths", Role::length, Count::optional}};
  static constexpr size_t kResults = 3;  // y, h, c
  int64_t hidden = 0;
  bool reverse = false;
  bool operator==(const Lstm&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, Lstm>
void fields(Op& op, Visit visit) {
  visit("hidden", op.hidden);
  visit("reverse", op.reverse);
}
std::vector<Shape> output_shapes(const Lstm& op, Shapes in);
std::vector<ParameterSpec> parameters(const Lstm& op, const Shape& x);
Cost forward_cost(const Lstm& op, const Operands& o);
Cost backward_cost(const Lstm& op, const Operands& o);
// Of each step the four gates, c, tanh(c), and h before the steps are put together.
int64_t kept_bytes(const Lstm& op, const Operands& o);
Traits traits(const Lstm& op);
Rounding rounding(const Lstm& op, Shapes in);
std::optional<PythonCall> python_call(const Lstm& op, const PythonNode& in);
Integers allowed_integers(const Lstm& op, size_t operand, Shapes in, const Integers& result);
inline size_t data_operands(const Lstm&, size_t given) { return has_lengths(given) ? 2 : 1; }

// One step: x (N, in), h (N, H), c (N, H) -> h' (N, H), c' (N, H). Gradient: of all three and the parameters.
struct LstmCell {
  static constexpr std::string_view kKind = "lstm_cell";
  static constexpr OperandRule kOperands[] = {{"x"}, {"h"}, {"c"}};
  static constexpr size_t kResults = 2;  // h, c
  int64_t hidden = 0;
  bool operator==(const LstmCell&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, LstmCell>
void fields(Op& op, Visit visit) { visit("hidden", op.hidden); }
std::vector<Shape> output_shapes(const LstmCell& op, Shapes in);
std::vector<ParameterSpec> parameters(const LstmCell& op, const Shape& x);
Cost forward_cost(const LstmCell& op, const Operands& o);
Cost backward_cost(const LstmCell& op, const Operands& o);
int64_t kept_bytes(const LstmCell& op, const Operands& o);  // the four gates and tanh(c')
Traits traits(const LstmCell& op);
Rounding rounding(const LstmCell& op, Shapes in);
std::optional<PythonCall> python_call(const LstmCell& op, const PythonNode& in);

}  // namespace tbd
