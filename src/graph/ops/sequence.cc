#include "graph/ops/sequence.h"

#include <algorithm>

#include "base/text.h"
#include "graph/ops/python.h"

namespace tbd {

std::vector<Shape> output_shapes(const Gather&, Shapes in) {
  require(in.size() == 2, "expected x and positions, got ", in.size(), " operands");
  const Shape &x = in[0], &positions = in[1];
  require(x.rank() >= 2, "expected x (N, S, ...), got ", x);
  require(positions.rank() == 2 && positions[0] == x[0], "positions are ", positions, ", expected (", x[0], ", P)");
  Shape y = x;
  y[1] = positions[1];
  return {y};
}
// Only the rows that are taken are read.
Cost forward_cost(const Gather&, const Operands& o) { return {.bytes = 2 * o.out_bytes() + o.in_bytes(1)}; }
Cost backward_cost(const Gather&, const Operands& o) {
  if (!o.needs(0)) return {};
  return {.simd = o.out[0].elements(), .bytes = o.out_bytes() + o.in_bytes(1) + o.in_bytes(0)};
}
Traits traits(const Gather&) { return {.saves_inputs = {1}, .rows_from = 0}; }
// The result is exact; the gradient of a row adds up the places where it is taken, all of them at most.
Rounding rounding(const Gather&, Shapes in) { return {1, in[1][1]}; }
std::optional<PythonCall> python_call(const Gather&, const PythonNode& in) {
  return in.one_of("x0[torch.arange(x0.shape[0])[:, None], x1.long()]", "tf.gather(x0, x1, axis=1, batch_dims=1)",
                   "mx.nd.stack(*[mx.nd.take(x0[n], x1[n]) for n in range(x0.shape[0])])");
}
Integers allowed_integers(const Gather&, size_t operand, Shapes in, const Integers& result) {
  return operand == 0 ? result : Integers{{0, in[0][1] - 1}, Integers::Bound::strict};
}

std::vector<Shape> output_shapes(const Embedding& op, Shapes in) {
  require(op.rows > 0 && op.width > 0, "rows and width must be positive");
  require(op.pad >= -1 && op.pad < op.rows, "pad=", op.pad, " is no row of ", op.rows);
  const Shape weight = {op.rows, op.width};
  require(in.size() < 2 || in[1] == weight, "weight is ", in.back(), ", expected ", weight);
  std::vector<int64_t> extents(in[0].extents().begin(), in[0].extents().end());
  extents.push_back(op.width);
  return {Shape(extents)};
}
std::vector<ParameterSpec> parameters(const Embedding& op, const Shape&) {
  Init init = Init::normal(1);
  init.zero_row = op.pad;
  return {{.suffix = "weight", .shape = {op.rows, op.width}, .init = init}};
}
Cost forward_cost(const Embedding&, const Operands& o) { return {.bytes = 2 * o.out_bytes() + o.in_bytes(0)}; }
// Adds each place's gradient to its row of a dense gradient.
Cost backward_cost(const Embedding&, const Operands& o) {
  if (!o.needs(1)) return {};
  return {.simd = o.out[0].elements(), .bytes = o.out_bytes() + o.in_bytes(0) + o.in_bytes(1)};
}
Traits traits(const Embedding&) { return {.saves_inputs = {0}}; }
Rounding rounding(const Embedding&, Shapes in) { return {1, in[0].elements()}; }
// Rows of padding: without a gradient.
std::optional<PythonCall> python_call(const Embedding& op, const PythonNode& in) {
  if (in.is(PythonNode::Framework::torch))
    return PythonCall{cat("F.embedding(x0, weight", op.pad < 0 ? "" : cat(", padding_idx=", op.pad), ")")};
  const std::string rows =
      in.pick("", "tf.gather(weight, x0)",
              cat("mx.nd.Embedding(x0, weight, input_dim=", op.rows, ", output_dim=", op.width, ")"));
  if (op.pad < 0) return PythonCall{rows};
  const std::string kept = cat("constant(np.expand_dims(", in.given(0), " != ", op.pad, ", -1))");
  return in.composed(cat(rows, " * ", kept, " + ", in.pick("", "tf.stop_gradient", "mx.nd.BlockGrad"), "(", rows,
                         ") * (1 - ", kept, ")"));
}
Integers allowed_integers(const Embedding& op, size_t, Shapes, const Integers&) {
  return {{0, op.rows - 1}, Integers::Bound::strict};
}

std::vector<Shape> output_shapes(const Equals& op, Shapes in) {
  require(is_float(op.to), "'to' is ", op.to, ", expected a float type");
  return {in[0]};
}
Cost forward_cost(const Equals&, const Operands& o) {
  return {.simd = o.in[0].elements(), .bytes = bytes_touched_forward(o)};
}
Cost backward_cost(const Equals&, const Operands&) { return {}; }
Traits traits(const Equals&) { return {.differentiable = false}; }
// Nothing is computed: exact.
Rounding rounding(const Equals&, Shapes) { return {0}; }
std::optional<PythonCall> python_call(const Equals& op, const PythonNode& in) {
  return in.one_of(cat("(x0 == ", op.value, ").float()"), cat("tf.cast(x0 == ", op.value, ", tf.float32)"),
                   cat("(x0 == ", op.value, ").astype('float32')"));
}
Integers allowed_integers(const Equals& op, size_t, Shapes, const Integers&) {
  return {{0, std::max<int64_t>(1, op.value)}};
}

std::vector<Shape> output_shapes(const Sinusoid& op, Shapes in) {
  require(in[0].rank() == 2, "expected valid (N, T), got ", in[0]);
  require(op.width >= 4 && op.width % 2 == 0, "width=", op.width, " is not even and at least 4");
  require(op.first >= 0, "first=", op.first, " is negative");
  return {{in[0][0], in[0][1], op.width}};
}
Cost forward_cost(const Sinusoid&, const Operands& o) {
  return {.simd = o.out[0].elements(), .bytes = bytes_touched_forward(o)};
}
Cost backward_cost(const Sinusoid&, const Operands&) { return {}; }
Traits traits(const Sinusoid&) { return {.differentiable = false}; }
// A constant, rounded once.
Rounding rounding(const Sinusoid&, Shapes) { return {1}; }
std::optional<PythonCall> python_call(const Sinusoid& op, const PythonNode& in) {
  const std::string angles = cat("np.outer(", op.first, " + np.arange(", in.x(0)[1], "), 10000.0 ** (-np.arange(",
                                 op.width / 2, ") / ", op.width / 2 - 1, "))");
  return in.composed(
      "reshape(x0, tuple(x0.shape) + (1,)) * constant(waves)",
      cat("\nangles = ", angles, "\nwaves = np.concatenate([np.sin(angles), np.cos(angles)], -1)[None]\n"));
}

}  // namespace tbd
