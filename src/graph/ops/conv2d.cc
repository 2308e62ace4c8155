#include "graph/ops/conv2d.h"

#include <cmath>

namespace tbd {
namespace {

int64_t convolved_extent(int64_t n, int64_t pads, int64_t kernel, int64_t dilation, int64_t stride) {
  return (n + pads - dilation * (kernel - 1) - 1) / stride + 1;
}

// Pairs (output, tap) along one axis whose tap lies inside the input.
int64_t taps_inside(int64_t n, int64_t out, int64_t pad, int64_t kernel, int64_t dilation, int64_t stride) {
  int64_t count = 0;
  for (int64_t o = 0; o < out; ++o)
    for (int64_t k = 0; k < kernel; ++k) {
      const int64_t at = o * stride - pad + k * dilation;
      count += at >= 0 && at < n;
    }
  return count;
}

struct Products {
  int64_t dense, valid;
};
Products products(const Conv2d& op, const Operands& o) {
  const Shape& x = o.in[0];
  const Shape& y = o.out[0];
  const int64_t per_tap = y[0] * y[1] * (x[1] / op.groups);
  const int64_t rows = taps_inside(x[2], y[2], op.pads.top, op.kernel.h, op.dilation.h, op.stride.h);
  const int64_t columns = taps_inside(x[3], y[3], op.pads.left, op.kernel.w, op.dilation.w, op.stride.w);
  return {2 * per_tap * y[2] * op.kernel.h * y[3] * op.kernel.w, 2 * per_tap * rows * columns};
}

}  // namespace

std::vector<Shape> output_shapes(const Conv2d& op, Shapes in) {
  const Shape& x = in[0];
  require(x.rank() == 4, "expected (N, C, H, W), got ", x);
  require(op.out > 0 && op.groups > 0 && op.stride.h > 0 && op.stride.w > 0 && op.kernel.h > 0 && op.kernel.w > 0 &&
              op.dilation.h > 0 && op.dilation.w > 0,
          "out, kernel, stride, dilation and groups must be positive");
  require(x[1] % op.groups == 0, "groups=", op.groups, " does not divide C=", x[1], " of ", x);
  require(op.out % op.groups == 0, "groups=", op.groups, " does not divide out=", op.out);
  require(op.pads.top >= 0 && op.pads.bottom >= 0 && op.pads.left >= 0 && op.pads.right >= 0,
          "pads must not be negative");
  const int64_t h = x[2] + op.pads.top + op.pads.bottom, w = x[3] + op.pads.left + op.pads.right;
  require(h > op.dilation.h * (op.kernel.h - 1) && w > op.dilation.w * (op.kernel.w - 1), "kernel ", op.kernel.h, "x",
          op.kernel.w, " does not fit into ", x);
  const Shape weight = {op.out, x[1] / op.groups, op.kernel.h, op.kernel.w};
  require(in.size() < 2 || in[1] == weight, "weight is ", in.size() < 2 ? weight : in[1], ", expected ", weight);
  return {{x[0], op.out, convolved_extent(x[2], op.pads.top + op.pads.bottom, op.kernel.h, op.dilation.h, op.stride.h),
           convolved_extent(x[3], op.pads.left + op.pads.right, op.kernel.w, op.dilation.w, op.stride.w)}};
}

std::vector<ParameterSpec> parameters(const Conv2d& op, const Shape& x) {
  const double taps = static_cast<double>(op.kernel.h) * static_cast<double>(op.kernel.w);
  const double fan_out = static_cast<double>(op.out) * taps / static_cast<double>(op.groups);
  std::vector<ParameterSpec> specs = {{.suffix = "weight",
                                       .shape = {op.out, x[1] / op.groups, op.kernel.h, op.kernel.w},
                                       .init = {Init::Kind::normal, std::sqrt(2 / fan_out)}}};
  if (op.bias) specs.push_back({.suffix = "bias", .shape = {op.out}});
  return specs;
}

Cost forward_cost(const Conv2d& op, const Operands& o) {
  const Products macs = products(op, o);
  return {.model = macs.dense,
          .valid = macs.valid,
          .simd = op.bias ? o.out[0].elements() : 0,
          .bytes = bytes_touched_forward(o)};
}

Cost backward_cost(const Conv2d& op, const Operands& o) {
  const Products macs = products(op, o);
  Cost cost;
  // The data gradient reads dy and the weight and writes dx; the weight gradient reads dy and x and writes dw.
  if (o.needs(0))
    cost += {.model = macs.dense, .valid = macs.valid, .bytes = o.out_bytes() + o.in_bytes(1) + o.in_bytes(0)};
  if (o.needs(1))
    cost += {.model = macs.dense, .valid = macs.valid, .bytes = o.out_bytes() + o.in_bytes(0) + o.in_bytes(1)};
  if (op.bias && o.needs(2)) cost += {.simd = o.out[0].elements(), .bytes = o.out_bytes() + o.in_bytes(2)};
  return cost;
}

Traits traits(const Conv2d&) { return {.saves_inputs = {0, 1}, .precision = PrecisionRule::low}; }

}  // namespace tbd
