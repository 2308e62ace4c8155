// Ops that move, reduce or cut the graph.
#pragma once
#include <map>

#include "graph/ops/common.h"

namespace tbd {

// The same elements in row-major order in another shape: -1 once is what remains, 0 keeps the operand's extent there.
struct Reshape {
  static constexpr std::string_view kKind = "reshape";
  static constexpr OperandRule kOperands[] = {{"x", Role::moved}};
  std::vector<int64_t> shape;
  bool operator==(const Reshape&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, Reshape>
void fields(Op& op, Visit visit) { visit("shape", op.shape); }
std::vector<Shape> output_shapes(const Reshape& op, Shapes in);
Cost forward_cost(const Reshape& op, const Operands& o);
Cost backward_cost(const Reshape& op, const Operands& o);
Traits traits(const Reshape& op);
Rounding rounding(const Reshape& op, Shapes in);
bool write_gradient(const Reshape& op, GradientWriter& node, const std::string& g);
std::optional<PythonCall> python_call(const Reshape& op, const PythonNode& in);

// The operands, two or more, one after another along `axis`; of equal rank, type and other extents.
// Gradient: to each operand its part.
struct Concat {
  static constexpr std::string_view kKind = "concat";
  static constexpr OperandRule kOperands[] = {{"first", Role::moved}, {"next", Role::moved, Count::many}};
  int64_t axis = 1;
  bool operator==(const Concat&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, Concat>
void fields(Op& op, Visit visit) { visit("axis", op.axis); }
std::vector<Shape> output_shapes(const Concat& op, Shapes in);
Cost forward_cost(const Concat& op, const Operands& o);
Cost backward_cost(const Concat& op, const Operands& o);
Traits traits(const Concat& op);
Rounding rounding(const Concat& op, Shapes in);
std::optional<PythonCall> python_call(const Concat& op, const PythonNode& in);

// Positions begin <= i < end of one axis; end 0: to its end. Any type. Gradient: 0 outside.
struct Slice {
  static constexpr std::string_view kKind = "slice";
  static constexpr OperandRule kOperands[] = {{"x", Role::moved}};
  int64_t axis = 1;
  int64_t begin = 0;
  int64_t end = 0;
  bool operator==(const Slice&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, Slice>
void fields(Op& op, Visit visit) {
  visit("axis", op.axis);
  visit("begin", op.begin);
  visit("end", op.end);
}
std::vector<Shape> output_shapes(const Slice& op, Shapes in);
Cost forward_cost(const Slice& op, const Operands& o);
Cost backward_cost(const Slice& op, const Operands& o);
Traits traits(const Slice& op);
Rounding rounding(const Slice& op, Shapes in);
std::optional<PythonCall> python_call(const Slice& op, const PythonNode& in);

// Axis i of the result is axis axes[i] of the operand: a permutation of 0 .. rank - 1. Any type.
struct Transpose {
  static constexpr std::string_view kKind = "transpose";
  static constexpr OperandRule kOperands[] = {{"x", Role::moved}};
  std::vector<int64_t> axes;
  bool operator==(const Transpose&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, Transpose>
void fields(Op& op, Visit visit) { visit("axes", op.axes); }
std::vector<Shape> output_shapes(const Transpose& op, Shapes in);
Cost forward_cost(const Transpose& op, const Operands& o);
Cost backward_cost(const Transpose& op, const Operands& o);
Traits traits(const Transpose& op);
Rounding rounding(const Transpose& op, Shapes in);
std::optional<PythonCall> python_call(const Transpose& op, const PythonNode& in);

// Sum or mean over the axes (all when empty), which disappear unless keep.
struct Reduce {
  static constexpr std::string_view kKind = "reduce";
  static constexpr OperandRule kOperands[] = {{"x"}};
  enum class Function { sum, mean };
  Function function = Function::sum;
  std::vector<int64_t> axes;
  bool keep = false;
  bool operator==(const Reduce&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, Reduce>
void fields(Op& op, Visit visit) {
  visit("function", op.function);
  visit("axes", op.axes);
  visit("keep", op.keep);
}
std::vector<Shape> output_shapes(const Reduce& op, Shapes in);
Cost forward_cost(const Reduce& op, const Operands& o);
Cost backward_cost(const Reduce& op, const Operands& o);
Traits traits(const Reduce& op);
Rounding rounding(const Reduce& op, Shapes in);
bool write_gradient(const Reduce& op, GradientWriter& node, const std::string& g);
std::optional<PythonCall> python_call(const Reduce& op, const PythonNode& in);

// The same values; no gradient passes.
struct StopGradient {
  static constexpr std::string_view kKind = "stop_gradient";
  static constexpr OperandRule kOperands[] = {{"x", Role::moved}};
  bool operator==(const StopGradient&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, StopGradient>
void fields(Op&, Visit) {}
std::vector<Shape> output_shapes(const StopGradient& op, Shapes in);
Cost forward_cost(const StopGradient& op, const Operands& o);
Cost backward_cost(const StopGradient& op, const Operands& o);
Traits traits(const StopGradient& op);
Rounding rounding(const StopGradient& op, Shapes in);

// An extent that a host call declares: a number; 0 for that of operand 0 on the same axis; or "512N", 512 for each
// sample, of which there are as many as operand 0 has rows.
struct ResultExtent {
  int64_t count = 0;
  bool per_sample = false;
  constexpr ResultExtent(int64_t number = 0) : count(number) {}
  static constexpr ResultExtent each_sample(int64_t count) {
    ResultExtent out(count);
    out.per_sample = true;
    return out;
  }
  bool operator==(const ResultExtent&) const = default;
};

// Settings of a host function, by name.
using HostNumbers = std::map<std::string, std::vector<double>>;

// A function of src/host on detached host copies, found by `function`, with the settings `numbers`; its shapes are
// declared. No gradient passes. Of the results that are `ragged` only leading rows are valid, as many as the first
// element of result `rows` says; the others are there to keep extents fixed, and nothing may depend on them.
struct HostCall {
  static constexpr std::string_view kKind = "host_call";
  static constexpr OperandRule kOperands[] = {{"x", Role::any, Count::many}};
  static constexpr size_t kResults = 0;  // as many as it declares
  struct Result {
    std::vector<ResultExtent> shape;
    DType dtype = DType::f32;
    bool ragged = false;
    bool operator==(const Result&) const = default;
  };
  std::string function;
  std::vector<Result> results;
  HostNumbers numbers = {};
  int64_t rows = -1;  // which result, an i32 scalar; -1: none, and none is ragged
  bool operator==(const HostCall&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, HostCall>
void fields(Op& op, Visit visit) {
  visit("function", op.function);
  visit("results", op.results);
  visit("numbers", op.numbers);
  visit("rows", op.rows);
}
std::vector<Shape> output_shapes(const HostCall& op, Shapes in);
Cost forward_cost(const HostCall& op, const Operands& o);
Cost backward_cost(const HostCall& op, const Operands& o);
Traits traits(const HostCall& op);
Rounding rounding(const HostCall& op, Shapes in);
size_t result_count(const HostCall& op);
DType output_dtype(const HostCall& op, size_t output, std::span<const DType> in);
void make_double(HostCall& op);
Integers allowed_integers(const HostCall& op, size_t operand, Shapes in, const Integers& result);

// d sum(y) / d x, itself differentiable: operand 0 is y, operand 1 is x, which y depends on. Result: as x.
// Gulrajani et al. 2017, arXiv:1704.00028, the gradient penalty.
struct InputGradient {
  static constexpr std::string_view kKind = "input_gradient";
  static constexpr OperandRule kOperands[] = {{"y"}, {"x"}};
  bool operator==(const InputGradient&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, InputGradient>
void fields(Op&, Visit) {}
std::vector<Shape> output_shapes(const InputGradient& op, Shapes in);
Cost forward_cost(const InputGradient& op, const Operands& o);
Cost backward_cost(const InputGradient& op, const Operands& o);
Traits traits(const InputGradient& op);
Rounding rounding(const InputGradient& op, Shapes in);
inline DType output_dtype(const InputGradient&, size_t, std::span<const DType> in) { return in[1]; }

}  // namespace tbd
