#pragma once
#include "graph/ops/recurrent.h"

namespace tbd {

// One layer and direction of gated recurrent units, reset after the product. Cho et al. 2014, arXiv:1406.1078, in the
// form of cuDNN and torch; x and the results as lstm (ops/recurrent.h), without c: y (N, T, H), h (N, H).
//   r, z = sigmoid(.) of rows of weight_ih x + bias_ih + weight_hh h + bias_hh
//   n = tanh(row of (weight_ih x + bias_ih) + r row of (weight_hh h + bias_hh)), h' = n + z (h - n)
// Parameters, H = hidden, rows in the order r, z, n: weight_ih (3 H, in), weight_hh (3 H, H), bias_ih (3 H), bias_hh
// (3 H), all U(+-1 / sqrt(H)).
struct Gru {
  static constexpr std::string_view kKind = "gru";
  static constexpr OperandRule kOperands[] = {{"x"}, {"lengths", Role::length, Count::optional}};
  static constexpr size_t kResults = 2;  // y, h
  int64_t hidden = 0;
  bool reverse = false;
  bool operator==(const Gru&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, Gru>
void fields(Op& op, Visit visit) {
  visit("hidden", op.hidden);
  visit("reverse", op.reverse);
}
std::vector<Shape> output_shapes(const Gru& op, Shapes in);
std::vector<ParameterSpec> parameters(const Gru& op, const Shape& x);
Cost forward_cost(const Gru& op, const Operands& o);
Cost backward_cost(const Gru& op, const Operands& o);
// Of each step the gates of x, those of h, n, h - n, and h before the steps are put together.
int64_t kept_bytes(const Gru& op, const Operands& o);
Traits traits(const Gru& op);
Rounding rounding(const Gru& op, Shapes in);
Integers allowed_integers(const Gru& op, size_t operand, Shapes in, const Integers& result);
inline size_t data_operands(const Gru&, size_t given) { return has_lengths(given) ? 2 : 1; }

}  // namespace tbd
