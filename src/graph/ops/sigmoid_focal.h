#pragma once
#include "graph/ops/common.h"

namespace tbd {

// Focal loss of K classes that exclude nothing. Lin et al. 2017, arXiv:1708.02002, equation 5. Logits z (..., K), class
// i32 (...): 0 to K - 1; -1 for none of them; -2 for a row that counts nothing. Each z is right with q = sigmoid(s z),
// s = 1 at the row's class and -1 elsewhere: the sum of a (1 - q)^gamma (-log q), a = alpha at the class and 1 - alpha
// elsewhere. Result: a scalar. Gradient: s a (1 - q)^gamma (gamma q log q - (1 - q)), of the logits alone.
struct SigmoidFocal {
  static constexpr std::string_view kKind = "sigmoid_focal";
  static constexpr OperandRule kOperands[] = {{"logits"}, {"class", Role::label}};
  static constexpr int64_t kLeftOut = -2;
  double alpha = 0.25;
  double gamma = 2;
  bool operator==(const SigmoidFocal&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, SigmoidFocal>
void fields(Op& op, Visit visit) {
  visit("alpha", op.alpha);
  visit("gamma", op.gamma);
}
std::vector<Shape> output_shapes(const SigmoidFocal& op, Shapes in);
Cost forward_cost(const SigmoidFocal& op, const Operands& o);
Cost backward_cost(const SigmoidFocal& op, const Operands& o);
Traits traits(const SigmoidFocal& op);
Rounding rounding(const SigmoidFocal& op, Shapes in);
std::optional<PythonCall> python_call(const SigmoidFocal& op, const PythonNode& in);
Integers allowed_integers(const SigmoidFocal& op, size_t operand, Shapes in, const Integers& result);

}  // namespace tbd
