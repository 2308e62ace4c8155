#pragma once
#include "graph/ops/common.h"

namespace tbd {

// y = x weight^T + bias on the last axis. x (..., in), weight (out, in), bias (out) unless bias is false.
struct Linear {
  static constexpr std::string_view kKind = "linear";
  static constexpr OperandRule kOperands[] = {{"x"}};
  int64_t out = 0;
  bool bias = true;
  bool operator==(const Linear&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, Linear>
void fields(Op& op, Visit visit) {
  visit("out", op.out);
  visit("bias", op.bias);
}
std::vector<Shape> output_shapes(const Linear& op, Shapes in);
// weight and bias ~ U(+-1 / sqrt(in)) (`lin`).
std::vector<ParameterSpec> parameters(const Linear& op, const Shape& x);
Cost forward_cost(const Linear& op, const Operands& o);
Cost backward_cost(const Linear& op, const Operands& o);
Traits traits(const Linear& op);
Rounding rounding(const Linear& op, Shapes in);
bool write_gradient(const Linear& op, GradientWriter& node, const std::string& g);
std::optional<PythonCall> python_call(const Linear& op, const PythonNode& in);

// Matrix product, batched over the leading axes: a (..., M, K), b (..., K, N); transposed where asked.
struct Matmul {
  static constexpr std::string_view kKind = "matmul";
  static constexpr OperandRule kOperands[] = {{"a"}, {"b"}};
  bool transpose_a = false, transpose_b = false;
  bool operator==(const Matmul&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, Matmul>
void fields(Op& op, Visit visit) {
  visit("transpose_a", op.transpose_a);
  visit("transpose_b", op.transpose_b);
}
std::vector<Shape> output_shapes(const Matmul& op, Shapes in);
Cost forward_cost(const Matmul& op, const Operands& o);
Cost backward_cost(const Matmul& op, const Operands& o);
Traits traits(const Matmul& op);
Rounding rounding(const Matmul& op, Shapes in);
std::optional<PythonCall> python_call(const Matmul& op, const PythonNode& in);

}  // namespace tbd
