#include "backends/tensorflow/lowering.h"

namespace tbd::tensorflow {
namespace {

TF_Output sum_all(const Args& in, TF_Output x, int64_t rank) {
  std::vector<int64_t> axes;
  for (int64_t axis = 0; axis < rank; ++axis) axes.push_back(axis);
  return in.reduce("Sum", x, axes, false);
}

// (N, classes): (1 - e) onehot + e / classes.
TF_Output smoothed(const SoftmaxCrossEntropy& op, const Args& in) {
  const int64_t classes = in[0].shape[1];
  const double rest = op.smoothing / static_cast<double>(classes);
  TfGraph& graph = in.graph();
  return in.op("OneHot")
      .in(in.row(1))
      .in(graph.constant(static_cast<double>(classes), DType::i32))
      .in(graph.constant(1 - op.smoothing + rest, in[0].dtype))
      .in(graph.constant(rest, in[0].dtype))
      .out();
}

}  // namespace

// logits (N, classes), label (N): the sum over rows.
Operand lower(const SoftmaxCrossEntropy& op, const Args& in) {
  const TF_Output logits = in.row(0);
  if (op.smoothing == 0) return {sum_all(in, in.binary("SparseSoftmaxCrossEntropyWithLogits", logits, in.row(1)), 1)};
  const TF_Output target = smoothed(op, in);
  if (in[0].dtype == DType::f64)  // the gradient of the fused op fails in double
    return {in.unary("Neg", sum_all(in, in.binary("Mul", in.unary("LogSoftmax", logits), target), 2))};
  return {sum_all(in, in.binary("SoftmaxCrossEntropyWithLogits", logits, target), 1)};
}

Operand lower(const SquaredError&, const Args& in) {
  const Layout layout = in[0].layout;
  return {sum_all(in, in.binary("SquaredDifference", in[0].output, in.as(1, layout)), in[0].shape.rank())};
}

}  // namespace tbd::tensorflow
