#pragma once
#include "graph/ops/common.h"

namespace tbd {

// y = f(x), one operand. Gradients at kinks: relu 0 at 0; sqrt undefined at 0. gelu is x Phi(x) by erf, never the tanh
// form (Hendrycks and Gimpel 2016, arXiv:1606.08415); silu is x sigmoid(x).
struct Unary {
  static constexpr std::string_view kKind = "unary";
  static constexpr OperandRule kOperands[] = {{"x"}};
  enum class Function { relu, leaky_relu, sigmoid, tanh, exp, log, sqrt, square, abs, neg, gelu, silu };
  Function function = Function::relu;
  double slope = 0.01;  // leaky_relu: factor of negative values
  bool operator==(const Unary&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, Unary>
void fields(Op& op, Visit visit) {
  visit("function", op.function);
  visit("slope", op.slope);
}
std::vector<Shape> output_shapes(const Unary& op, Shapes in);
Cost forward_cost(const Unary& op, const Operands& o);
Cost backward_cost(const Unary& op, const Operands& o);
Traits traits(const Unary& op);
Rounding rounding(const Unary& op, Shapes in);
bool write_gradient(const Unary& op, GradientWriter& node, const std::string& g);
std::optional<PythonCall> python_call(const Unary& op, const PythonNode& in);

// y = a f b with extents of 1 broadcast; operands of equal rank.
struct Binary {
  static constexpr std::string_view kKind = "binary";
  static constexpr OperandRule kOperands[] = {{"a"}, {"b"}};
  enum class Function { add, sub, mul, div };
  Function function = Function::add;
  bool operator==(const Binary&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, Binary>
void fields(Op& op, Visit visit) { visit("function", op.function); }
std::vector<Shape> output_shapes(const Binary& op, Shapes in);
Cost forward_cost(const Binary& op, const Operands& o);
Cost backward_cost(const Binary& op, const Operands& o);
Traits traits(const Binary& op);
Rounding rounding(const Binary& op, Shapes in);
bool write_gradient(const Binary& op, GradientWriter& node, const std::string& g);
std::optional<PythonCall> python_call(const Binary& op, const PythonNode& in);

// y = factor x + offset.
struct Affine {
  static constexpr std::string_view kKind = "affine";
  static constexpr OperandRule kOperands[] = {{"x"}};
  double factor = 1;
  double offset = 0;
  bool operator==(const Affine&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, Affine>
void fields(Op& op, Visit visit) {
  visit("factor", op.factor);
  visit("offset", op.offset);
}
std::vector<Shape> output_shapes(const Affine& op, Shapes in);
Cost forward_cost(const Affine& op, const Operands& o);
Cost backward_cost(const Affine& op, const Operands& o);
Traits traits(const Affine& op);
Rounding rounding(const Affine& op, Shapes in);
bool write_gradient(const Affine& op, GradientWriter& node, const std::string& g);
std::optional<PythonCall> python_call(const Affine& op, const PythonNode& in);

// Inverted dropout: y = x mask / (1 - p). The mask is drawn by the framework, or is operand 1 (0 or 1, shape of x)
// after the dropout pass in mode `mask`. Srivastava et al. 2014, JMLR 15. No gradient of the mask. per_sample: one draw
// for each sample, mask (N, 1, ...); around the branch of a residual sum this is the stochastic depth of Huang et al.
// 2016, arXiv:1603.09382, whose survivors grow here in place of shrinking at inference.
struct Dropout {
  static constexpr std::string_view kKind = "dropout";
  static constexpr OperandRule kOperands[] = {{"x"}, {"mask", Role::mask, Count::optional}};
  double p = 0.5;
  bool per_sample = false;
  bool operator==(const Dropout&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, Dropout>
void fields(Op& op, Visit visit) {
  visit("p", op.p);
  visit("per_sample", op.per_sample);
}
// Of the mask for such an x.
Shape mask_shape(const Dropout& op, const Shape& x);
std::vector<Shape> output_shapes(const Dropout& op, Shapes in);
Cost forward_cost(const Dropout& op, const Operands& o);
Cost backward_cost(const Dropout& op, const Operands& o);
int64_t kept_bytes(const Dropout& op, const Operands& o);  // the mask, where the framework drew it, in the type of x
Traits traits(const Dropout& op);
Rounding rounding(const Dropout& op, Shapes in);
std::optional<PythonCall> python_call(const Dropout& op, const PythonNode& in);
inline std::optional<double> dropout_rate(const Dropout& op) { return op.p; }

// The same values in another element type.
struct Cast {
  static constexpr std::string_view kKind = "cast";
  static constexpr OperandRule kOperands[] = {{"x", Role::moved}};
  DType to = DType::f32;
  bool operator==(const Cast&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, Cast>
void fields(Op& op, Visit visit) { visit("to", op.to); }
std::vector<Shape> output_shapes(const Cast& op, Shapes in);
Cost forward_cost(const Cast& op, const Operands& o);
Cost backward_cost(const Cast& op, const Operands& o);
Traits traits(const Cast& op);
Rounding rounding(const Cast& op, Shapes in);
bool write_gradient(const Cast& op, GradientWriter& node, const std::string& g);
inline DType output_dtype(const Cast& op, size_t, std::span<const DType>) { return op.to; }
inline void make_double(Cast& op) { op.to = doubled(op.to); }

}  // namespace tbd
