// Adding nodes from within a gradient function. Only gradient_registry.cc includes this: it brings TensorFlow's
// C++ headers, which take seconds to compile.
#pragma once
#include <string>
#include <vector>

#include "tensorflow/cc/framework/grad_op_registry.h"
#include "tensorflow/core/graph/node_builder.h"

namespace tbd::tensorflow_gradients {

using ::tensorflow::Node;
using ::tensorflow::NodeBuilder;
using ::tensorflow::Operation;
using ::tensorflow::Output;
using ::tensorflow::Scope;
using Outputs = std::vector<Output>;
// What TensorFlow calls: writes one gradient per input of `op` to `out`, kNone where none passes. An upstream gradient
// of an output that nothing reads has no node, or is a ZerosLike.
using Gradient = absl::Status (*)(const Scope& scope, const Operation& op, const Outputs& upstream, Outputs* out);

inline const Output kNone(nullptr, -1);

// Adds one op: `prepare` gives inputs and attributes.
template <class Prepare>
Output add(const Scope& scope, const char* kind, Prepare prepare) {
  if (!scope.ok()) return kNone;
  NodeBuilder builder(scope.GetUniqueNameForOp(kind), kind);
  prepare(builder);
  scope.UpdateBuilder(&builder);
  Node* node = nullptr;
  scope.UpdateStatus(builder.Finalize(scope.graph(), &node));
  if (!scope.ok()) return kNone;
  scope.UpdateStatus(scope.DoShapeInference(node));
  return Output(node, 0);
}

inline NodeBuilder::NodeOut in(const Output& output) { return {output.node(), output.index()}; }

inline Output add(const Scope& scope, const char* kind, const Outputs& inputs) {
  return add(scope, kind, [&](NodeBuilder& builder) {
    for (const Output& input : inputs) builder.Input(in(input));
  });
}

// The same with the named attributes of `from`.
inline Output add_like(const Scope& scope, const char* kind, const Operation& from,
                       std::initializer_list<const char*> names, const Outputs& inputs) {
  return add(scope, kind, [&](NodeBuilder& builder) {
    for (const Output& input : inputs) builder.Input(in(input));
    for (const char* name : names) builder.Attr(name, *from.node()->attrs().Find(name));
  });
}

template <class Value>
Output constant(const Scope& scope, Value value) {
  ::tensorflow::Tensor tensor(value);
  return add(scope, "Const",
             [&](NodeBuilder& builder) { builder.Attr("dtype", tensor.dtype()).Attr("value", tensor); });
}

// A number of x's type.
inline Output like(const Scope& scope, double value, const Output& x) {
  const Output number = constant(scope, value);
  return add(scope, "Cast",
             [&](NodeBuilder& builder) { builder.Input(in(number)).Attr("DstT", x.node()->output_type(x.index())); });
}

}  // namespace tbd::tensorflow_gradients
