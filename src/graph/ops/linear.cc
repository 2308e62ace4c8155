#include "graph/ops/linear.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "graph/ops/gradient_writer.h"
#include "graph/ops/python.h"

namespace tbd {
namespace {

int64_t matmul_flops(const Matmul& op, const Operands& o) {
  const Shape& a = o.in[0];
  const int64_t inner = a[a.rank() - (op.transpose_a ? 2 : 1)];
  return 2 * o.out[0].elements() * inner;
}

}  // namespace

std::vector<Shape> output_shapes(const Linear& op, Shapes in) {
  const Shape& x = in[0];
  require(x.rank() >= 1, "expected (..., features), got a scalar");
  require(op.out > 0, "out must be positive");
  const Shape weight = {op.out, x.back()};
  require(in.size() < 2 || in[1] == weight, "weight is ", in.size() < 2 ? weight : in[1], ", expected ", weight);
  Shape y = x;
  y[x.rank() - 1] = op.out;
  return {y};
}

std::vector<ParameterSpec> parameters(const Linear& op, const Shape& x) {
  const Init init = {Init::Kind::uniform, 1 / std::sqrt(static_cast<double>(x.back()))};
  std::vector<ParameterSpec> specs = {{.suffix = "weight", .shape = {op.out, x.back()}, .init = init}};
  if (op.bias) specs.push_back({.suffix = "bias", .shape = {op.out}, .init = init});
  return specs;
}

Cost forward_cost(const Linear& op, const Operands& o) {
  const int64_t macs = 2 * o.in[0].elements() * op.out;
  return {.model = macs, .valid = macs, .simd = op.bias ? o.out[0].elements() : 0, .bytes = bytes_touched_forward(o)};
}

Cost backward_cost(const Linear& op, const Operands& o) {
  const int64_t macs = 2 * o.in[0].elements() * op.out;
  Cost cost;
  if (o.needs(0)) cost += {.model = macs, .valid = macs, .bytes = o.out_bytes() + o.in_bytes(1) + o.in_bytes(0)};
  if (o.needs(1)) cost += {.model = macs, .valid = macs, .bytes = o.out_bytes() + o.in_bytes(0) + o.in_bytes(1)};
  if (op.bias && o.needs(2)) cost += {.simd = o.out[0].elements(), .bytes = o.out_bytes() + o.in_bytes(2)};
  return cost;
}

Traits traits(const Linear&) { return {.saves_inputs = {0, 1}, .rows_from = 0, .precision = PrecisionRule::low}; }
Rounding rounding(const Linear& op, Shapes in) {
  return {1, std::max({in[0].back(), op.out, in[0].elements() / std::max<int64_t>(1, in[0].back())})};
}
bool write_gradient(const Linear&, GradientWriter& node, const std::string& g) {
  if (!node.wants_first_alone() || node.shape(0).rank() != 2) return false;
  node.pass(0, node.put(Matmul{}, {g, node.operand(1)}));
  return true;
}
std::optional<PythonCall> python_call(const Linear& op, const PythonNode& in) {
  return in.one_of(cat("F.linear(x0, weight, ", in.optional("bias"), ")"),
                   cat("tf.linalg.matmul(x0, weight, transpose_b=True)", in.has("bias") ? " + bias" : ""),
                   cat("mx.nd.FullyConnected(x0, weight, ", op.bias ? "bias, " : "no_bias=True, ",
                       "num_hidden=", op.out, ", flatten=False)"));
}

std::vector<Shape> output_shapes(const Matmul& op, Shapes in) {
  require(in.size() == 2, "expected two operands, got ", in.size());
  const Shape &a = in[0], &b = in[1];
  require(a.rank() >= 2 && a.rank() == b.rank(), "expected equal ranks of at least 2, got ", a, " and ", b);
  const int64_t last = a.rank() - 1;
  for (int64_t axis = 0; axis + 2 < a.rank(); ++axis)
    require(a[axis] == b[axis], "leading axes of ", a, " and ", b, " differ");
  const int64_t inner_a = a[op.transpose_a ? last - 1 : last], inner_b = b[op.transpose_b ? last : last - 1];
  require(inner_a == inner_b, "inner extents of ", a, " and ", b, " differ");
  Shape y = a;
  y[last - 1] = a[op.transpose_a ? last : last - 1];
  y[last] = b[op.transpose_b ? last - 1 : last];
  return {y};
}

Cost forward_cost(const Matmul& op, const Operands& o) {
  const int64_t macs = matmul_flops(op, o);
  return {.model = macs, .valid = macs, .bytes = bytes_touched_forward(o)};
}

Cost backward_cost(const Matmul& op, const Operands& o) {
  const int64_t macs = matmul_flops(op, o);
  Cost cost;
  for (const size_t input : {0u, 1u})
    if (o.needs(input)) cost += {.model = macs, .valid = macs, .bytes = o.out_bytes() + o.in_bytes(0) + o.in_bytes(1)};
  return cost;
}

Traits traits(const Matmul&) { return {.saves_inputs = {0, 1}, .precision = PrecisionRule::low}; }
Rounding rounding(const Matmul&, Shapes in) {
  const auto side = [](const Shape& x) { return std::max(x[x.rank() - 1], x[x.rank() - 2]); };
  return {1, std::max(side(in[0]), side(in[1]))};
}
std::optional<PythonCall> python_call(const Matmul& op, const PythonNode& in) {
  if (in.is(PythonNode::Framework::mxnet) && in.x(0).rank() != 3) return std::nullopt;
  const std::string transposed =
      cat(", transpose_a=", python_bool(op.transpose_a), ", transpose_b=", python_bool(op.transpose_b), ")");
  return in.one_of(cat("torch.matmul(x0", op.transpose_a ? ".mT" : "", ", x1", op.transpose_b ? ".mT" : "", ")"),
                   cat("tf.linalg.matmul(x0, x1", transposed), cat("mx.nd.batch_dot(x0, x1", transposed));
}

}  // namespace tbd
