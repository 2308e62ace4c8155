// One lowering per op of the closed set: a back-end that lacks one does not link. A lowering reaches the ops that an
// idiomatic MLX program would reach; nothing runs before the whole step is evaluated. Gradients are MLX's own, of the
// function that the lowerings make up (forward.h). In float64 what MLX computes in single precision all the same is
// composed (double_math.h).
#pragma once
#include <mlx/ops.h>

#include <functional>
#include <optional>
#include <span>

#include "backends/mlx/tensors.h"
#include "graph/graph.h"
#include "worker/lowering.h"

namespace tbd::mlx {

// A value of a phase: an array, and how it lies.
struct Operand {
  array data;
  Layout layout = Layout::row;
};

class Args;
template <class Op>
using Lowered = Results<Op, Operand>;

TBD_EACH_OP(TBD_DECLARE_LOWERING)

class Forward;

// The operands of one node: data first, then parameters and buffers.
class Args {
 public:
  Args(Forward& forward, size_t node, std::vector<std::optional<Operand>>& values);

  size_t size() const { return node_.inputs.size(); }
  const Operand& operator[](size_t i) const { return *values_[static_cast<size_t>(node_.inputs[i])]; }
  array as(size_t i, Layout layout) const { return relaid((*this)[i].data, (*this)[i].layout, layout); }
  array row(size_t i) const { return as(i, Layout::row); }
  array fixed(size_t i) const;  // in row-major order; no gradient passes
  const Shape& shape(size_t i) const { return graph_.value(node_.inputs[i]).shape; }
  DType dtype(size_t i = 0) const { return graph_.value(node_.inputs[i]).dtype; }
  const Shape& out(size_t result = 0) const { return graph_.value(node_.outputs[result]).shape; }
  // The layout in which operands of an elementwise op meet.
  Layout common() const;

  // Buffer i has this value from here on.
  void assign(size_t i, const array& value) const;
  // What this node draws from, anew each run.
  array key() const;
  // A table that depends on attributes, shapes and types alone: made at the node's first run, and kept.
  array constant(size_t number, const std::function<HostTensor()>& make, DType dtype) const;
  // The gradient of the sum of operand 0 by operand 1.
  Operand input_gradient() const;
  std::vector<Operand> call_host(const HostCall& op) const;

 private:
  Forward& forward_;
  const Graph& graph_;
  size_t index_;
  const BoundNode& node_;
  std::vector<std::optional<Operand>>& values_;
};

// Extents of a few helpers' arguments.
inline int axis_of(int64_t axis) { return static_cast<int>(axis); }
inline array reshaped(const array& x, const Shape& shape) { return mx::reshape(x, extents_of(shape)); }
inline array cast_to(const array& x, DType dtype) { return mx::astype(x, type_of(dtype)); }
// x times a number, in the type of x.
array scaled(const array& x, double factor);
// Inverted dropout of x: by the mask, or drawn where it is nullptr. Low types round once.
array dropped(const Args& in, const array& x, double p, const array* mask);
// x (N, ...) with 0 where the index on the physical `axis` is `lengths` (N) or more.
array masked(const array& x, int axis, const array& lengths);
// Rows of each sample: x (N, S, ...), positions (N, P) -> (N, P, ...).
array rows_of_samples(const array& x, const array& positions);

}  // namespace tbd::mlx
