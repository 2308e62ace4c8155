// One lowering per op of the closed set: a back-end that lacks one does not link. A lowering adds TensorFlow ops to the
// graph and says how its result lies in memory; gradients are taken later, by TensorFlow's registry and our additions
// to it (gradient_registry.cc).
#pragma once
#include <functional>
#include <map>
#include <span>
#include <string>
#include <tuple>

#include "backends/tensorflow/graph.h"
#include "backends/tensorflow/repeats.h"
#include "worker/lowering.h"

namespace tbd::tensorflow {

// A value of a phase in the TensorFlow graph.
struct Operand {
  TF_Output output = {nullptr, 0};
  Layout layout = Layout::row;
  Shape shape;  // logical
  DType dtype = DType::f32;
  bool assigned = false;  // a buffer that the phase gave a new value
  bool cut = false;       // of axis 0 only what is valid is there: `shape` says how much at most
  Shape physical() const { return physical_shape(shape, layout); }
};

// What the lowerings of one phase share.
struct PhaseContext {
  TfGraph& graph;
  uint64_t seed = 0;                                                        // of TensorFlow's generator
  std::map<std::tuple<TF_Operation*, int, Layout>, TF_Output> relaid = {};  // transposed once for all users
  std::map<std::string, TF_Operation*> shared = {};       // made once for several nodes, by what it is
  std::map<int32_t, int64_t> weight_uses = {};            // by ValueId: nodes that multiply by it
  std::map<int32_t, std::vector<TF_Output>> unused = {};  // of those, what is left for nodes to come
  bool cuts_rows = false;                                 // ragged results of host calls have their valid rows alone
};

class Args;
template <class Op>
using Lowered = Results<Op, Operand>;

// Results have output and layout; the caller fills in shape and type.
TBD_EACH_OP(TBD_DECLARE_LOWERING)

// The operands of one node: data first, then parameters and buffers.
class Args {
 public:
  Args(PhaseContext& context, std::span<Operand> values, std::span<const int32_t> ids, bool twice,
       const SlicePart* part = nullptr)
      : context_(context), values_(values), ids_(ids), twice_(twice), part_(part) {}
  size_t size() const { return ids_.size(); }
  Operand& operator[](size_t i) const { return values_[static_cast<size_t>(ids_[i])]; }
  TF_Output row(size_t i) const { return as(i, Layout::row); }
  TF_Output as(size_t i, Layout layout) const;
  // The node lies where a gradient is differentiated again: ops whose gradient has a gradient are needed.
  bool twice() const { return twice_; }
  uint64_t seed() const { return context_.seed; }
  // Of a slice: its place among the slices that together are its operand; nullptr where they are not.
  const SlicePart* part() const { return part_; }
  // Do ragged results of host calls have their valid rows alone?
  bool cuts_rows() const { return context_.cuts_rows; }

  TfGraph& graph() const { return context_.graph; }
  OpBuilder op(const char* kind) const { return context_.graph.op(kind); }
  TF_Output unary(const char* kind, TF_Output x) const { return op(kind).in(x).out(); }
  TF_Output binary(const char* kind, TF_Output a, TF_Output b) const { return op(kind).in(a).in(b).out(); }
  TF_Output cast(TF_Output x, DType from, DType to) const;  // x itself where the type is right
  TF_Output number(double value, DType dtype) const { return graph().constant(value, dtype); }
  TF_Output times(TF_Output x, double factor, DType dtype) const { return binary("Mul", x, number(factor, dtype)); }
  // Operand i in row-major order; no gradient passes.
  TF_Output detached(size_t i) const { return unary("StopGradient", row(i)); }
  // Operand i, the weight (out, in) of a MatMul with `rows` that transposes it. Where several nodes multiply by it,
  // each gets an output of its own, as of `uses`.
  TF_Output weight(size_t i, int64_t rows) const;
  // The same weight `count` times, for a MatMul each: the gradient is one product of stacked operands, not the sum of
  // as many products.
  std::vector<TF_Output> uses(TF_Output weight, int64_t count) const;
  // What `make` adds, once for all nodes of the phase that ask for `what`.
  TF_Operation* shared(const std::string& what, const std::function<TF_Operation*()>& make) const;
  TF_Output reshape(TF_Output x, const Shape& shape) const;
  // The shape with -1, known when it runs, in front where operand i is cut to its valid rows.
  Shape with_rows_of(size_t i, Shape shape) const;
  std::vector<TF_Output> split(TF_Output x, int64_t axis, int64_t parts) const;  // equal ones
  TF_Output concat(std::span<const TF_Output> parts, int64_t axis) const;
  TF_Output transpose(TF_Output x, std::span<const int64_t> permutation) const;
  TF_Output reduce(const char* kind, TF_Output x, std::span<const int64_t> axes, bool keep) const;
  // Pads physical NHWC images.
  TF_Output pad(TF_Output x, const Pads& pads) const;
  TF_Output pad(TF_Output x, const Pads& pads, double value, DType dtype) const;

 private:
  PhaseContext& context_;
  std::span<Operand> values_;
  std::span<const int32_t> ids_;
  bool twice_;
  const SlicePart* part_;
};

std::string name_of(TF_Output x);
// Where a logical axis stands in memory.
int64_t physical_axis(int64_t axis, Layout layout);
// Statistics, exponentials and states of low types are kept in fp32.
inline DType inner_type(DType dtype) { return dtype == DType::f64 ? DType::f64 : DType::f32; }
// Inverted dropout of a tensor of that physical shape: by the mask, or drawn where it is nullptr.
TF_Output dropped(const Args& in, TF_Output x, DType dtype, const Shape& shape, double p, const TF_Output* mask);
// table (rows, width), ids (...) -> (..., width). The gradient is dense; row `pad` gets none (-1: every row does).
TF_Output table_rows(const Args& in, TF_Output table, int64_t rows, TF_Output ids, int64_t pad = -1);
// x of that physical shape with 0 where the index on the physical `axis` is `lengths` (N) or more.
TF_Output masked(const Args& in, TF_Output x, DType dtype, const Shape& shape, int64_t axis, TF_Output lengths);

}  // namespace tbd::tensorflow
