#pragma once
#include "graph/ops/common.h"

namespace tbd {

// Maximum over each window; padding counts as -infinity. x (N, C, H, W) -> floor rule of conv2d.
struct MaxPool {
  static constexpr std::string_view kKind = "max_pool";
  static constexpr OperandRule kOperands[] = {{"x"}};
  Extent2 kernel = 1;
  Extent2 stride = 1;
  Pads pads = {};
  bool operator==(const MaxPool&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, MaxPool>
void fields(Op& op, Visit visit) {
  visit("kernel", op.kernel);
  visit("stride", op.stride);
  visit("pads", op.pads);
}
std::vector<Shape> output_shapes(const MaxPool& op, Shapes in);
Cost forward_cost(const MaxPool& op, const Operands& o);
Cost backward_cost(const MaxPool& op, const Operands& o);
Traits traits(const MaxPool& op);
Rounding rounding(const MaxPool& op, Shapes in);
std::optional<PythonCall> python_call(const MaxPool& op, const PythonNode& in);

// Mean over each window; include_pad divides by the whole window, else by the taps inside.
struct AvgPool {
  static constexpr std::string_view kKind = "avg_pool";
  static constexpr OperandRule kOperands[] = {{"x"}};
  Extent2 kernel = 1;
  Extent2 stride = 1;
  Pads pads = {};
  bool include_pad = true;
  bool operator==(const AvgPool&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, AvgPool>
void fields(Op& op, Visit visit) {
  visit("kernel", op.kernel);
  visit("stride", op.stride);
  visit("pads", op.pads);
  visit("include_pad", op.include_pad);
}
std::vector<Shape> output_shapes(const AvgPool& op, Shapes in);
Cost forward_cost(const AvgPool& op, const Operands& o);
Cost backward_cost(const AvgPool& op, const Operands& o);
Traits traits(const AvgPool& op);
Rounding rounding(const AvgPool& op, Shapes in);
bool write_gradient(const AvgPool& op, GradientWriter& node, const std::string& g);
std::optional<PythonCall> python_call(const AvgPool& op, const PythonNode& in);

// Mean over height and width: (N, C, H, W) -> (N, C).
struct GlobalMean {
  static constexpr std::string_view kKind = "global_mean";
  static constexpr OperandRule kOperands[] = {{"x"}};
  bool operator==(const GlobalMean&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, GlobalMean>
void fields(Op&, Visit) {}
std::vector<Shape> output_shapes(const GlobalMean& op, Shapes in);
Cost forward_cost(const GlobalMean& op, const Operands& o);
Cost backward_cost(const GlobalMean& op, const Operands& o);
Traits traits(const GlobalMean& op);
Rounding rounding(const GlobalMean& op, Shapes in);
std::optional<PythonCall> python_call(const GlobalMean& op, const PythonNode& in);

}  // namespace tbd
