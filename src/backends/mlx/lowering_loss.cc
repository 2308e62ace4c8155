#include <algorithm>

#include "backends/mlx/double_math.h"
#include "backends/mlx/lowering.h"
#include "backends/mlx/sums.h"

namespace tbd::mlx {
namespace {

// Weights of leading axes beside x.
array spread_beside(const Args& in, size_t weights, size_t x) {
  return reshaped(in.fixed(weights), spread_weights(in.shape(weights), in.shape(x)));
}

array in_rows(const array& x, const Shape& shape) {
  return reshaped(x, {shape.elements() / shape.back(), shape.back()});
}

// (rows): of -log softmax(logits)_c the label's, and of the smoothing each class's share.
array smoothed_terms(const SoftmaxCrossEntropy& op, const array& logits, const array& label) {
  const array log_sum = exact_log_sum(logits, /*keep_axis=*/false);
  const array own = mx::squeeze(mx::take_along_axis(logits, mx::expand_dims(label, -1), -1), -1);
  if (op.smoothing == 0) return mx::subtract(log_sum, own);
  const double classes = logits.shape(1);
  const double share = op.smoothing / (op.spread == SoftmaxCrossEntropy::Spread::all ? classes : classes - 1);
  const double extra = op.spread == SoftmaxCrossEntropy::Spread::all ? 1 - op.smoothing : 1 - op.smoothing - share;
  const array all = mx::subtract(scaled(log_sum, classes), mx::sum(logits, -1));
  return mx::add(scaled(mx::subtract(log_sum, own), extra), scaled(all, share));
}

}  // namespace

// logits (..., classes), label (...), perhaps weights (...).
Operand lower(const SoftmaxCrossEntropy& op, const Args& in) {
  const array logits = in_rows(in.row(0), in.shape(0)), zero = number(0, in.dtype());
  const array label = mx::reshape(in.fixed(1), {-1});
  const array ignored = mx::equal(label, number(static_cast<double>(op.ignore), in.dtype(1)));
  const bool ignores = op.ignore >= 0;
  array terms = smoothed_terms(op, logits, ignores ? mx::where(ignored, mx::zeros_like(label), label) : label);
  if (ignores) terms = mx::where(ignored, zero, terms);
  if (in.size() > 2) terms = mx::multiply(terms, mx::reshape(in.fixed(2), {-1}));
  return {sum_of_all(terms)};
}
LoweredAs lowered_as(const SoftmaxCrossEntropy& op, size_t) {
  const char* ignored = op.ignore >= 0 ? ", where" : "";
  return composed(cat("logsumexp, take_along_axis, subtract, sum", ignored, "; in fp64 power and log for logsumexp"));
}

Operand lower(const SoftCrossEntropy&, const Args& in) {
  const array logits = in_rows(in.row(0), in.shape(0)), target = in_rows(in.fixed(1), in.shape(0));
  return {sum_of_all(mx::multiply(target, mx::subtract(exact_log_sum(logits, /*keep_axis=*/true), logits)))};
}
LoweredAs lowered_as(const SoftCrossEntropy&, size_t) {
  return composed("logsumexp, subtract, multiply, sum; in fp64 power and log for logsumexp");
}

Operand lower(const SquaredError&, const Args& in) {
  const Layout layout = in.common();
  return {sum_of_all(mx::square(mx::subtract(in.as(0, layout), in.as(1, layout))))};
}
LoweredAs lowered_as(const SquaredError&, size_t) { return composed("subtract, square, sum"); }

// With c the clamped difference, taken as a constant, c (e - c / 2) has value and gradient of the term.
Operand lower(const Huber& op, const Args& in) {
  const array e = mx::subtract(in.row(0), in.fixed(1));
  const array c = mx::stop_gradient(mx::clip(e, number(-op.delta, in.dtype()), number(op.delta, in.dtype())));
  const array terms = mx::multiply(c, mx::subtract(e, scaled(c, 0.5)));
  return {sum_of_all(mx::multiply(terms, spread_beside(in, 2, 0)))};
}
LoweredAs lowered_as(const Huber&, size_t) { return composed("subtract, clip, multiply, sum"); }

Operand lower(const BceWithLogits&, const Args& in) {
  const array z = in.row(0), terms = mx::subtract(softplus(z), mx::multiply(z, in.fixed(1)));
  return {sum_of_all(mx::multiply(terms, spread_beside(in, 2, 0)))};
}
LoweredAs lowered_as(const BceWithLogits&, size_t) { return composed("logaddexp, multiply, subtract, sum"); }

// With u = -s z: a sigmoid(u)^gamma log(1 + exp(u)).
Operand lower(const SigmoidFocal& op, const Args& in) {
  const DType dtype = in.dtype();
  const int classes = static_cast<int>(in.shape(0).back());
  const array z = in_rows(in.row(0), in.shape(0)), label = mx::reshape(in.fixed(1), {-1, 1});
  const array own = mx::equal(label, mx::arange(classes));
  const array u = mx::where(own, mx::negative(z), z);
  const array wrong = mx::power(exact_sigmoid(u), number(op.gamma, dtype));
  const array counted = mx::not_equal(label, number(SigmoidFocal::kLeftOut, in.dtype(1)));
  const array factor =
      mx::where(counted, mx::where(own, number(op.alpha, dtype), number(1 - op.alpha, dtype)), number(0, dtype));
  return {sum_of_all(mx::multiply(factor, mx::multiply(wrong, softplus(u))))};
}
LoweredAs lowered_as(const SigmoidFocal&, size_t) {
  return composed("equal, where, sigmoid, power, logaddexp, multiply, sum");
}

}  // namespace tbd::mlx
