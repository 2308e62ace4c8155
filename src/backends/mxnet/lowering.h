// One lowering per op of the closed set: a back-end that lacks one does not link. A lowering reaches the kernel that an
// idiomatic MXNet program would reach. Gradients are MXNet's own. Layout is NCHW throughout. Integers keep their type:
// MXNet's kernels read int32 indices, lengths and labels exactly.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "backends/mxnet/api.h"
#include "graph/graph.h"
#include "worker/lowering.h"

namespace tbd::mxnet {

// Variables whose arrays never change, by name: the scale of a norm without parameters, shares of padded windows.
using Constants = std::map<std::string, Array>;
// Parts that several nodes of a segment use, by what they are.
using SharedParts = std::map<std::string, Symbol>;

class Args;
template <class Op>
using Lowered = Results<Op, Symbol>;

// Of several results one that nobody reads may be an empty symbol.
TBD_EACH_OP(TBD_DECLARE_LOWERING)

// One node under construction: its operands as symbols, data first, then parameters and buffers.
class Args {
 public:
  Args(const Graph& graph, const BoundNode& node, std::span<const Symbol> values, Constants& constants,
       SharedParts& shared)
      : graph_(graph), node_(node), values_(values), constants_(constants), shared_(shared) {}
  const Symbol& operator[](size_t operand) const { return values_[static_cast<size_t>(node_.inputs[operand])]; }
  const Shape& shape(size_t operand) const { return graph_.value(node_.inputs[operand]).shape; }
  DType dtype(size_t operand) const { return graph_.value(node_.inputs[operand]).dtype; }
  std::vector<Shape> shapes() const { return graph_.operands(node_).in; }
  const Shape& out() const { return graph_.value(node_.outputs[0]).shape; }
  size_t size() const { return node_.inputs.size(); }
  const std::string& name(size_t operand) const { return graph_.value(node_.inputs[operand]).name; }
  // Whether a node, a loss term or an output reads the node's result of that number.
  bool used(size_t result) const;
  bool is_parameter(size_t operand) const { return graph_.value(node_.inputs[operand]).kind == Value::Kind::parameter; }
  // The nodes that read the operand.
  std::vector<const BoundNode*> readers(size_t operand) const;

  // The op as the node's last, which bears its name; as a part on the way there, named "<node>/<suffix>".
  Symbol op(const std::string& op, const std::vector<Symbol>& in, const Attributes& attributes = {}) const;
  Symbol part(const std::string& suffix, const std::string& op, const std::vector<Symbol>& in,
              const Attributes& attributes = {}) const;
  // A variable "<node>/<suffix>" with these elements, of operand 0's type or another. No gradient reaches it.
  Symbol constant(const std::string& suffix, const Shape& shape, const std::vector<double>& values,
                  std::optional<DType> dtype = std::nullopt) const;
  Symbol filled(const std::string& suffix, const Shape& shape, double value) const;
  // The symbol that a node of this segment made under this key, or else `make`'s.
  Symbol shared(const std::string& key, const std::function<Symbol()>& make) const;

 private:
  const Graph& graph_;
  const BoundNode& node_;
  std::span<const Symbol> values_;
  Constants& constants_;
  SharedParts& shared_;
};

// Extents as MXNet's ops want them: a scalar has one axis.
std::string shape_text(const Shape& shape);
inline Attributes to_shape(const Shape& shape) { return {{"shape", shape_text(shape)}}; }  // of Reshape
inline Attributes with_scalar(double value) { return {{"scalar", text(value)}}; }
const char* type_name(DType dtype);  // "float32"; throws Error(unsupported) on a type without kernels
// Whether a pool takes the pads itself: symmetric and at most half the window.
bool pools_with(const Pads& pads, const Extent2& kernel);
// x (N, C, ...) times weight (C) plus bias (C), in single precision: the node's last op.
Symbol scaled_per_channel(const Args& in, const Shape& shape, const Symbol& x, const Symbol& weight,
                          const Symbol& bias);
// Pads as an op of their own, which MXNet has for images alone.
Symbol padded(const Args& in, const Pads& pads, double value);

}  // namespace tbd::mxnet
