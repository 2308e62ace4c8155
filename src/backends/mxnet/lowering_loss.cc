#include "backends/mxnet/lowering.h"

namespace tbd::mxnet {

// logits (N, classes), label (N): the sum over rows.
Symbol lower(const SoftmaxCrossEntropy& op, const Args& in) {
  const auto classes = static_cast<double>(in.shape(0)[1]);
  const Symbol log_probability = in.part("log_softmax", "log_softmax", {in[0]}, {{"axis", "-1"}});
  const Symbol picked = in.part("picked", "pick", {log_probability, in[1]}, {{"axis", "1"}});
  const Symbol sum = in.part("sum", "sum", {picked});
  const auto scalar = [](double value) { return Attributes{{"scalar", text(value)}}; };
  if (op.smoothing == 0) return in.op("negative", {sum});
  const Symbol target = in.part("target", "_mul_scalar", {sum}, scalar(op.smoothing - 1));
  const Symbol all = in.part("all", "sum", {log_probability});
  return in.op("elemwise_add", {target, in.part("others", "_mul_scalar", {all}, scalar(-op.smoothing / classes))});
}

Symbol lower(const SquaredError&, const Args& in) {
  const Symbol difference = in.part("difference", "elemwise_sub", {in[0], in[1]});
  return in.op("sum", {in.part("square", "square", {difference})});
}

}  // namespace tbd::mxnet
