#include "backends/tensorflow/gradient_nodes.h"

namespace tbd::tensorflow_gradients {
namespace {

Output with_axis(const Scope& scope, const Output& x, int32_t axis) {
  return add(scope, "ExpandDims", {x, constant(scope, axis)});
}

}  // namespace

// (rows) upstream of (rows, classes).
absl::Status sparse_cross_entropy(const Scope& scope, const Operation& op, const Outputs& upstream, Outputs* out) {
  out->assign({add(scope, "Mul", {with_axis(scope, upstream[0], -1), op.output(1)}), kNone});
  return scope.status();
}

// (N) upstream of (T, N, classes).
absl::Status ctc_loss(const Scope& scope, const Operation& op, const Outputs& upstream, Outputs* out) {
  const Output each = with_axis(scope, with_axis(scope, upstream[0], 0), -1);
  out->assign({add(scope, "Mul", {each, op.output(1)}), kNone, kNone, kNone});
  return scope.status();
}

}  // namespace tbd::tensorflow_gradients
