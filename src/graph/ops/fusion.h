#pragma once
#include "graph/ops/common.h"

namespace tbd {

// Weighted sum of tensors of one shape: x_1, ..., x_k, weight (k) -> sum relu(w_i) x_i / (sum relu(w) + epsilon). Tan
// et al. 2020, arXiv:1911.09070, section 3.3, "fast normalized fusion". plain: the sum of x_1, ..., x_k, without
// weights. Gradient, u that of the result y, S the divisor: of x_i u relu(w_i) / S, of w_i (<u, x_i> - <u, y>) / S
// where it is above 0, else 0.
struct Fusion {
  static constexpr std::string_view kKind = "fusion";
  static constexpr OperandRule kOperands[] = {{"x", Role::data, Count::many}, {"weight"}};
  double epsilon = 1e-4;
  bool plain = false;
  bool operator==(const Fusion&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, Fusion>
void fields(Op& op, Visit visit) {
  visit("epsilon", op.epsilon);
  visit("plain", op.plain);
}
std::vector<Shape> output_shapes(const Fusion& op, Shapes in);
Cost forward_cost(const Fusion& op, const Operands& o);
Cost backward_cost(const Fusion& op, const Operands& o);
Traits traits(const Fusion& op);
Rounding rounding(const Fusion& op, Shapes in);
std::optional<PythonCall> python_call(const Fusion& op, const PythonNode& in);

// How many tensors are added, of a node with so many operands.
constexpr size_t summands(const Fusion& op, size_t operands) { return op.plain ? operands : operands - 1; }

}  // namespace tbd
