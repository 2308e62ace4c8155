#include "graph/ops/clip.h"

namespace tbd {

std::vector<Shape> output_shapes(const Clamp& op, Shapes in) {
  require(op.low < op.high, "low=", op.low, " is not below high=", op.high);
  return {in[0]};
}
// A compare-and-select for each bound, in both directions.
Cost forward_cost(const Clamp&, const Operands& o) {
  return {.simd = 2 * o.in[0].elements(), .bytes = bytes_touched_forward(o)};
}
Cost backward_cost(const Clamp&, const Operands& o) {
  if (!o.needs(0)) return {};
  return {.simd = 2 * o.in[0].elements(), .bytes = o.out_bytes() + 2 * o.in_bytes(0)};
}
Traits traits(const Clamp&) { return {.saves_inputs = {0}}; }
Rounding rounding(const Clamp&, Shapes) { return {1}; }

std::vector<Shape> output_shapes(const Greater&, Shapes in) { return {in[0]}; }
Cost forward_cost(const Greater&, const Operands& o) {
  return {.simd = o.in[0].elements(), .bytes = bytes_touched_forward(o)};
}
Cost backward_cost(const Greater&, const Operands&) { return {}; }
Traits traits(const Greater&) { return {.differentiable = false}; }
Rounding rounding(const Greater&, Shapes) { return {0}; }

}  // namespace tbd
