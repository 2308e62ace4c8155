// Elementwise ops with a kink at a given value.
#pragma once
#include "graph/ops/common.h"

namespace tbd {

// y = min(max(x, low), high), low < high. Gradient: 1 inside, 0 outside; at a bound itself it is the framework's own
// (0 or 1: they differ), which matters for no value that is not exactly a bound.
struct Clamp {
  static constexpr std::string_view kKind = "clamp";
  static constexpr OperandRule kOperands[] = {{"x"}};
  double low = 0;
  double high = 1;
  bool operator==(const Clamp&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, Clamp>
void fields(Op& op, Visit visit) {
  visit("low", op.low);
  visit("high", op.high);
}
std::vector<Shape> output_shapes(const Clamp& op, Shapes in);
Cost forward_cost(const Clamp& op, const Operands& o);
Cost backward_cost(const Clamp& op, const Operands& o);
Traits traits(const Clamp& op);
Rounding rounding(const Clamp& op, Shapes in);

// 1 where x > value, else 0, in the type of x. No gradient. With value 0: the derivative of relu.
struct Greater {
  static constexpr std::string_view kKind = "greater";
  static constexpr OperandRule kOperands[] = {{"x"}};
  double value = 0;
  bool operator==(const Greater&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, Greater>
void fields(Op& op, Visit visit) { visit("value", op.value); }
std::vector<Shape> output_shapes(const Greater& op, Shapes in);
Cost forward_cost(const Greater& op, const Operands& o);
Cost backward_cost(const Greater& op, const Operands& o);
Traits traits(const Greater& op);
Rounding rounding(const Greater& op, Shapes in);

}  // namespace tbd
