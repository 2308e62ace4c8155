#pragma once
#include "graph/ops/common.h"

namespace tbd {

// Cross-correlation. x (N, C, H, W), weight (out, C / groups, kernel.h, kernel.w), bias (out) if asked.
struct Conv2d {
  static constexpr std::string_view kKind = "conv2d";
  static constexpr OperandRule kOperands[] = {{"x"}};
  int64_t out = 0;
  Extent2 kernel = 1;
  Extent2 stride = 1;
  Pads pads = {};
  Extent2 dilation = 1;
  int64_t groups = 1;
  bool bias = false;
  bool operator==(const Conv2d&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, Conv2d>
void fields(Op& op, Visit visit) {
  visit("out", op.out);
  visit("kernel", op.kernel);
  visit("stride", op.stride);
  visit("pads", op.pads);
  visit("dilation", op.dilation);
  visit("groups", op.groups);
  visit("bias", op.bias);
}

// x (N, C, H, W) -> y (N, out, H', W'), H' = floor((H + top + bottom - dilation (kernel - 1) - 1) / stride) + 1.
std::vector<Shape> output_shapes(const Conv2d& op, Shapes in);
// weight ~ N(0, sqrt(2 / fan_out)) (`he_out`; He et al. 2015, arXiv:1502.01852), bias 0.
std::vector<ParameterSpec> parameters(const Conv2d& op, const Shape& x);
Cost forward_cost(const Conv2d& op, const Operands& o);
Cost backward_cost(const Conv2d& op, const Operands& o);
Traits traits(const Conv2d& op);
Rounding rounding(const Conv2d& op, Shapes in);
bool write_gradient(const Conv2d& op, GradientWriter& node, const std::string& g);
std::optional<PythonCall> python_call(const Conv2d& op, const PythonNode& in);

}  // namespace tbd
