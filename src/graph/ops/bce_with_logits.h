#pragma once
#include "graph/ops/common.h"

namespace tbd {

// Binary cross-entropy of sigmoid(z): the sum of w (max(z, 0) - z t + log(1 + exp(-|z|))). Logits z and target t of one
// shape, t between 0 and 1; weights w have that shape, or its leading axes, one or more. Result: a scalar. Gradient:
// w (sigmoid(z) - t), of the logits alone.
struct BceWithLogits {
  static constexpr std::string_view kKind = "bce_with_logits";
  static constexpr OperandRule kOperands[] = {{"logits"}, {"target", Role::target}, {"weights", Role::places}};
  bool operator==(const BceWithLogits&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, BceWithLogits>
void fields(Op&, Visit) {}
std::vector<Shape> output_shapes(const BceWithLogits& op, Shapes in);
Cost forward_cost(const BceWithLogits& op, const Operands& o);
Cost backward_cost(const BceWithLogits& op, const Operands& o);
Traits traits(const BceWithLogits& op);
Rounding rounding(const BceWithLogits& op, Shapes in);
std::optional<PythonCall> python_call(const BceWithLogits& op, const PythonNode& in);

}  // namespace tbd
