// Ops that enlarge images.
#pragma once
#include "graph/ops/common.h"

namespace tbd {

// Every element `factor` times along both axes: x (N, C, H, W) -> (N, C, factor H, factor W). Gradient: sums.
struct UpsampleNearest {
  static constexpr std::string_view kKind = "upsample_nearest";
  static constexpr OperandRule kOperands[] = {{"x"}};
  int64_t factor = 2;
  bool operator==(const UpsampleNearest&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, UpsampleNearest>
void fields(Op& op, Visit visit) { visit("factor", op.factor); }
std::vector<Shape> output_shapes(const UpsampleNearest& op, Shapes in);
Cost forward_cost(const UpsampleNearest& op, const Operands& o);
Cost backward_cost(const UpsampleNearest& op, const Operands& o);
Traits traits(const UpsampleNearest& op);
Rounding rounding(const UpsampleNearest& op, Shapes in);

// The gradient of conv2d by its operand, as an op of its own. x (N, C, H, W), weight (C, out, kernel.h, kernel.w): that
// of the convolution (N, out, H', W') -> x -> y (N, out, H', W'), H' = (H - 1) stride - top - bottom + kernel. bias
// (out) if asked.
struct ConvTranspose2d {
  static constexpr std::string_view kKind = "conv_transpose2d";
  static constexpr OperandRule kOperands[] = {{"x"}};
  int64_t out = 0;
  Extent2 kernel = 1;
  Extent2 stride = 1;
  Pads pads = {};
  bool bias = false;
  bool operator==(const ConvTranspose2d&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, ConvTranspose2d>
void fields(Op& op, Visit visit) {
  visit("out", op.out);
  visit("kernel", op.kernel);
  visit("stride", op.stride);
  visit("pads", op.pads);
  visit("bias", op.bias);
}
std::vector<Shape> output_shapes(const ConvTranspose2d& op, Shapes in);
// The weight as conv2d's with out = C, the bias 0.
std::vector<ParameterSpec> parameters(const ConvTranspose2d& op, const Shape& x);
Cost forward_cost(const ConvTranspose2d& op, const Operands& o);
Cost backward_cost(const ConvTranspose2d& op, const Operands& o);
Traits traits(const ConvTranspose2d& op);
Rounding rounding(const ConvTranspose2d& op, Shapes in);
std::optional<PythonCall> python_call(const ConvTranspose2d& op, const PythonNode& in);

}  // namespace tbd
