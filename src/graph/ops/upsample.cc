#include "graph/ops/upsample.h"

#include <algorithm>
#include <cmath>

#include "graph/ops/conv2d.h"

namespace tbd {
namespace {

// The convolution whose gradient this is.
Conv2d convolution(const ConvTranspose2d& op, int64_t channels) {
  return {.out = channels, .kernel = op.kernel, .stride = op.stride, .pads = op.pads};
}

int64_t upsampled_extent(int64_t n, int64_t pads, int64_t kernel, int64_t stride) {
  return (n - 1) * stride - pads + kernel;
}

// Its products are those of the convolution's forward.
Cost product_cost(const ConvTranspose2d& op, const Operands& o) {
  Operands swapped = {.in = {o.out[0], o.in[1]}, .out = {o.in[0]}};
  swapped.in_dtypes = {o.out_dtypes[0], o.in_dtypes[1]};
  swapped.out_dtypes = {o.in_dtypes[0]};
  const Cost cost = forward_cost(convolution(op, o.in[0][1]), swapped);
  return {.model = cost.model, .valid = cost.valid};
}

}  // namespace

std::vector<Shape> output_shapes(const UpsampleNearest& op, Shapes in) {
  const Shape& x = in[0];
  require(x.rank() == 4, "expected (N, C, H, W), got ", x);
  require(op.factor > 0, "factor must be positive");
  return {{x[0], x[1], op.factor * x[2], op.factor * x[3]}};
}
Cost forward_cost(const UpsampleNearest&, const Operands& o) { return {.bytes = bytes_touched_forward(o)}; }
Cost backward_cost(const UpsampleNearest&, const Operands& o) {
  if (!o.needs(0)) return {};
  return {.simd = o.out[0].elements(), .bytes = o.out_bytes() + o.in_bytes(0)};
}
Traits traits(const UpsampleNearest&) { return {}; }
Rounding rounding(const UpsampleNearest& op, Shapes) { return {1, op.factor * op.factor}; }

std::vector<Shape> output_shapes(const ConvTranspose2d& op, Shapes in) {
  const Shape& x = in[0];
  require(x.rank() == 4, "expected (N, C, H, W), got ", x);
  require(op.out > 0 && op.stride.h > 0 && op.stride.w > 0 && op.kernel.h > 0 && op.kernel.w > 0,
          "out, kernel and stride must be positive");
  require(op.pads.top >= 0 && op.pads.bottom >= 0 && op.pads.left >= 0 && op.pads.right >= 0,
          "pads must not be negative");
  const Shape y = {x[0], op.out, upsampled_extent(x[2], op.pads.top + op.pads.bottom, op.kernel.h, op.stride.h),
                   upsampled_extent(x[3], op.pads.left + op.pads.right, op.kernel.w, op.stride.w)};
  require(y[2] > 0 && y[3] > 0, "pads leave nothing of ", x);
  const Shape weight = {x[1], op.out, op.kernel.h, op.kernel.w};
  require(in.size() < 2 || in[1] == weight, "weight is ", in.back(), ", expected ", weight);
  return {y};
}
std::vector<ParameterSpec> parameters(const ConvTranspose2d& op, const Shape& x) {
  return parameters(convolution(op, x[1]), Shape{x[0], op.out, op.kernel.h, op.kernel.w});
}
Cost forward_cost(const ConvTranspose2d& op, const Operands& o) {
  Cost cost = product_cost(op, o);
  cost.bytes = bytes_touched_forward(o);
  return cost;
}
Cost backward_cost(const ConvTranspose2d& op, const Operands& o) {
  Cost cost;
  const Cost each = product_cost(op, o);
  const int64_t all = o.out_bytes() + o.in_bytes(0) + o.in_bytes(1);  // two are read, one is written
  for (const size_t operand : {0u, 1u})
    if (o.needs(operand)) cost += {.model = each.model, .valid = each.valid, .bytes = all};
  return cost;
}
Traits traits(const ConvTranspose2d&) { return {.saves_inputs = {0, 1}, .precision = PrecisionRule::low}; }
Rounding rounding(const ConvTranspose2d& op, Shapes in) {
  const int64_t taps = op.kernel.h * op.kernel.w;
  return {1, std::max({in[0][1] * taps, op.out * taps, per_channel(in[0])})};
}

}  // namespace tbd
