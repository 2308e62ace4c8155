#include "graph/ops/length.h"

#include <algorithm>

namespace tbd {

std::vector<Shape> output_shapes(const StridedLength& op, Shapes in) {
  require(op.stride > 0, "stride must be positive");
  require(in[0].rank() == 1, "expected lengths (N), got ", in[0]);
  return {in[0]};
}
Cost forward_cost(const StridedLength&, const Operands& o) {
  return {.simd = 3 * o.in[0].elements(), .bytes = bytes_touched_forward(o)};
}
Cost backward_cost(const StridedLength&, const Operands&) { return {}; }
Traits traits(const StridedLength&) { return {.differentiable = false}; }
Rounding rounding(const StridedLength&, Shapes) { return {0}; }
// The longest that gives a length that is still taken.
Integers allowed_integers(const StridedLength& op, size_t, Shapes, const Integers& result) {
  return {{1, (result.range.last - 1) * op.stride + 1}, std::min(result.bound, Integers::Bound::drawn)};
}

std::vector<Shape> output_shapes(const SequenceMask& op, Shapes in) {
  require(in.size() == 2, "expected x and lengths, got ", in.size(), " operands");
  require(op.axis > 0 && op.axis < in[0].rank(), "axis=", op.axis, " is none of ", in[0], " but that of the samples");
  require(in[1] == Shape{in[0][0]}, "lengths are ", in[1], ", expected (", in[0][0], ")");
  return {in[0]};
}
// One select an element, in both directions.
Cost forward_cost(const SequenceMask&, const Operands& o) {
  return {.simd = o.in[0].elements(), .bytes = bytes_touched_forward(o)};
}
Cost backward_cost(const SequenceMask&, const Operands& o) {
  if (!o.needs(0)) return {};
  return {.simd = o.in[0].elements(), .bytes = o.out_bytes() + o.in_bytes(1) + o.in_bytes(0)};
}
Traits traits(const SequenceMask&) { return {.saves_inputs = {1}, .may_overwrite = {0}}; }
Rounding rounding(const SequenceMask&, Shapes) { return {0}; }
Integers allowed_integers(const SequenceMask& op, size_t, Shapes in, const Integers&) {
  return {{1, in[0][op.axis]}, Integers::Bound::drawn};
}

}  // namespace tbd
