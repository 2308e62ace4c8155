// A phase of a program bound to concrete extents: every value has a shape and type. What costs, passes and back-ends
// read.
#pragma once
#include <span>

#include "base/units.h"
#include "graph/program.h"

namespace tbd {

using ValueId = int32_t;

struct Value {
  enum class Kind { input, parameter, buffer, result };
  std::string name;
  Shape shape;
  DType dtype = DType::f32;
  Kind kind = Kind::result;
  int32_t producer = -1;  // index of the node, for results
  Bytes bytes() const { return Bytes(shape.elements() * size_of(dtype)); }
};

struct BoundNode {
  std::string name;
  Op op;
  std::vector<ValueId> inputs, outputs;
};

struct BoundTerm {
  std::string name;
  ValueId value;
  ValueId norm;  // the scalar input "norm/<name>"
};

struct Graph {
  std::string phase;
  std::vector<Value> values;     // inputs, parameters and buffers used, then results in node order
  std::vector<BoundNode> nodes;  // in execution order
  std::vector<BoundTerm> loss;
  std::vector<std::pair<std::string, ValueId>> outputs;
  std::vector<ValueId> trained;  // parameters that the phase's update changes (wrt)

  const Value& value(ValueId id) const { return values[static_cast<size_t>(id)]; }
  std::optional<ValueId> find(std::string_view name) const;
  Operands operands(const BoundNode& node) const;  // without needs_gradient

  int64_t parameter_count() const;  // elements of the parameters used
  FlopCount forward_flops() const;  // model FLOPs (matrix-like), forward
};

// Infers every shape and type. Throws Error(invalid): "conv2d 'layer3.0.conv2': groups=3 does not divide C=64 of (8,
// 64, 56, 56)".
Graph bind(const Program& program, const Phase& phase, const Bindings& bindings);
// Shape of one node's first result, given its data operands (its parameters need not be listed).
Shape infer(const Node& node, Shapes in);

// What the integers of a value may be, for all that reads them, also through ops that only move them: labels lie below
// the classes (or are the ignored one), ids below the rows, positions below S, lengths in [1, T]. Where nothing indexes
// with them: 0 or 1, and what they are compared with.
Integers allowed_integers(const Graph& graph, ValueId value);
IntegerRange integer_range(const Graph& graph, ValueId value);

// Per value: does the gradient of the loss reach it on the way to a trained parameter? Values behind stop_gradient,
// host calls or no trained parameter do not need one; nor do values that no loss term depends on.
std::vector<bool> gradient_needs(const Graph& graph);

// Operands with needs_gradient filled from gradient_needs.
Operands operands_with_needs(const Graph& graph, const BoundNode& node, const std::vector<bool>& needs);

// Costs of one pass through the phase. Node order. Recomputation is never counted; gradients nobody needs are not.
struct NodeCost {
  Cost forward, backward;
};
std::vector<NodeCost> node_costs(const Graph& graph);

// When values die, and which results may take an operand's storage. Derived from the ops' traits; back-ends obey it.
struct Liveness {
  std::vector<std::vector<ValueId>> release_after;  // per node: results no later node, loss or output reads
  std::vector<std::optional<int>> overwrite;        // per node: the operand whose storage the result takes
};
Liveness liveness(const Graph& graph);

}  // namespace tbd
