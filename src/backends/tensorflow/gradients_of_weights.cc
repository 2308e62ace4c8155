#include <algorithm>

#include "backends/tensorflow/gradient_nodes.h"

namespace tbd::tensorflow_gradients {
namespace {

int32_t int_attribute(const Operation& op, const char* name) {
  return static_cast<int32_t>(op.node()->attrs().Find(name)->i());
}

// Of an output that nothing differentiable reads.
bool is_none(const Output& gradient) { return !gradient.node() || gradient.node()->type_string() == "ZerosLike"; }

// Is it a^T b, the gradient of a MatMul by its transposed weight?
bool is_weight_gradient(const Output& gradient) {
  const Node& node = *gradient.node();
  const auto holds = [&](const char* name) { return node.attrs().Find(name)->b(); };
  return node.type_string() == "MatMul" && holds("transpose_a") && !holds("transpose_b");
}

Output operand(const Output& of, int index) {
  const ::tensorflow::Edge* edge = nullptr;
  const absl::Status found = of.node()->input_edge(index, &edge);
  return found.ok() ? Output(edge->src(), edge->src_output()) : kNone;
}

// Operand `index` of each of the products, one below the other.
Output stacked(const Scope& scope, const Outputs& products, int index) {
  std::vector<NodeBuilder::NodeOut> parts;
  for (const Output& product : products) parts.push_back(in(operand(product, index)));
  const Output axis = constant(scope, 0);
  return add(scope, "ConcatV2", [&](NodeBuilder& builder) { builder.Input(parts).Input(in(axis)); });
}

Output sum(const Scope& scope, const Outputs& terms) {
  std::vector<NodeBuilder::NodeOut> parts;
  for (const Output& term : terms) parts.push_back(in(term));
  return add(scope, "AddN", [&](NodeBuilder& builder) { builder.Input(parts); });
}

}  // namespace

// Gather(table, ids) with the attributes _tbd_rows and _tbd_pad of table_rows: the upstream gradient is summed by id;
// an id below 0 is left out.
absl::Status gather(const Scope& scope, const Operation& op, const Outputs& upstream, Outputs* out) {
  const int32_t pad = int_attribute(op, "_tbd_pad");
  Output ids = op.input(1);
  if (pad >= 0) {
    const Output padding = add(scope, "Equal", {ids, constant(scope, pad)});
    ids = add(scope, "SelectV2", {padding, constant(scope, int32_t{-1}), ids});
  }
  const Output rows = constant(scope, int_attribute(op, "_tbd_rows"));
  out->assign({add(scope, "UnsortedSegmentSum", {upstream[0], ids, rows}), kNone});
  return scope.status();
}

// IdentityN of one tensor, of Args::uses: the sum of all gradients, given to the first operand. Products a_k^T b_k,
// which nothing else reads and so are not computed, are one product of stacked operands.
absl::Status identities(const Scope& scope, const Operation& op, const Outputs& upstream, Outputs* out) {
  Outputs given;
  std::ranges::remove_copy_if(upstream, std::back_inserter(given), is_none);
  Output total = given.empty() ? upstream.front() : given.front();
  if (given.size() > 1 && std::ranges::all_of(given, is_weight_gradient))
    total = add(scope, "MatMul", [&, a = stacked(scope, given, 0), b = stacked(scope, given, 1)](NodeBuilder& builder) {
      builder.Input(in(a)).Input(in(b)).Attr("transpose_a", true);
    });
  else if (given.size() > 1)
    total = sum(scope, given);
  out->assign(static_cast<size_t>(op.num_inputs()), kNone);
  out->front() = total;
  return scope.status();
}

}  // namespace tbd::tensorflow_gradients
