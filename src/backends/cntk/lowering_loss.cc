#include "backends/cntk/lowering.h"

namespace tbd::cntk {
namespace {

// Labels (...) as rows of one number: {1, ...}.
Tensor rows_of(const Tensor& x) {
  std::vector<int64_t> extents(x.shape.extents().begin(), x.shape.extents().end());
  if (!x.batched || x.shape.rank() > 1) extents.push_back(1);
  return x.batched && x.shape.rank() == 1 ? x : reshaped(x, Shape(extents));
}

// 1 at the label of each row; labels of no class, as ignored ones, become class 0 and are taken out by `counted`.
CNTK::Variable one_hot(const Tensor& label, int64_t classes, const CNTK::Variable& counted) {
  const CNTK::Variable valid = times(*rows_of(label), counted);
  CNTK::Axis axis(0);
  const size_t rank = valid.Shape().extents.size();
  CNTK::NDShape flat = valid.Shape();
  flat.extents.erase(flat.extents.begin());
  if (flat.extents.empty()) flat.extents.push_back(1);
  const CNTK::Variable places = CNTK::Reshape(valid, flat, CNTK::Axis(0), CNTK::Axis(static_cast<int>(rank)), L"");
  CNTK::Variable hot = CNTK::OneHotOp(places, static_cast<size_t>(classes), false, axis, L"");
  if (rank > 1) return hot;
  return CNTK::Reshape(hot, {{static_cast<size_t>(classes)}}, CNTK::Axis(0), CNTK::Axis(2), L"");
}

// -sum target log softmax(logits) of each row. CNTK's own is right for one row a sample, whose target sums to 1.
CNTK::Variable cross_entropy(const CNTK::Variable& logits, const CNTK::Variable& target) {
  if (logits.Shape().extents.size() == 1) return CNTK::CrossEntropyWithSoftmax(logits, target, CNTK::Axis(0), L"");
  const CNTK::Variable log = CNTK::LogSoftmax(logits, CNTK::Axis(0), L"");
  return CNTK::Negate(sum_over(times(target, log), 0), L"");
}

// The same for targets of any sum, to the rounding of its type: sum target times log sum exp z, less sum target z.
CNTK::Variable open_cross_entropy(const CNTK::Variable& logits, const CNTK::Variable& target) {
  const CNTK::Variable largest = CNTK::StopGradient(CNTK::ReduceMax(logits, CNTK::Axis(0), L""), L"");
  const CNTK::Variable z = minus(logits, largest);
  const CNTK::Variable log_sum = CNTK::Log(sum_over(CNTK::Exp(z, L""), 0), L"");
  return minus(times(sum_over(target, 0), log_sum), sum_over(times(target, z), 0));
}

CNTK::Variable smoothed(const SoftmaxCrossEntropy& op, const Args& in, const CNTK::Variable& hot, int64_t classes) {
  if (op.smoothing == 0) return hot;
  const bool all = op.spread == SoftmaxCrossEntropy::Spread::all;
  const double rest = op.smoothing / static_cast<double>(all ? classes : classes - 1);
  return plus(times(hot, in.scalar(1 - op.smoothing - (all ? 0 : rest))), in.scalar(rest));
}

// Weights that have the leading axes of x, with axes of 1 behind them, in the form of x.
CNTK::Variable spread(const Args& in, size_t operand, const Tensor& x) {
  const Tensor weights = x.batched ? in.batched(operand) : in[operand];
  return *reshaped(weights, spread_weights(weights.shape, x.shape));
}

// Operands of a loss in one form; OneHotOp differentiates nothing but samples.
std::vector<Tensor> in_one_form(const Args& in) {
  std::vector<Tensor> out;
  for (size_t i = 0; i < in.size(); ++i) out.push_back(in.batched(i));
  return out;
}

}  // namespace

Tensor lower(const SoftmaxCrossEntropy& op, const Args& in) {
  const std::vector<Tensor> x = in_one_form(in);
  const int64_t classes = in.shape(0).back();
  const CNTK::Variable counted = CNTK::NotEqual(*rows_of(x[1]), in.scalar(static_cast<double>(op.ignore)), L"");
  const CNTK::Variable target = smoothed(op, in, one_hot(x[1], classes, counted), classes);
  CNTK::Variable terms = times(cross_entropy(*x[0], target), counted);
  if (in.size() > 2) terms = times(terms, CNTK::Variable(CNTK::StopGradient(*rows_of(x[2]), L"")));
  return total(terms, in);
}
LoweredAs lowered_as(const SoftmaxCrossEntropy&, size_t) { return composed("OneHotOp, CrossEntropyWithSoftmax"); }

Tensor lower(const SoftCrossEntropy&, const Args& in) {
  const std::vector<Tensor> x = in_one_form(in);
  return total(open_cross_entropy(*x[0], CNTK::StopGradient(*x[1], L"")), in);
}
LoweredAs lowered_as(const SoftCrossEntropy&, size_t) {
  return composed("Exp, Log, ReduceMax, ReduceSum, ElementTimes");
}

Tensor lower(const SquaredError&, const Args& in) {
  const std::vector<Tensor> x = in.alike();
  return total(CNTK::Square(minus(*x[0], *x[1]), L""), in);
}
LoweredAs lowered_as(const SquaredError&, size_t) { return composed("Minus, Square, ReduceSum"); }

Tensor lower(const CtcLoss&, const Args&) { fail(ErrorKind::unsupported, "not lowered"); }
LoweredAs lowered_as(const CtcLoss&, size_t) {
  return unsupported("CNTK's ForwardBackward gives values below 0, which no probability has");
}

// max(z, 0) - z t + log(1 + exp(-|z|)).
Tensor lower(const BceWithLogits&, const Args& in) {
  const std::vector<Tensor> x = in_one_form(in);
  const CNTK::Variable z = *x[0], target = CNTK::StopGradient(*x[1], L"");
  const CNTK::Variable tail =
      CNTK::Log(plus(CNTK::Exp(CNTK::Variable(CNTK::Negate(CNTK::Abs(z, L""), L"")), L""), in.scalar(1)), L"");
  const CNTK::Variable terms = plus(minus(CNTK::ReLU(z, L""), times(z, target)), tail);
  return total(times(terms, CNTK::StopGradient(spread(in, 2, x[0]), L"")), in);
}
LoweredAs lowered_as(const BceWithLogits&, size_t) { return composed("ReLU, Abs, Exp, Log, ElementTimes"); }

// With q = clip(e, -delta, delta): q (e - q / 2), whose gradient is q where q is not differentiated.
Tensor lower(const Huber& op, const Args& in) {
  const std::vector<Tensor> x = in_one_form(in);
  const CNTK::Variable e = minus(*x[0], CNTK::StopGradient(*x[1], L""));
  const CNTK::Variable q = CNTK::StopGradient(CNTK::Clip(e, in.scalar(-op.delta), in.scalar(op.delta), L""), L"");
  const CNTK::Variable terms = times(q, minus(e, times(q, in.scalar(0.5))));
  return total(times(terms, CNTK::StopGradient(spread(in, 2, x[0]), L"")), in);
}
LoweredAs lowered_as(const Huber&, size_t) { return composed("Minus, Clip, ElementTimes, ReduceSum"); }

Tensor lower(const SigmoidFocal&, const Args&) { fail(ErrorKind::unsupported, "not lowered"); }
LoweredAs lowered_as(const SigmoidFocal&, size_t) {
  return unsupported("no network that runs here has a focal loss: it is not composed of CNTK's ops");
}

}  // namespace tbd::cntk
