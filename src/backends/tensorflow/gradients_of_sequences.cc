// Gather, of a table's rows: its upstream gradient is summed by id; ids below 0 are left out. BlockLSTMV2 has a kernel
// for its gradient, which takes all operands and results, and the upstream gradients of c and h.
#include "backends/tensorflow/gradient_nodes.h"

namespace tbd::tensorflow_gradients {
namespace {

int32_t attribute(const Operation& op, const char* name) {
  return static_cast<int32_t>(op.node()->attrs().Find(name)->i());
}

Output or_zeros(const Scope& scope, const Output& upstream, const Output& of) {
  return upstream.node() ? upstream : add(scope, "ZerosLike", {of});
}

}  // namespace

// Gather(table, ids) with the attributes _tbd_rows and _tbd_pad of table_rows.
absl::Status gather(const Scope& scope, const Operation& op, const Outputs& upstream, Outputs* out) {
  const int32_t pad = attribute(op, "_tbd_pad");
  Output ids = op.input(1);
  if (pad >= 0) {
    const Output padding = add(scope, "Equal", {ids, constant(scope, pad)});
    ids = add(scope, "SelectV2", {padding, constant(scope, int32_t{-1}), ids});
  }
  const Output rows = constant(scope, attribute(op, "_tbd_rows"));
  out->assign({add(scope, "UnsortedSegmentSum", {upstream[0], ids, rows}), kNone});
  return scope.status();
}

absl::Status block_lstm(const Scope& scope, const Operation& op, const Outputs& upstream, Outputs* out) {
  constexpr int kInputs = 9, kResults = 7, kC = 1, kH = 6;
  Outputs inputs;
  for (int i = 0; i < kInputs; ++i) inputs.push_back(op.input(i));
  for (int i = 0; i < kResults; ++i) inputs.push_back(op.output(i));
  for (const int i : {kC, kH}) inputs.push_back(or_zeros(scope, upstream[static_cast<size_t>(i)], op.output(i)));
  const Output gradients = add_like(scope, "BlockLSTMGradV2", op, {"use_peephole"}, inputs);
  out->assign({kNone});  // of the number of steps
  for (int i = 0; i < kInputs - 1; ++i) out->push_back(Output(gradients.node(), i));
  return scope.status();
}

}  // namespace tbd::tensorflow_gradients
