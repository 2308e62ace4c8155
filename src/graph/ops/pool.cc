#include "graph/ops/pool.h"

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

std::vector<Shape> output_shapes(const AvgPool& op, Shapes in) { return pooled(op, in[0]); }
Cost forward_cost(const AvgPool& op, const Operands& o) {
  Cost cost = moved(o);
  cost.simd = (taps(op.kernel) + 1) * o.out[0].elements();
  return cost;
}
Cost backward_cost(const AvgPool& op, const Operands& o) { return o.needs(0) ? forward_cost(op, o) : Cost{}; }
Traits traits(const AvgPool&) { return {.saves_inputs = {0}}; }

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

}  // namespace tbd
