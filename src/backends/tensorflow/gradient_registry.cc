#include "backends/tensorflow/gradient_registry.h"

#include <algorithm>
#include <map>

#include "backends/tensorflow/gradient_nodes.h"

namespace tbd::tensorflow_gradients {

// ReluGrad, TanhGrad, SigmoidGrad, the pools' and the convolution's gradients are linear in their incoming gradient, so
// their own gradient by it is the op run forward on what comes from above.
namespace {

std::map<std::string, int>& calls() {
  static std::map<std::string, int> counts;
  return counts;
}

// ReluGrad(dy, x).
absl::Status relu_grad(const Scope& scope, const Operation& op, const Outputs& upstream, Outputs* out) {
  out->assign({add(scope, "ReluGrad", {upstream[0], op.input(1)}), kNone});
  return scope.status();
}

// TanhGrad(y, dy) = dy (1 - y^2).
absl::Status tanh_grad(const Scope& scope, const Operation& op, const Outputs& upstream, Outputs* out) {
  const Output y = op.input(0), dy = op.input(1), g = upstream[0];
  const Output product = add(scope, "Mul", {add(scope, "Mul", {g, dy}), y});
  out->assign({add(scope, "Mul", {product, like(scope, -2, y)}), add(scope, "TanhGrad", {y, g})});
  return scope.status();
}

// SigmoidGrad(y, dy) = dy y (1 - y).
absl::Status sigmoid_grad(const Scope& scope, const Operation& op, const Outputs& upstream, Outputs* out) {
  const Output y = op.input(0), dy = op.input(1), g = upstream[0];
  const Output slope = add(scope, "Sub", {like(scope, 1, y), add(scope, "Mul", {like(scope, 2, y), y})});
  out->assign({add(scope, "Mul", {add(scope, "Mul", {g, dy}), slope}), add(scope, "SigmoidGrad", {y, g})});
  return scope.status();
}

// Conv2DBackpropFilter(x, size, dy).
absl::Status conv_filter_grad(const Scope& scope, const Operation& op, const Outputs& upstream, Outputs* out) {
  const Output x = op.input(0), dy = op.input(2), g = upstream[0];
  const auto names = {"strides", "padding", "data_format", "dilations", "use_cudnn_on_gpu", "explicit_paddings"};
  const Output dx = add_like(scope, "Conv2DBackpropInput", op, names, {add(scope, "Shape", {x}), g, dy});
  out->assign({dx, kNone, add_like(scope, "Conv2D", op, names, {x, g})});
  return scope.status();
}

// AvgPoolGrad(shape of x, dy).
absl::Status avg_pool_grad(const Scope& scope, const Operation& op, const Outputs& upstream, Outputs* out) {
  out->assign({kNone, add_like(scope, "AvgPool", op, {"ksize", "strides", "padding", "data_format"}, {upstream[0]})});
  return scope.status();
}

// MaxPoolGrad(x, y, dy).
absl::Status max_pool_grad(const Scope& scope, const Operation& op, const Outputs& upstream, Outputs* out) {
  const auto names = {"ksize", "strides", "padding", "data_format"};
  out->assign({kNone, kNone, add_like(scope, "MaxPoolGradGrad", op, names, {op.input(0), op.input(1), upstream[0]})});
  return scope.status();
}

// ResizeNearestNeighborGrad(dy, height and width of x).
absl::Status resize_grad(const Scope& scope, const Operation& op, const Outputs& upstream, Outputs* out) {
  const auto vector = [&](int32_t number) {
    return add(scope, "ExpandDims", {constant(scope, number), constant(scope, 0)});
  };
  const Output shape = add(scope, "Shape", {op.input(0)});
  const Output size = add(scope, "Slice", {shape, vector(1), vector(2)});
  out->assign({add(scope, "ResizeNearestNeighbor", {upstream[0], size}), kNone});
  return scope.status();
}

Output with_axis(const Scope& scope, const Output& x, int32_t axis) {
  return add(scope, "ExpandDims", {x, constant(scope, axis)});
}

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

// SparseTensorDenseMatMul(indices, values, shape, b) with indices and values that no gradient reaches.
absl::Status sparse_product(const Scope& scope, const Operation& op, const Outputs& upstream, Outputs* out) {
  const Output db = add(scope, "SparseTensorDenseMatMul", [&](NodeBuilder& builder) {
    for (const Output& input : {op.input(0), op.input(1), op.input(2), upstream[0]}) builder.Input(in(input));
    builder.Attr("adjoint_a", !op.node()->attrs().Find("adjoint_a")->b());
  });
  out->assign({kNone, kNone, kNone, db});
  return scope.status();
}

int32_t attribute(const Operation& op, const char* name) {
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

// Gather(table, ids) with the attributes _tbd_rows and _tbd_pad of table_rows: the upstream gradient is summed by id;
// an id below 0 is left out.
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

// Registers `function` for `op`, counted.
template <Gradient kFunction>
void enter(const char* op) {
  ::tensorflow::ops::GradFunc known = nullptr;
  auto* registry = ::tensorflow::ops::GradOpRegistry::Global();
  if (registry->Lookup(op, &known).ok()) return;  // Register aborts on a second entry
  registry->Register(op, [](const Scope& scope, const Operation& node, const Outputs& upstream, Outputs* out) {
    ++calls()[node.node()->type_string()];
    return kFunction(scope, node, upstream, out);
  });
}

void enter_none(const char* op) {
  ::tensorflow::ops::GradFunc known = nullptr;
  auto* registry = ::tensorflow::ops::GradOpRegistry::Global();
  if (!registry->Lookup(op, &known).ok()) registry->Register(op, nullptr);
}

}  // namespace
}  // namespace tbd::tensorflow_gradients

extern "C" void tbd_register_gradients() {
  using namespace tbd::tensorflow_gradients;
  enter<sparse_cross_entropy>("SparseSoftmaxCrossEntropyWithLogits");
  enter<ctc_loss>("CTCLoss");
  enter<relu_grad>("ReluGrad");
  enter<tanh_grad>("TanhGrad");
  enter<sigmoid_grad>("SigmoidGrad");
  enter<conv_filter_grad>("Conv2DBackpropFilter");
  enter<avg_pool_grad>("AvgPoolGrad");
  enter<max_pool_grad>("MaxPoolGrad");
  enter<resize_grad>("ResizeNearestNeighborGrad");
  enter<sparse_product>("SparseTensorDenseMatMul");
  enter<gather>("Gather");
  enter<identities>("IdentityN");
  for (const char* op : {"OnesLike", "RandomUniform", "TbdHostCall"}) enter_none(op);
}

extern "C" int tbd_gradient_calls(const char* op) {
  using tbd::tensorflow_gradients::calls;
  const auto found = calls().find(op);
  return found == calls().end() ? 0 : found->second;
}
