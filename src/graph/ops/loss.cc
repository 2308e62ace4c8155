#include "graph/ops/loss.h"

namespace tbd {

std::vector<Shape> output_shapes(const SoftmaxCrossEntropy& op, Shapes in) {
  require(in.size() == 2, "expected logits and label, got ", in.size(), " operands");
  require(in[0].rank() == 2, "expected logits (N, classes), got ", in[0]);
  require(in[1] == Shape{in[0][0]}, "label is ", in[1], ", expected (", in[0][0], ")");
  require(op.smoothing >= 0 && op.smoothing < 1, "smoothing=", op.smoothing, " is outside [0, 1)");
  return {Shape{}};
}

// Log-softmax takes 4 per element, an exponential per element and a logarithm per row; the label's term one per row.
// With smoothing: the sum of the row, and both terms scaled and added.
Cost forward_cost(const SoftmaxCrossEntropy& op, const Operands& o) {
  const int64_t rows = o.in[0][0], elements = o.in[0].elements();
  const int64_t smoothed = op.smoothing > 0 ? elements + 3 * rows : 0;
  return {.simd = 4 * elements + rows + smoothed, .trans = elements + rows, .bytes = bytes_touched_forward(o)};
}
// From the log-probabilities: exponentials, scaled by the upstream gradient, less the target.
Cost backward_cost(const SoftmaxCrossEntropy& op, const Operands& o) {
  if (!o.needs(0)) return {};
  const int64_t rows = o.in[0][0], elements = o.in[0].elements();
  const int64_t smoothed = op.smoothing > 0 ? elements : 0;
  return {.simd = elements + rows + smoothed, .trans = elements, .bytes = 2 * o.in_bytes(0) + o.in_bytes(1)};
}
Traits traits(const SoftmaxCrossEntropy&) { return {.saves_inputs = {0, 1}, .precision = PrecisionRule::full}; }

std::vector<Shape> output_shapes(const SquaredError&, Shapes in) {
  require(in.size() == 2 && in[0] == in[1], "expected two operands of one shape, got ", in[0], " and ",
          in.size() < 2 ? in[0] : in[1]);
  return {Shape{}};
}
Cost forward_cost(const SquaredError&, const Operands& o) {
  return {.simd = 3 * o.in[0].elements(), .bytes = bytes_touched_forward(o)};
}
// da = (a - b) * 2 dy; db = -da, or (b - a) * 2 dy where it is alone.
Cost backward_cost(const SquaredError&, const Operands& o) {
  const int64_t gradients = o.needs(0) + o.needs(1);
  if (gradients == 0) return {};
  return {.simd = (1 + gradients) * o.in[0].elements(), .bytes = (2 + gradients) * o.in_bytes(0)};
}
Traits traits(const SquaredError&) { return {.saves_inputs = {0, 1}, .precision = PrecisionRule::full}; }

}  // namespace tbd
