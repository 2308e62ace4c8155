#include "graph/ops/norm.h"

#include <algorithm>

#include "base/text.h"
#include "graph/ops/gradient_writer.h"
#include "graph/ops/python.h"

namespace tbd {
namespace {

constexpr Init kOnes = {Init::Kind::ones};

std::vector<ParameterSpec> scale_and_shift(int64_t extent) {
  return {{.suffix = "weight", .shape = {extent}, .init = kOnes}, {.suffix = "bias", .shape = {extent}}};
}

// Forward 7 E + 3 R, R square roots; backward 13 E + 2 R (docs/flops.md, layer and group norm).
Cost rows_forward(int64_t elements, int64_t rows, const Operands& o) {
  return {.simd = 7 * elements + 3 * rows, .trans = rows, .bytes = bytes_touched_forward(o)};
}
// What the gradients of a norm read and write: dy, x where it is needed, the scale for dx, and the results.
int64_t backward_bytes(const Operands& o, bool affine = true) {
  int64_t bytes = o.out_bytes();
  if (o.needs(0) || (affine && o.needs(1))) bytes += o.in_bytes(0);
  if (o.needs(0) && affine) bytes += o.in_bytes(1);
  for (size_t i = 0; i < o.in.size(); ++i)
    if (o.needs(i)) bytes += o.in_bytes(i);
  return bytes;
}

// xhat takes 2, its part of dweight 2, dbias 1; dx takes dy weight 1, two means 3, and 4 more.
Cost rows_backward(int64_t elements, int64_t rows, const Operands& o) {
  if (elements_needing_gradient(o) == 0) return {};
  int64_t steps = (o.needs(0) || o.needs(1) ? 2 : 0) + (o.needs(1) ? 2 : 0) + (o.needs(2) ? 1 : 0);
  if (o.needs(0)) steps += 8;
  return {.simd = steps * elements + (o.needs(0) ? 2 * rows : 0), .bytes = backward_bytes(o)};
}

int64_t last_axis_or_rows(const Shape& x) { return std::max(x.back(), x.elements() / x.back()); }

// In rows (N, groups, rest), with u = g weight, s = 1 / sqrt(var + eps), n = (x - mean) s:
// s (u - mean u - n mean(u n)).
std::string norm_gradient(const GroupNorm& op, GradientWriter& node, const std::string& operand, const std::string& g) {
  using B = Binary::Function;
  const Shape& x = node.shape(0);
  std::vector<int64_t> channel(static_cast<size_t>(x.rank()), 1);
  channel[1] = x[1];
  const auto in_rows = [&](const std::string& value) { return node.put(Reshape{{0, op.groups, -1}}, {value}); };
  const auto mean = [&](const std::string& value) {
    return node.put(Reduce{Reduce::Function::mean, {2}, true}, {value});
  };
  const std::string rows = in_rows(operand);
  const std::string centred = node.put(B::sub, rows, mean(rows));
  const std::string variance = mean(node.put(Unary{Unary::Function::square}, {centred}));
  const std::string root =
      node.put(Unary{Unary::Function::sqrt}, {node.put(Affine{.factor = 1, .offset = op.eps}, {variance})});
  const std::string n = node.put(B::div, centred, root);
  const std::string u = in_rows(node.mul(g, node.put(Reshape{channel}, {node.operand(1)})));
  const std::string level = node.put(B::sub, u, mean(u));
  const std::string slope = node.put(B::div, node.put(B::sub, level, node.mul(n, mean(node.mul(u, n)))), root);
  return node.put(Reshape{with_any_batch(x)}, {slope});
}

}  // namespace

std::vector<Shape> output_shapes(const BatchNorm& op, Shapes in) {
  require(in[0].rank() >= 2, "expected (N, C, ...), got ", in[0]);
  require(op.eps > 0, "eps must be positive");
  require(op.stats == BatchNorm::Stats::frozen || in[0].elements() > in[0][1], "batch statistics of ", in[0],
          " need more than one value per channel");
  return {in[0]};
}

std::vector<ParameterSpec> parameters(const BatchNorm& op, const Shape& x) {
  const bool frozen = op.stats == BatchNorm::Stats::frozen;
  std::vector<ParameterSpec> specs;
  if (op.affine) specs = scale_and_shift(x[1]);
  for (ParameterSpec& spec : specs) spec.buffer = frozen;
  for (ParameterSpec& spec : specs) spec.moves = false;
  if (op.stats == BatchNorm::Stats::batch) return specs;
  specs.push_back({.suffix = "running_mean", .shape = {x[1]}, .buffer = true, .moves = !frozen});
  specs.push_back({.suffix = "running_var", .shape = {x[1]}, .init = kOnes, .buffer = true, .moves = !frozen});
  return specs;
}

Cost forward_cost(const BatchNorm& op, const Operands& o) {
  const int64_t elements = o.in[0].elements(), channels = o.in[0][1];
  const int64_t bytes = bytes_touched_forward(o);
  if (op.stats == BatchNorm::Stats::frozen)
    return {.simd = 2 * elements + (op.affine ? 4 : 1) * channels, .trans = channels, .bytes = bytes};
  Cost cost = {.simd = (op.affine ? 7 : 5) * elements + 3 * channels, .trans = channels, .bytes = bytes};
  if (op.stats == BatchNorm::Stats::running)  // both buffers are written again
    cost += {.simd = 7 * channels, .bytes = o.in_bytes(o.in.size() - 2) + o.in_bytes(o.in.size() - 1)};
  return cost;
}

// The sums of dy and dy xhat serve dx, dweight and dbias alike: 5 per element; dx takes 4 more.
Cost backward_cost(const BatchNorm& op, const Operands& o) {
  const int64_t elements = o.in[0].elements(), channels = o.in[0][1];
  if (elements_needing_gradient(o) == 0) return {};
  if (op.stats == BatchNorm::Stats::frozen) return {.simd = elements, .bytes = o.out_bytes() + o.in_bytes(0)};
  if (o.needs(0)) return {.simd = 9 * elements + (op.affine ? 3 : 2) * channels, .bytes = backward_bytes(o, op.affine)};
  const int64_t steps = (o.needs(1) ? 4 : 0) + (o.needs(2) ? 1 : 0);
  return {.simd = steps * elements, .bytes = backward_bytes(o)};
}

Traits traits(const BatchNorm& op) {
  if (op.stats == BatchNorm::Stats::frozen) return {};
  return {.saves_inputs = op.affine ? std::vector<int>{0, 1} : std::vector<int>{0}};
}
// The root and the scale round after the sums; the gradient subtracts two means of the upstream gradient.
Rounding rounding(const BatchNorm&, Shapes in) { return {3, per_channel(in[0])}; }
std::optional<PythonCall> python_call(const BatchNorm& op, const PythonNode& in) {
  using enum PythonNode::Framework;
  const bool frozen = op.stats == BatchNorm::Stats::frozen;
  if (in.is(tensorflow) && (!op.affine || frozen || in.x(0).rank() != 4)) return std::nullopt;
  if (in.is(mxnet) && (!op.affine || op.stats != BatchNorm::Stats::running)) return std::nullopt;
  const std::string eps = python_number(op.eps);
  return in.one_of(cat("F.batch_norm(x0, ", in.optional("running_mean"), ", ", in.optional("running_var"), ", ",
                       in.optional("weight"), ", ", in.optional("bias"), ", training=", python_bool(!frozen),
                       ", momentum=", python_number(op.momentum), ", eps=", eps, ")"),
                   in.channels_first(cat(
                       "tf.compat.v1.nn.fused_batch_norm(tf.transpose(x0, (0, 2, 3, 1)), weight, bias, epsilon=", eps,
                       ", is_training=True)[0]")),
                   cat("mx.nd.BatchNorm(x0, weight, bias, running_mean, running_var, fix_gamma=False, eps=", eps,
                       ", momentum=", python_number(1 - op.momentum), ")"));
}

std::vector<Shape> output_shapes(const GroupNorm& op, Shapes in) {
  require(in[0].rank() >= 2, "expected (N, C, ...), got ", in[0]);
  require(op.groups > 0 && in[0][1] % op.groups == 0, "groups=", op.groups, " does not divide C=", in[0][1], " of ",
          in[0]);
  return {in[0]};
}
std::vector<ParameterSpec> parameters(const GroupNorm&, const Shape& x) { return scale_and_shift(x[1]); }
Cost forward_cost(const GroupNorm& op, const Operands& o) {
  return rows_forward(o.in[0].elements(), o.in[0][0] * op.groups, o);
}
Cost backward_cost(const GroupNorm& op, const Operands& o) {
  return rows_backward(o.in[0].elements(), o.in[0][0] * op.groups, o);
}
Traits traits(const GroupNorm&) { return {.saves_inputs = {0, 1}}; }
Rounding rounding(const GroupNorm& op, Shapes in) {
  return {3, std::max(in[0].elements() / in[0][0] / op.groups, per_channel(in[0]))};
}
// As norms do, it computes in the type of its weight, which is that of x or a wider one.
bool write_gradient(const GroupNorm& op, GradientWriter& node, const std::string& g) {
  if (!node.wants_first_alone()) return false;
  if (node.counts_memory()) {  // one kernel, whose own gradient is made from g and forward's operand
    node.pass(0, node.put(op, {g, node.operand(1), node.operand(2)}));
    return true;
  }
  const DType narrow = node.type(0), wide = node.type(1);
  const auto cast = [&](const std::string& value, DType to) {
    return narrow == wide ? value : node.put(Cast{to}, {value});
  };
  const std::string operand = cast(node.operand(0), wide);
  node.pass(0, cast(norm_gradient(op, node, operand, cast(g, wide)), narrow));
  return true;
}
std::optional<PythonCall> python_call(const GroupNorm& op, const PythonNode& in) {
  if (!in.is(PythonNode::Framework::torch)) return std::nullopt;
  return PythonCall{cat("F.group_norm(x0, ", op.groups, ", weight, bias, eps=", python_number(op.eps), ")")};
}

std::vector<Shape> output_shapes(const LayerNorm&, Shapes in) {
  require(in[0].rank() >= 1, "expected (..., features), got a scalar");
  return {in[0]};
}
std::vector<ParameterSpec> parameters(const LayerNorm&, const Shape& x) { return scale_and_shift(x.back()); }
Cost forward_cost(const LayerNorm&, const Operands& o) {
  return rows_forward(o.in[0].elements(), o.in[0].elements() / o.in[0].back(), o);
}
Cost backward_cost(const LayerNorm&, const Operands& o) {
  return rows_backward(o.in[0].elements(), o.in[0].elements() / o.in[0].back(), o);
}
Traits traits(const LayerNorm&) { return {.saves_inputs = {0, 1}}; }
Rounding rounding(const LayerNorm&, Shapes in) { return {3, last_axis_or_rows(in[0])}; }
std::optional<PythonCall> python_call(const LayerNorm& op, const PythonNode& in) {
  const std::string eps = python_number(op.eps);
  return in.one_of(
      cat("F.layer_norm(x0, (x0.shape[-1],), weight, bias, eps=", eps, ")"),
      cat("tf.nn.batch_normalization(x0, *tf.nn.moments(x0, [-1], keepdims=True), bias, weight, ", eps, ")"),
      cat("mx.nd.LayerNorm(x0, weight, bias, eps=", eps, ")"));
}

std::vector<Shape> output_shapes(const RmsNorm& op, Shapes in) {
  require(in[0].rank() >= 1, "expected (..., features), got a scalar");
  require(op.eps > 0, "eps must be positive");
  return {in[0]};
}
std::vector<ParameterSpec> parameters(const RmsNorm&, const Shape& x) {
  return {{.suffix = "weight", .shape = {x.back()}, .init = kOnes}};
}
// Squares and their sum 2, scale and weight 2; per row the mean, eps and the root.
Cost forward_cost(const RmsNorm&, const Operands& o) {
  const int64_t elements = o.in[0].elements(), rows = elements / o.in[0].back();
  return {.simd = 4 * elements + 2 * rows, .trans = rows, .bytes = bytes_touched_forward(o)};
}
// xhat takes 1, dweight 2; dx takes dy weight 1, its mean with xhat 2, and 3 more.
Cost backward_cost(const RmsNorm&, const Operands& o) {
  const int64_t elements = o.in[0].elements(), rows = elements / o.in[0].back();
  if (elements_needing_gradient(o) == 0) return {};
  const int64_t steps = 1 + (o.needs(1) ? 2 : 0) + (o.needs(0) ? 6 : 0);
  return {.simd = steps * elements + (o.needs(0) ? rows : 0), .bytes = backward_bytes(o)};
}
Traits traits(const RmsNorm&) { return {.saves_inputs = {0, 1}}; }
Rounding rounding(const RmsNorm&, Shapes in) { return {3, last_axis_or_rows(in[0])}; }
std::optional<PythonCall> python_call(const RmsNorm& op, const PythonNode& in) {
  const std::vector<std::string> ones(static_cast<size_t>(in.x(0).rank() - 1), "1, ");
  const std::string weight = cat("reshape(weight, (", join(ones, ""), "-1))"), eps = python_number(op.eps);
  return in.one_of(cat("F.rms_norm(x0, (x0.shape[-1],), weight, eps=", eps, ")"),
                   cat("x0 * tf.math.rsqrt(tf.reduce_mean(x0 * x0, -1, keepdims=True) + ", eps, ") * weight"),
                   cat("x0 / mx.nd.sqrt(mx.nd.mean(x0 * x0, axis=-1, keepdims=True) + ", eps, ") * mx.nd.", weight));
}

std::vector<Shape> output_shapes(const Softmax&, Shapes in) {
  require(in[0].rank() >= 1, "expected (..., features), got a scalar");
  return {in[0]};
}
Cost forward_cost(const Softmax&, const Operands& o) {
  const int64_t elements = o.in[0].elements();
  return {.simd = 4 * elements, .trans = elements, .bytes = bytes_touched_forward(o)};
}
// (dy - sum dy y) y.
Cost backward_cost(const Softmax&, const Operands& o) {
  if (!o.needs(0)) return {};
  return {.simd = 4 * o.in[0].elements(), .bytes = 2 * o.out_bytes() + o.in_bytes(0)};
}
Traits traits(const Softmax&) { return {.saves_output = true}; }
// An exponential and a quotient; the gradient subtracts a sum from each term of it.
Rounding rounding(const Softmax&, Shapes in) { return {6, in[0].back()}; }
std::optional<PythonCall> python_call(const Softmax&, const PythonNode& in) { return in.composed("softmax(x0)"); }

}  // namespace tbd
