#include "graph/ops/norm.h"

namespace tbd {
namespace {

constexpr Init kOnes = {Init::Kind::ones};

std::vector<ParameterSpec> scale_and_shift(int64_t extent) {
  return {{.suffix = "weight", .shape = {extent}, .init = kOnes}, {.suffix = "bias", .shape = {extent}}};
}

// Forward 7 E + 3 R, R square roots; backward 13 E + 2 R (measurement.md 3, layer and group norm).
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
  if (op.stats == BatchNorm::Stats::batch) return specs;
  specs.push_back({.suffix = "running_mean", .shape = {x[1]}, .buffer = true});
  specs.push_back({.suffix = "running_var", .shape = {x[1]}, .init = kOnes, .buffer = true});
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

}  // namespace tbd
