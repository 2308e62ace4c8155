#include "graph/ops/sequence.h"

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
Traits traits(const Gather&) { return {.saves_inputs = {1}}; }

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

std::vector<Shape> output_shapes(const Equals& op, Shapes in) {
  require(is_float(op.to), "'to' is ", op.to, ", expected a float type");
  return {in[0]};
}
Cost forward_cost(const Equals&, const Operands& o) {
  return {.simd = o.in[0].elements(), .bytes = bytes_touched_forward(o)};
}
Cost backward_cost(const Equals&, const Operands&) { return {}; }
Traits traits(const Equals&) { return {.differentiable = false}; }

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

}  // namespace tbd
