#include "graph/ops/conv2d.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "graph/ops/gradient_writer.h"
#include "graph/ops/python.h"

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

Traits traits(const Conv2d&) { return {.saves_inputs = {0, 1}, .rows_from = 0, .precision = PrecisionRule::low}; }
// One product and one sum per term. The gradient of a bias is a plain sum over all positions, term after term in some
// kernels: its partial sums round, and they can be larger than the result and than what moving its terms does to it.
// Over the 10,368 positions of Deep Speech 2's first layer, whose gradients nearly cancel, PyTorch shows a c of 1.8.
Rounding rounding(const Conv2d& op, Shapes in) {
  const int64_t taps = op.kernel.h * op.kernel.w;
  return {op.bias ? 7.0 : 1.0,
          std::max({in[0][1] / op.groups * taps, op.out / op.groups * taps, per_channel(output_shapes(op, in)[0])})};
}
bool write_gradient(const Conv2d& op, GradientWriter& node, const std::string& g) {
  const Shape& x = node.shape(0);
  const ConvTranspose2d back = {.out = x[1], .kernel = op.kernel, .stride = op.stride, .pads = op.pads};
  if (!node.wants_first_alone() || op.groups != 1 || op.dilation != Extent2(1)) return false;
  if (output_shapes(back, std::vector{node.result_shape()})[0] != x) return false;  // the stride leaves a rest
  node.pass(0, node.put(back, {g, node.operand(1)}));
  return true;
}
std::optional<PythonCall> python_call(const Conv2d& op, const PythonNode& in) {
  const std::string stride = python_pair(op.stride), dilation = python_pair(op.dilation), x = in.padded(op.pads);
  const bool depthwise = op.groups > 1 && op.groups == in.x(0)[1];
  if (depthwise && op.out != op.groups && in.is(PythonNode::Framework::tensorflow)) return std::nullopt;
  const std::string channels_last =
      depthwise ? cat("tf.nn.depthwise_conv2d(", x, ", tf.transpose(weight, (2, 3, 0, 1)), (1, ", op.stride.h, ", ",
                      op.stride.w, ", 1), 'VALID', dilations=", dilation, ")")
                : cat("tf.nn.conv2d(", x, ", tf.transpose(weight, (2, 3, 1, 0)), ", stride,
                      ", 'VALID', dilations=", dilation, ")");
  return in.one_of(cat("F.conv2d(", x, ", weight, ", in.optional("bias"), ", stride=", stride, ", dilation=", dilation,
                       ", groups=", op.groups, ")"),
                   in.channels_first(channels_last + (op.bias ? " + bias" : "")),
                   cat("mx.nd.Convolution(", x, ", weight, ", op.bias ? "bias, " : "no_bias=True, ",
                       "kernel=", python_pair(op.kernel), ", stride=", stride, ", dilate=", dilation,
                       ", num_filter=", op.out, ", num_group=", op.groups, ")"));
}

}  // namespace tbd
