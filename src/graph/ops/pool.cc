#include "graph/ops/pool.h"

#include "base/text.h"
#include "graph/ops/gradient_writer.h"
#include "graph/ops/python.h"

namespace tbd {
namespace {

template <class Pool>
std::vector<Shape> pooled(const Pool& op, const Shape& x) {
  require(x.rank() == 4, "expected (N, C, H, W), got ", x);
  require(op.kernel.h > 0 && op.kernel.w > 0 && op.stride.h > 0 && op.stride.w > 0,
          "kernel and stride must be positive");
  const auto inside = [](int64_t pad, int64_t kernel) { return pad >= 0 && pad < kernel; };
  require(inside(op.pads.top, op.kernel.h) && inside(op.pads.bottom, op.kernel.h) &&
              inside(op.pads.left, op.kernel.w) && inside(op.pads.right, op.kernel.w),
          "pads must be smaller than the window: one may not lie outside x");
  const int64_t h = x[2] + op.pads.top + op.pads.bottom, w = x[3] + op.pads.left + op.pads.right;
  require(h >= op.kernel.h && w >= op.kernel.w, "window ", op.kernel.h, "x", op.kernel.w, " does not fit into ", x);
  return {{x[0], x[1], (h - op.kernel.h) / op.stride.h + 1, (w - op.kernel.w) / op.stride.w + 1}};
}

int64_t taps(Extent2 kernel) { return kernel.h * kernel.w; }

// Every output element's taps, padding included.
Cost moved(const Operands& o) { return {.bytes = o.out_bytes() + o.in_bytes(0)}; }

template <class Pool>
PythonCall pool_call(const Pool& op, const PythonNode& in, const char* type, const std::string& x) {
  const std::string kernel = python_pair(op.kernel), stride = python_pair(op.stride);
  return in.one_of(cat("F.", type, "_pool2d(", x, ", ", kernel, ", ", stride, ")"),
                   in.channels_first(cat("tf.nn.", type, "_pool2d(", x, ", ", kernel, ", ", stride, ", 'VALID')")),
                   cat("mx.nd.Pooling(", x, ", kernel=", kernel, ", stride=", stride, ", pool_type='", type, "')"));
}

}  // namespace

std::vector<Shape> output_shapes(const MaxPool& op, Shapes in) { return pooled(op, in[0]); }
Cost forward_cost(const MaxPool& op, const Operands& o) {
  Cost cost = moved(o);
  cost.simd = taps(op.kernel) * o.out[0].elements();
  return cost;
}
Cost backward_cost(const MaxPool&, const Operands& o) {
  if (!o.needs(0)) return {};
  Cost cost = moved(o);
  cost.simd = o.out[0].elements();
  return cost;
}
Traits traits(const MaxPool&) { return {.saves_inputs = {0}}; }
// A maximum is exact; its gradient adds up where windows overlap. That of other elements is another branch.
Rounding rounding(const MaxPool& op, Shapes) { return {1, op.kernel.h * op.kernel.w, false}; }
std::optional<PythonCall> python_call(const MaxPool& op, const PythonNode& in) {
  return pool_call(op, in, "max", in.padded(op.pads, /*lowest=*/true));
}

std::vector<Shape> output_shapes(const AvgPool& op, Shapes in) { return pooled(op, in[0]); }
Cost forward_cost(const AvgPool& op, const Operands& o) {
  Cost cost = moved(o);
  cost.simd = (taps(op.kernel) + 1) * o.out[0].elements();
  return cost;
}
Cost backward_cost(const AvgPool& op, const Operands& o) { return o.needs(0) ? forward_cost(op, o) : Cost{}; }
Traits traits(const AvgPool&) { return {.saves_inputs = {0}}; }
Rounding rounding(const AvgPool& op, Shapes) { return {1, op.kernel.h * op.kernel.w}; }
// Where windows tile the image.
bool write_gradient(const AvgPool& op, GradientWriter& node, const std::string& g) {
  const Shape &x = node.shape(0), &y = node.result_shape();
  const int64_t side = op.kernel.h;
  const bool tiles = op.kernel == Extent2(side) && op.stride == op.kernel && op.pads == Pads{};
  if (!tiles || y[2] * side != x[2] || y[3] * side != x[3]) return false;
  const double share = 1 / static_cast<double>(side * side);
  node.pass(0, node.put(Affine{.factor = share}, {node.put(UpsampleNearest{side}, {g})}));
  return true;
}
std::optional<PythonCall> python_call(const AvgPool& op, const PythonNode& in) {
  if (!op.include_pad && op.pads != Pads{}) return std::nullopt;
  return pool_call(op, in, "avg", in.padded(op.pads));
}

std::vector<Shape> output_shapes(const GlobalMean&, Shapes in) {
  require(in[0].rank() == 4, "expected (N, C, H, W), got ", in[0]);
  return {{in[0][0], in[0][1]}};
}
Cost forward_cost(const GlobalMean&, const Operands& o) {
  Cost cost = moved(o);
  cost.simd = o.in[0].elements() + o.out[0].elements();
  return cost;
}
Cost backward_cost(const GlobalMean& op, const Operands& o) { return o.needs(0) ? forward_cost(op, o) : Cost{}; }
Traits traits(const GlobalMean&) { return {}; }
// Where a map is the same all over, as padding makes it, each addition of a sum in fp32 rounds the same way, and errors
// add up instead of cancelling: over 64 x 64 positions they were up to 7.9 epsilon sqrt(n). A mean over n - 1 of them
// lies four times as far.
Rounding rounding(const GlobalMean&, Shapes in) { return {8, in[0][2] * in[0][3]}; }
std::optional<PythonCall> python_call(const GlobalMean&, const PythonNode& in) {
  return in.one_of("x0.mean(dim=(2, 3))", "tf.reduce_mean(x0, (2, 3))", "mx.nd.mean(x0, axis=(2, 3))");
}

}  // namespace tbd
