#include "graph/ops/upsample.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "graph/ops/conv2d.h"
#include "graph/ops/python.h"

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
  require(in.size() < 2 || in[1] == weight, "weight is ", in.size() < 2 ? weight : in[1], ", expected ", weight);
  return {y};
}
std::vector<ParameterSpec> parameters(const ConvTranspose2d& op, const Shape& x) {
  auto specs = parameters(convolution(op, x[1]), Shape{x[0], op.out, op.kernel.h, op.kernel.w});
  if (op.bias) specs.push_back({.suffix = "bias", .shape = {op.out}});
  return specs;
}
Cost forward_cost(const ConvTranspose2d& op, const Operands& o) {
  Cost cost = product_cost(op, o);
  cost.simd = op.bias ? o.out[0].elements() : 0;
  cost.bytes = bytes_touched_forward(o);
  return cost;
}
Cost backward_cost(const ConvTranspose2d& op, const Operands& o) {
  Cost cost;
  const Cost each = product_cost(op, o);
  const int64_t all = o.out_bytes() + o.in_bytes(0) + o.in_bytes(1);  // two are read, one is written
  for (const size_t operand : {0u, 1u})
    if (o.needs(operand)) cost += {.model = each.model, .valid = each.valid, .bytes = all};
  if (op.bias && o.needs(2)) cost += {.simd = o.out[0].elements(), .bytes = o.out_bytes() + o.in_bytes(2)};
  return cost;
}
Traits traits(const ConvTranspose2d&) {
  return {.saves_inputs = {0, 1}, .rows_from = 0, .precision = PrecisionRule::low};
}
// Of a bias as conv2d's.
Rounding rounding(const ConvTranspose2d& op, Shapes in) {
  const int64_t taps = op.kernel.h * op.kernel.w, of_bias = op.bias ? per_channel(output_shapes(op, in)[0]) : 1;
  return {op.bias ? 7.0 : 1.0, std::max({in[0][1] * taps, op.out * taps, per_channel(in[0]), of_bias})};
}
// Of every pad without pads, which are cut off.
std::optional<PythonCall> python_call(const ConvTranspose2d& op, const PythonNode& in) {
  const Shape weight = {in.x(0)[1], op.out, op.kernel.h, op.kernel.w};
  const ConvTranspose2d whole = {.out = op.out, .kernel = op.kernel, .stride = op.stride};
  const Shape shapes[] = {in.x(0), weight}, y = output_shapes(whole, shapes)[0];
  const std::string stride = python_pair(op.stride);
  const std::string wide =
      in.pick(cat("F.conv_transpose2d(x0, weight, stride=", stride, ")"),
              in.channels_first(
                  cat("tf.nn.conv2d_transpose(tf.transpose(x0, (0, 2, 3, 1)), tf.transpose(weight, (2, 3, 1, 0)), ",
                      python_tuple(std::vector{y[0], y[2], y[3], y[1]}), ", ", stride, ", 'VALID')")),
              cat("mx.nd.Deconvolution(x0, weight, no_bias=True, kernel=", python_pair(op.kernel), ", stride=", stride,
                  ", num_filter=", op.out, ")"));
  const std::string cut =
      cat("[:, :, ", op.pads.top, ":", y[2] - op.pads.bottom, ", ", op.pads.left, ":", y[3] - op.pads.right, "]");
  const std::string bias = op.bias ? in.pick(" + bias.reshape((1, -1, 1, 1))", " + tf.reshape(bias, (1, -1, 1, 1))",
                                             " + bias.reshape((1, -1, 1, 1))")
                                   : "";
  return PythonCall{wide + (op.pads == Pads{} ? "" : cut) + bias};
}

}  // namespace tbd
