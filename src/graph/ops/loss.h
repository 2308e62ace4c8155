#pragma once
#include "graph/ops/common.h"

namespace tbd {

// Sum over rows of -log softmax(logits)[label]; a loss term, made a mean by the program's norm/<term>.
// logits (N, classes), label i32 (N); smoothing `all` e: target (1 - e) onehot + e / classes
// (Szegedy et al. 2016, arXiv:1512.00567, section 7). Result: a scalar.
struct SoftmaxCrossEntropy {
  static constexpr std::string_view kKind = "softmax_cross_entropy";
  double smoothing = 0;
  bool operator==(const SoftmaxCrossEntropy&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, SoftmaxCrossEntropy>
void fields(Op& op, Visit visit) { visit("smoothing", op.smoothing); }
std::vector<Shape> output_shapes(const SoftmaxCrossEntropy& op, Shapes in);
Cost forward_cost(const SoftmaxCrossEntropy& op, const Operands& o);
Cost backward_cost(const SoftmaxCrossEntropy& op, const Operands& o);
Traits traits(const SoftmaxCrossEntropy& op);

// Sum of squared differences of two tensors of equal shape. Result: a scalar.
struct SquaredError {
  static constexpr std::string_view kKind = "squared_error";
  bool operator==(const SquaredError&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, SquaredError>
void fields(Op&, Visit) {}
std::vector<Shape> output_shapes(const SquaredError& op, Shapes in);
Cost forward_cost(const SquaredError& op, const Operands& o);
Cost backward_cost(const SquaredError& op, const Operands& o);
Traits traits(const SquaredError& op);

}  // namespace tbd
