#include "graph/ops/loss.h"

namespace tbd {

namespace {

Shape rows_of(const Shape& logits) {
  const auto extents = logits.extents();
  return Shape(std::vector<int64_t>(extents.begin(), extents.end() - 1));
}

// Selecting rows that are not ignored, weighing them: one each.
int64_t per_row(const SoftmaxCrossEntropy& op, const Operands& o) { return (op.ignore >= 0) + (o.in.size() > 2); }

}  // namespace

std::vector<Shape> output_shapes(const SoftmaxCrossEntropy& op, Shapes in) {
  require(in.size() == 2 || in.size() == 3, "expected logits and label, perhaps weights, got ", in.size(), " operands");
  require(in[0].rank() >= 2, "expected logits (..., classes), got ", in[0]);
  const Shape rows = rows_of(in[0]);
  require(in[1] == rows, "label is ", in[1], ", expected ", rows);
  require(in.size() < 3 || in[2] == rows, "weights are ", in.back(), ", expected ", rows);
  require(op.smoothing >= 0 && op.smoothing < 1, "smoothing=", op.smoothing, " is outside [0, 1)");
  require(op.ignore >= -1, "ignore=", op.ignore, " is no label");
  require(op.spread == SoftmaxCrossEntropy::Spread::all || in[0].back() > 1, "one class leaves no others");
  return {Shape{}};
}

// Log-softmax takes 4 per element, an exponential per element and a logarithm per row; the label's term one per row.
// With smoothing: the sum of the row, and both terms scaled and added.
Cost forward_cost(const SoftmaxCrossEntropy& op, const Operands& o) {
  const int64_t elements = o.in[0].elements(), rows = elements / o.in[0].back();
  const int64_t smoothed = op.smoothing > 0 ? elements + 3 * rows : 0;
  return {.simd = 4 * elements + (1 + per_row(op, o)) * rows + smoothed,
          .trans = elements + rows,
          .bytes = bytes_touched_forward(o)};
}
// From the log-probabilities: exponentials, scaled by the upstream gradient (of the row, where rows differ), less the
// target.
Cost backward_cost(const SoftmaxCrossEntropy& op, const Operands& o) {
  if (!o.needs(0)) return {};
  const int64_t elements = o.in[0].elements(), rows = elements / o.in[0].back();
  const int64_t smoothed = op.smoothing > 0 ? elements : 0;
  const int64_t weights = o.in.size() > 2 ? o.in_bytes(2) : 0;
  return {.simd = elements + (1 + per_row(op, o)) * rows + smoothed,
          .trans = elements,
          .bytes = 2 * o.in_bytes(0) + o.in_bytes(1) + weights};
}
int64_t kept_bytes(const SoftmaxCrossEntropy&, const Operands& o) { return o.in_bytes(0); }
Traits traits(const SoftmaxCrossEntropy&) {
  return {.saves_inputs = {1, 2}, .precision = PrecisionRule::full, .constants = {2}};
}

std::vector<Shape> output_shapes(const SoftCrossEntropy&, Shapes in) {
  require(in.size() == 2, "expected logits and target, got ", in.size(), " operands");
  require(in[0].rank() >= 2, "expected logits (..., classes), got ", in[0]);
  require(in[1] == in[0], "target is ", in[1], ", expected ", in[0]);
  return {Shape{}};
}
// Log-softmax as above; each element's product with its target and their sum.
Cost forward_cost(const SoftCrossEntropy&, const Operands& o) {
  const int64_t elements = o.in[0].elements(), rows = elements / o.in[0].back();
  return {.simd = 6 * elements, .trans = elements + rows, .bytes = bytes_touched_forward(o)};
}
// dy (exp(log p) sum of the target - target).
Cost backward_cost(const SoftCrossEntropy&, const Operands& o) {
  if (!o.needs(0)) return {};
  const int64_t elements = o.in[0].elements();
  return {.simd = 4 * elements, .trans = elements, .bytes = 2 * o.in_bytes(0) + o.in_bytes(1)};
}
int64_t kept_bytes(const SoftCrossEntropy&, const Operands& o) { return o.in_bytes(0); }
Traits traits(const SoftCrossEntropy&) {
  return {.saves_inputs = {1}, .precision = PrecisionRule::full, .constants = {1}};
}

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
