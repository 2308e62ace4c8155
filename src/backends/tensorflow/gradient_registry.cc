#include "backends/tensorflow/gradient_registry.h"

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
  enter<gather>("Gather");
  enter<identities>("IdentityN");
  for (const char* op : {"OnesLike", "RandomUniform", "TbdHostCall"}) enter_none(op);
}

extern "C" int tbd_gradient_calls(const char* op) {
  using tbd::tensorflow_gradients::calls;
  const auto found = calls().find(op);
  return found == calls().end() ? 0 : found->second;
}
