#include "backends/tensorflow/lowering.h"

namespace tbd::tensorflow {
namespace {

TF_Output sum_all(const Args& in, TF_Output x, int64_t rank) {
  std::vector<int64_t> axes;
  for (int64_t axis = 0; axis < rank; ++axis) axes.push_back(axis);
  return in.reduce("Sum", x, axes, false);
}

// The rows of a cross-entropy: logits (rows, classes), label (rows).
struct Rows {
  const SoftmaxCrossEntropy& op;
  const Args& in;
  int64_t classes, count;
  TF_Output logits, label;

  Rows(const SoftmaxCrossEntropy& cross_entropy, const Args& args)
      : op(cross_entropy),
        in(args),
        classes(args[0].shape.back()),
        count(args[0].shape.elements() / classes),
        logits(args.row(0)),
        label(args.row(1)) {
    if (in[0].shape.rank() != 2) {
      logits = in.reshape(logits, {count, classes});
      label = in.reshape(label, {count});
    }
  }
  DType dtype() const { return in[0].dtype; }
  TF_Output counts() const {
    return in.binary("NotEqual", label, in.number(static_cast<double>(op.ignore), label_type()));
  }
  DType label_type() const { return in[1].dtype; }
  TF_Output target() const;
  TF_Output terms() const;
};

// (rows, classes): what is left of 1 for the label, and each class's share of the smoothing.
TF_Output Rows::target() const {
  const bool all = op.spread == SoftmaxCrossEntropy::Spread::all;
  const double share = op.smoothing / static_cast<double>(all ? classes : classes - 1);
  return in.op("OneHot")
      .in(label)
      .in(in.number(static_cast<double>(classes), DType::i32))
      .in(in.number(1 - op.smoothing + (all ? share : 0), dtype()))
      .in(in.number(share, dtype()))
      .out();
}

// (rows): -sum_c target_c log softmax(logits)_c.
TF_Output Rows::terms() const {
  if (op.smoothing == 0) {
    TF_Output inside = label;  // the kernel refuses a label that is no class
    if (op.ignore >= classes) inside = in.op("SelectV2").in(counts()).in(label).in(in.number(0, label_type())).out();
    return in.binary("SparseSoftmaxCrossEntropyWithLogits", logits, inside);
  }
  if (dtype() != DType::f64) return in.binary("SoftmaxCrossEntropyWithLogits", logits, target());
  const int64_t last[] = {1};  // the gradient of the fused op fails in double
  return in.unary("Neg", in.reduce("Sum", in.binary("Mul", in.unary("LogSoftmax", logits), target()), last, false));
}

}  // namespace

// logits (..., classes), label (...), perhaps weights (...).
Operand lower(const SoftmaxCrossEntropy& op, const Args& in) {
  const Rows rows(op, in);
  TF_Output terms = rows.terms();
  if (op.ignore >= 0) terms = in.op("SelectV2").in(rows.counts()).in(terms).in(in.number(0, rows.dtype())).out();
  if (in.size() > 2) terms = in.binary("Mul", terms, in.reshape(in.detached(2), {rows.count}));
  return {sum_all(in, terms, 1)};
}
LoweredAs lowered_as(const SoftmaxCrossEntropy& op, size_t) {
  const char* ignored = op.ignore >= 0 ? ", SelectV2" : "";
  if (op.smoothing == 0) return native(cat("SparseSoftmaxCrossEntropyWithLogits", ignored, "; with weights Mul"));
  return native(cat("OneHot, SoftmaxCrossEntropyWithLogits", ignored, "; with weights Mul; in fp64 LogSoftmax, Mul"));
}

// In rows: LogSoftmax has a wrong gradient above rank 2, the fused op one that takes targets to sum to 1.
Operand lower(const SoftCrossEntropy&, const Args& in) {
  const Shape& shape = in[0].shape;
  const Shape rows = {shape.elements() / shape.back(), shape.back()};
  const auto as_rows = [&](TF_Output x) { return shape.rank() == 2 ? x : in.reshape(x, rows); };
  const TF_Output logs = in.unary("LogSoftmax", as_rows(in.row(0)));
  return {in.unary("Neg", sum_all(in, in.binary("Mul", logs, as_rows(in.detached(1))), 2))};
}
LoweredAs lowered_as(const SoftCrossEntropy&, size_t) {
  return composed("LogSoftmax, Mul, Sum: the fused op's gradient takes targets to sum to 1");
}

Operand lower(const SquaredError&, const Args& in) {
  const Layout layout = in[0].layout;
  return {sum_all(in, in.binary("SquaredDifference", in[0].output, in.as(1, layout)), in[0].shape.rank())};
}
LoweredAs lowered_as(const SquaredError&, size_t) { return native("SquaredDifference, Sum"); }

// With c the clamped difference, taken as a constant, c (e - c / 2) has value and gradient of the term.
Operand lower(const Huber& op, const Args& in) {
  const DType dtype = in[0].dtype;
  const TF_Output e = in.binary("Sub", in.row(0), in.detached(1));
  const TF_Output clamped =
      in.op("ClipByValue").in(e).in(in.number(-op.delta, dtype)).in(in.number(op.delta, dtype)).out();
  const TF_Output c = in.unary("StopGradient", clamped);
  const TF_Output terms = in.binary("Mul", c, in.binary("Sub", e, in.times(c, 0.5, dtype)));
  const TF_Output weights = in.reshape(in.detached(2), spread_weights(in[2].shape, in[0].shape));
  return {sum_all(in, in.binary("Mul", terms, weights), in[0].shape.rank())};
}
LoweredAs lowered_as(const Huber&, size_t) { return composed("Sub, ClipByValue, Mul, Sum"); }

Operand lower(const BceWithLogits&, const Args& in) {
  const TF_Output z = in.row(0);
  const TF_Output terms = in.binary("Sub", in.unary("Softplus", z), in.binary("Mul", z, in.detached(1)));
  const Shape spread = in.with_rows_of(2, spread_weights(in[2].shape, in[0].shape));
  const TF_Output weights = in.reshape(in.detached(2), spread);
  return {sum_all(in, in.binary("Mul", terms, weights), in[0].shape.rank())};
}
LoweredAs lowered_as(const BceWithLogits&, size_t) { return composed("Softplus, Mul, Sub, Sum"); }

// The value is computed once, and beside it the slope, by which the logits enter as a difference of 0 from themselves:
// backward keeps one map of their size, where the parts' own gradients would keep five.
Operand lower(const SigmoidFocal& op, const Args& in) {
  const Operand& logits = in[0];
  const DType dtype = logits.dtype, integer = in[1].dtype;
  const int64_t classes = logits.shape.back(), rows = in[1].shape.elements();
  const TF_Output z = in.reshape(in.row(0), {rows, classes}), label = in.reshape(in.row(1), {rows});
  const TF_Output fixed = in.unary("StopGradient", z);
  const auto at_class = [&](double there, double elsewhere) {
    const TF_Output count = in.number(static_cast<double>(classes), DType::i32);
    return in.op("OneHot").in(label).in(count).in(in.number(there, dtype)).in(in.number(elsewhere, dtype)).out();
  };
  const auto product = [&](TF_Output a, TF_Output b) { return in.binary("Mul", a, b); };
  const TF_Output side = at_class(-1, 1), u = product(side, fixed), wrong = in.unary("Sigmoid", u);
  const TF_Output left_out = in.number(static_cast<double>(SigmoidFocal::kLeftOut), integer);
  const TF_Output kept = in.op("Cast").in(in.binary("NotEqual", label, left_out)).type("DstT", dtype).out();
  const TF_Output share = product(at_class(op.alpha, 1 - op.alpha), in.reshape(kept, {rows, 1}));
  const TF_Output power = product(share, in.binary("Pow", wrong, in.number(op.gamma, dtype)));
  const TF_Output softplus = in.unary("Softplus", u);
  const TF_Output right = in.binary("Sub", in.number(1, dtype), wrong);
  const TF_Output slope =
      product(product(side, power), in.binary("AddV2", in.times(product(right, softplus), op.gamma, dtype), wrong));
  const TF_Output moved = product(slope, in.binary("Sub", z, fixed));
  return {sum_all(in, in.binary("AddV2", product(power, softplus), moved), 2)};
}
LoweredAs lowered_as(const SigmoidFocal&, size_t) {
  return composed("OneHot, Sigmoid, Pow, Softplus, Mul, Sum with a gradient of its own");
}

}  // namespace tbd::tensorflow
