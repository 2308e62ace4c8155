#pragma once
#include "graph/ops/common.h"

namespace tbd {

// Sum over rows of -sum_c target_c log softmax(logits)_c; a loss term, made a mean by the program's norm/<term>.
// Operands: logits (..., classes) of rank 2 or more; label i32 (...), one a row; optionally weights (...) in the type
// of the logits, by which each row's term is multiplied. Result: a scalar of the logits' type. Gradient: of the logits
// alone. Target of smoothing e, spread `all`: (1 - e) onehot + e / classes over all classes (Szegedy et al. 2016,
// arXiv:1512.00567, section 7); spread `others`: 1 - e for the label and e / (classes - 1) for each other class.
// A row whose label is `ignore` counts nothing and gets no gradient; -1: no label is ignored.
struct SoftmaxCrossEntropy {
  static constexpr std::string_view kKind = "softmax_cross_entropy";
  static constexpr OperandRule kOperands[] = {
      {"logits"}, {"label", Role::label}, {"weights", Role::places, Count::optional}};
  enum class Spread { all, others };
  double smoothing = 0;
  Spread spread = Spread::all;
  int64_t ignore = -1;
  bool operator==(const SoftmaxCrossEntropy&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, SoftmaxCrossEntropy>
void fields(Op& op, Visit visit) {
  visit("smoothing", op.smoothing);
  visit("spread", op.spread);
  visit("ignore", op.ignore);
}
std::vector<Shape> output_shapes(const SoftmaxCrossEntropy& op, Shapes in);
Cost forward_cost(const SoftmaxCrossEntropy& op, const Operands& o);
Cost backward_cost(const SoftmaxCrossEntropy& op, const Operands& o);
int64_t kept_bytes(const SoftmaxCrossEntropy& op, const Operands& o);  // the log-probabilities
Traits traits(const SoftmaxCrossEntropy& op);
Rounding rounding(const SoftmaxCrossEntropy& op, Shapes in);
std::optional<PythonCall> python_call(const SoftmaxCrossEntropy& op, const PythonNode& in);
Integers allowed_integers(const SoftmaxCrossEntropy& op, size_t operand, Shapes in, const Integers& result);

// Sum over rows of -sum_c target_c log softmax(logits)_c with any target: logits (..., classes) of rank 2 or more,
// target of the same shape and type, whose rows need not sum to 1. Result: a scalar of the logits' type. Gradient: of
// the logits alone.
struct SoftCrossEntropy {
  static constexpr std::string_view kKind = "soft_cross_entropy";
  static constexpr OperandRule kOperands[] = {{"logits"}, {"target", Role::target}};
  bool operator==(const SoftCrossEntropy&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, SoftCrossEntropy>
void fields(Op&, Visit) {}
std::vector<Shape> output_shapes(const SoftCrossEntropy& op, Shapes in);
Cost forward_cost(const SoftCrossEntropy& op, const Operands& o);
Cost backward_cost(const SoftCrossEntropy& op, const Operands& o);
int64_t kept_bytes(const SoftCrossEntropy& op, const Operands& o);  // the log-probabilities
Traits traits(const SoftCrossEntropy& op);
Rounding rounding(const SoftCrossEntropy& op, Shapes in);

// Sum of squared differences of two tensors of equal shape. Result: a scalar.
struct SquaredError {
  static constexpr std::string_view kKind = "squared_error";
  static constexpr OperandRule kOperands[] = {{"a"}, {"b"}};
  bool operator==(const SquaredError&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, SquaredError>
void fields(Op&, Visit) {}
std::vector<Shape> output_shapes(const SquaredError& op, Shapes in);
Cost forward_cost(const SquaredError& op, const Operands& o);
Cost backward_cost(const SquaredError& op, const Operands& o);
Traits traits(const SquaredError& op);
Rounding rounding(const SquaredError& op, Shapes in);
std::optional<PythonCall> python_call(const SquaredError& op, const PythonNode& in);

}  // namespace tbd
