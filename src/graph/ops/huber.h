#pragma once
#include "graph/ops/common.h"

namespace tbd {

// Sum of w (q^2 / 2 + delta (|e| - q)), e = a - b, q = min(|e|, delta): squares near 0, lines beyond. Huber 1964, Ann.
// Math. Statist. 35(1). smooth-L1 of beta is this with delta = beta, over beta. a and b of one shape; weights have that
// shape, or its leading axes, one or more. Result: a scalar. Gradient: w clamp(e, -delta, delta), of a alone.
struct Huber {
  static constexpr std::string_view kKind = "huber";
  static constexpr OperandRule kOperands[] = {{"a"}, {"b", Role::target}, {"weights", Role::places}};
  double delta = 1;
  bool operator==(const Huber&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, Huber>
void fields(Op& op, Visit visit) { visit("delta", op.delta); }
std::vector<Shape> output_shapes(const Huber& op, Shapes in);
Cost forward_cost(const Huber& op, const Operands& o);
Cost backward_cost(const Huber& op, const Operands& o);
Traits traits(const Huber& op);
int64_t kept_bytes(const Huber& op, const Operands& o);  // the weighted slope
Rounding rounding(const Huber& op, Shapes in);
std::optional<PythonCall> python_call(const Huber& op, const PythonNode& in);

}  // namespace tbd
