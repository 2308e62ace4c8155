// One lowering per op of the closed set: a back-end that lacks one does not link. Gradients are CNTK's own.
//
// CNTK keeps samples on an axis of their own, which its convolutions, pools and norms want and its reshapes cannot
// touch. So a value has one of two forms: `batched`, with the first extent on that axis, or fixed, with all extents in
// its shape. An op takes the form that it needs (Args::batched, Args::fixed) or the one that is there; the change costs
// a copy, and the networks make it nowhere but where samples meet.
#pragma once
#include <optional>
#include <vector>

#include "backends/cntk/abi_ops.h"
#include "backends/cntk/array.h"
#include "graph/graph.h"
#include "worker/lowering.h"

namespace tbd::cntk {

// A value of a graph under construction.
struct Tensor {
  std::optional<CNTK::Variable> variable = {};
  Shape shape = {};
  bool batched = false;
  CNTK::Variable operator*() const { return *variable; }
};

// An extent, and a place on an axis, in CNTK's types.
inline size_t extent(int64_t n) { return static_cast<size_t>(n); }
inline int place(int64_t n) { return static_cast<int>(n); }

// The extents of such a value in CNTK; of one number a sample {1}.
CNTK::NDShape native_shape(const Shape& shape, bool batched);
Tensor batched(const Tensor& x);  // the other form, or x itself
Tensor fixed(const Tensor& x);
Tensor reshaped(const Tensor& x, const Shape& shape);  // in the form of x; batched only with the same first extent
// The axis of the program in CNTK's count; not the first of a batched value.
CNTK::Axis native_axis(const Tensor& x, int64_t axis);

class Args;
template <class Op>
using Lowered = Results<Op, Tensor>;

TBD_EACH_OP(TBD_DECLARE_LOWERING)

// One node under construction: its operands, data first, then parameters and buffers.
class Args {
 public:
  Args(const Graph& graph, const BoundNode& node, std::span<const Tensor> values, CNTK::DataType type)
      : graph_(graph), node_(node), values_(values), type_(type), name_(node.name.begin(), node.name.end()) {}
  const Tensor& operator[](size_t operand) const { return values_[static_cast<size_t>(node_.inputs[operand])]; }
  Tensor batched(size_t operand) const { return cntk::batched((*this)[operand]); }
  Tensor fixed(size_t operand) const { return cntk::fixed((*this)[operand]); }
  bool any_batched() const;
  // All operands in one form, in which they broadcast: batched where one is and the others may be.
  std::vector<Tensor> alike() const;

  const Shape& shape(size_t operand) const { return graph_.value(node_.inputs[operand]).shape; }
  std::vector<Shape> shapes() const { return graph_.operands(node_).in; }
  const Shape& out(size_t result = 0) const { return graph_.value(node_.outputs[result]).shape; }
  size_t size() const { return node_.inputs.size(); }
  const std::wstring& name() const { return name_; }
  CNTK::DataType type() const { return type_; }

  // A number, and an array whose elements come in row-major order; no gradient reaches them.
  CNTK::Variable scalar(double value) const;
  CNTK::Constant constant(const Shape& shape, const std::vector<double>& values) const;
  // What the op computed, in the node's shape.
  Tensor result(const CNTK::Variable& y, bool batched, size_t result = 0) const { return {y, out(result), batched}; }
  Tensor like(const Tensor& x, const CNTK::Variable& y) const { return {y, out(), x.batched}; }

 private:
  const Graph& graph_;
  const BoundNode& node_;
  std::span<const Tensor> values_;
  CNTK::DataType type_;
  std::wstring name_;
};

// Of a loss: the sum of all elements, samples included, a fixed scalar.
Tensor total(const CNTK::Variable& x, const Args& in);
// x with zeros, or with another value, around its images.
CNTK::Variable padded(const Tensor& x, const Pads& pads, double value);
// Sum over the CNTK axis, which stays with extent 1.
CNTK::Variable sum_over(const CNTK::Variable& x, int axis);
CNTK::Variable times(const CNTK::Variable& a, const CNTK::Variable& b);
CNTK::Variable plus(const CNTK::Variable& a, const CNTK::Variable& b);
CNTK::Variable minus(const CNTK::Variable& a, const CNTK::Variable& b);
CNTK::Variable quotient(const CNTK::Variable& a, const CNTK::Variable& b);

}  // namespace tbd::cntk
