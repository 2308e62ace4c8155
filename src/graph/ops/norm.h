#pragma once
#include "graph/ops/common.h"

namespace tbd {

// y = (x - mean) / sqrt(var + eps) * weight + bias per channel, biased batch variance; x (N, C, ...).
// Ioffe and Szegedy 2015, arXiv:1502.03167. Training updates running = (1 - momentum) running + momentum batch,
// with the unbiased variance. Buffers running_mean, running_var (C) exist unless stats is `batch`.
// stats `frozen`: scale and shift from the buffers, whose statistics never change; weight and bias are buffers too, or
// parameters that the phase does not train.
struct BatchNorm {
  static constexpr std::string_view kKind = "batch_norm";
  static constexpr OperandRule kOperands[] = {{"x"}};
  enum class Stats { running, batch, frozen };
  double eps = 1e-5;
  double momentum = 0.1;
  bool affine = true;
  Stats stats = Stats::running;
  bool operator==(const BatchNorm&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, BatchNorm>
void fields(Op& op, Visit visit) {
  visit("eps", op.eps);
  visit("momentum", op.momentum);
  visit("affine", op.affine);
  visit("stats", op.stats);
}
std::vector<Shape> output_shapes(const BatchNorm& op, Shapes in);
std::vector<ParameterSpec> parameters(const BatchNorm& op, const Shape& x);
Cost forward_cost(const BatchNorm& op, const Operands& o);
Cost backward_cost(const BatchNorm& op, const Operands& o);
Traits traits(const BatchNorm& op);
Rounding rounding(const BatchNorm& op, Shapes in);
std::optional<PythonCall> python_call(const BatchNorm& op, const PythonNode& in);

// Normalises each of `groups` blocks of channels over channels and positions; weight and bias (C) per channel.
// Wu and He 2018, arXiv:1803.08494. x (N, C, ...).
struct GroupNorm {
  static constexpr std::string_view kKind = "group_norm";
  static constexpr OperandRule kOperands[] = {{"x"}};
  int64_t groups = 1;
  double eps = 1e-5;
  bool operator==(const GroupNorm&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, GroupNorm>
void fields(Op& op, Visit visit) {
  visit("groups", op.groups);
  visit("eps", op.eps);
}
std::vector<Shape> output_shapes(const GroupNorm& op, Shapes in);
std::vector<ParameterSpec> parameters(const GroupNorm& op, const Shape& x);
Cost forward_cost(const GroupNorm& op, const Operands& o);
Cost backward_cost(const GroupNorm& op, const Operands& o);
Traits traits(const GroupNorm& op);
Rounding rounding(const GroupNorm& op, Shapes in);
bool write_gradient(const GroupNorm& op, GradientWriter& node, const std::string& g);
std::optional<PythonCall> python_call(const GroupNorm& op, const PythonNode& in);

// Normalises the last axis; weight and bias of its extent. Ba et al. 2016, arXiv:1607.06450.
struct LayerNorm {
  static constexpr std::string_view kKind = "layer_norm";
  static constexpr OperandRule kOperands[] = {{"x"}};
  double eps = 1e-5;
  bool operator==(const LayerNorm&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, LayerNorm>
void fields(Op& op, Visit visit) { visit("eps", op.eps); }
std::vector<Shape> output_shapes(const LayerNorm& op, Shapes in);
std::vector<ParameterSpec> parameters(const LayerNorm& op, const Shape& x);
Cost forward_cost(const LayerNorm& op, const Operands& o);
Cost backward_cost(const LayerNorm& op, const Operands& o);
Traits traits(const LayerNorm& op);
Rounding rounding(const LayerNorm& op, Shapes in);
std::optional<PythonCall> python_call(const LayerNorm& op, const PythonNode& in);

// y = x (mean x^2 + eps)^-1/2 weight over the last axis; weight of its extent, no mean and no bias. Computed in fp32
// for low types. Zhang and Sennrich 2019, arXiv:1910.07467.
struct RmsNorm {
  static constexpr std::string_view kKind = "rms_norm";
  static constexpr OperandRule kOperands[] = {{"x"}};
  double eps = 1e-5;
  bool operator==(const RmsNorm&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, RmsNorm>
void fields(Op& op, Visit visit) { visit("eps", op.eps); }
std::vector<Shape> output_shapes(const RmsNorm& op, Shapes in);
std::vector<ParameterSpec> parameters(const RmsNorm& op, const Shape& x);
Cost forward_cost(const RmsNorm& op, const Operands& o);
Cost backward_cost(const RmsNorm& op, const Operands& o);
Traits traits(const RmsNorm& op);
Rounding rounding(const RmsNorm& op, Shapes in);
std::optional<PythonCall> python_call(const RmsNorm& op, const PythonNode& in);

// y = exp(x - max) / sum exp(x - max) over the last axis. Computed in fp32 for low types.
struct Softmax {
  static constexpr std::string_view kKind = "softmax";
  static constexpr OperandRule kOperands[] = {{"x"}};
  bool operator==(const Softmax&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, Softmax>
void fields(Op&, Visit) {}
std::vector<Shape> output_shapes(const Softmax& op, Shapes in);
Cost forward_cost(const Softmax& op, const Operands& o);
Cost backward_cost(const Softmax& op, const Operands& o);
Traits traits(const Softmax& op);
Rounding rounding(const Softmax& op, Shapes in);
std::optional<PythonCall> python_call(const Softmax& op, const PythonNode& in);

}  // namespace tbd
