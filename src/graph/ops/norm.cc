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
// Reads dy and x, writes dx.
Cost rows_backward(int64_t elements, int64_t rows, const Operands& o) {
  if (elements_needing_gradient(o) == 0) return {};
  return {.simd = 13 * elements + 2 * rows, .bytes = o.out_bytes() + 2 * o.in_bytes(0)};
}

}  // namespace

std::vector<Shape> output_shapes(const BatchNorm& op, Shapes in) {
  require(in[0].rank() >= 2, "expected (N, C, ...), got ", in[0]);
  require(op.eps > 0, "eps must be positive");
  require(op.stats == BatchNorm::Stats::frozen || in[0].elements() > in[0][1],
          "batch statistics of ", in[0], " need more than one value per channel");
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
  if (op.stats == BatchNorm::Stats::frozen)
    return {.simd = 2 * elements + 4 * channels, .trans = channels, .bytes = bytes_touched_forward(o)};
  const int64_t running = op.stats == BatchNorm::Stats::running ? 7 * channels : 0;
  const int64_t written = op.stats == BatchNorm::Stats::running ? 2 * channels * 4 : 0;
  return {.simd = 7 * elements + 3 * channels + running,
          .trans = channels,
          .bytes = bytes_touched_forward(o) + written};
}

Cost backward_cost(const BatchNorm& op, const Operands& o) {
  const int64_t elements = o.in[0].elements(), channels = o.in[0][1];
  if (elements_needing_gradient(o) == 0) return {};
  if (op.stats == BatchNorm::Stats::frozen) return {.simd = elements, .bytes = o.out_bytes() + o.in_bytes(0)};
  return {.simd = 9 * elements + 3 * channels, .bytes = o.out_bytes() + 2 * o.in_bytes(0)};
}

Traits traits(const BatchNorm& op) {
  if (op.stats == BatchNorm::Stats::frozen) return {.may_overwrite = {}};
  return {.saves_inputs = {0, 1}};
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

}  // namespace tbd
