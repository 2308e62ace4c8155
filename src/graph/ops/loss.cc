#include "graph/ops/loss.h"

#include "base/text.h"
#include "graph/ops/python.h"

namespace tbd {

namespace {

Shape rows_of(const Shape& logits) {
  const auto extents = logits.extents();
  return Shape(std::vector<int64_t>(extents.begin(), extents.end() - 1));
}

// Selecting rows that are not ignored, weighing them: one each.
int64_t per_row(const SoftmaxCrossEntropy& op, const Operands& o) { return (op.ignore >= 0) + (o.in.size() > 2); }

// `counts`: by how much each row counts.
constexpr const char* kTarget = R"(

label = LABEL
target = np.full(label.shape + (CLASSES,), SPREAD)
np.put_along_axis(target, np.clip(label, 0, CLASSES - 1)[..., None], TOP, -1)
counts = (label != IGNORE) * WEIGHTS
)";

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
Traits traits(const SoftmaxCrossEntropy&) { return {.saves_inputs = {1, 2}, .precision = PrecisionRule::full}; }
// A sum over rows; the gradient is the exponential of a rounded logarithm, which magnifies the rounding by |log p|.
Rounding rounding(const SoftmaxCrossEntropy&, Shapes in) { return {4, in[0].elements()}; }
std::optional<PythonCall> python_call(const SoftmaxCrossEntropy& op, const PythonNode& in) {
  using enum PythonNode::Framework;
  const bool weighs = in.shapes().size() > 2, all = op.spread == SoftmaxCrossEntropy::Spread::all;
  const int64_t classes = in.x(0).back();
  const std::string smoothing = python_number(op.smoothing);
  if (in.is(torch) && !weighs && (all || op.smoothing == 0))
    return PythonCall{cat("F.cross_entropy(x0.flatten(0, -2), x1.flatten().long(), reduction='sum', label_smoothing=",
                          smoothing, op.ignore < 0 ? "" : cat(", ignore_index=", op.ignore), ")")};
  const std::string before = cat("\nCLASSES, IGNORE = ", classes, ", ", op.ignore, "\nSPREAD = ", smoothing, " / ",
                                 all ? classes : classes - 1, "\nTOP = 1 - ", smoothing, all ? " + SPREAD" : "",
                                 "\nLABEL, WEIGHTS = ", in.given(1), ", ", weighs ? in.given(2) : "1.0", "\n", kTarget);
  if (in.is(tensorflow))
    return in.composed("total(tf.nn.softmax_cross_entropy_with_logits(constant(target), x0) * constant(counts))",
                       before);
  return in.composed("-total(constant(target * counts[..., None]) * log_softmax(x0))", before);
}
// An ignored label that follows the classes is one more; one farther off stands alone.
Integers allowed_integers(const SoftmaxCrossEntropy& op, size_t, Shapes in, const Integers&) {
  const int64_t classes = in[0].back();
  IntegerRange labels = {0, op.ignore == classes ? classes : classes - 1};
  if (op.ignore > classes) labels.besides = op.ignore;
  return {labels, Integers::Bound::strict};
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
Traits traits(const SoftCrossEntropy&) { return {.saves_inputs = {1}, .precision = PrecisionRule::full}; }
Rounding rounding(const SoftCrossEntropy&, Shapes in) { return {4, in[0].elements()}; }

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
Rounding rounding(const SquaredError&, Shapes in) { return {1, in[0].elements()}; }
std::optional<PythonCall> python_call(const SquaredError&, const PythonNode& in) {
  return in.one_of("((x0 - x1) ** 2).sum()", "tf.reduce_sum((x0 - x1) ** 2)", "mx.nd.sum((x0 - x1) ** 2)");
}

}  // namespace tbd
