#include "graph/ops/structure.h"

#include <algorithm>

namespace tbd {

std::vector<Shape> output_shapes(const Reshape& op, Shapes in) {
  const Shape& x = in[0];
  std::vector<int64_t> extents = op.shape;
  int64_t known = 1, open = -1;
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    if (extents[axis] == 0) {
      require(static_cast<int64_t>(axis) < x.rank(), "no axis ", axis, " to keep in ", x);
      extents[axis] = x[static_cast<int64_t>(axis)];
    }
    if (extents[axis] == -1) {
      require(open < 0, "more than one open extent (-1)");
      open = static_cast<int64_t>(axis);
    } else {
      require(extents[axis] > 0, "extent ", extents[axis], " is not positive");
      require(extents[axis] <= x.elements() / known, "cannot reshape ", x, " to more elements");
      known *= extents[axis];
    }
  }
  if (open >= 0) {
    require(x.elements() % known == 0, "cannot reshape ", x, ": ", known, " does not divide its elements");
    extents[static_cast<size_t>(open)] = x.elements() / known;
  }
  Shape y(extents);
  require(y.elements() == x.elements(), "cannot reshape ", x, " to ", y);
  return {y};
}
Cost forward_cost(const Reshape&, const Operands&) { return {}; }
Cost backward_cost(const Reshape&, const Operands&) { return {}; }
Traits traits(const Reshape&) { return {.aliases_input = true}; }

std::vector<Shape> output_shapes(const Concat& op, Shapes in) {
  require(in.size() >= 2, "expected two operands or more, got ", in.size());
  Shape y = in[0];
  require(op.axis >= 0 && op.axis < y.rank(), "no axis ", op.axis, " in ", y);
  for (const Shape& x : in.subspan(1)) {
    require(x.rank() == y.rank(), "ranks of ", in[0], " and ", x, " differ");
    for (int64_t axis = 0; axis < y.rank(); ++axis)
      require(axis == op.axis || x[axis] == y[axis], in[0], " and ", x, " differ beyond axis ", op.axis);
    y[op.axis] += x[op.axis];
  }
  return {y};
}
Cost forward_cost(const Concat&, const Operands& o) { return {.bytes = bytes_touched_forward(o)}; }
Cost backward_cost(const Concat&, const Operands&) { return {}; }  // parts of the gradient, as they are
Traits traits(const Concat&) { return {.precision = PrecisionRule::match}; }

std::vector<Shape> output_shapes(const Slice& op, Shapes in) {
  Shape y = in[0];
  require(op.axis >= 0 && op.axis < y.rank(), "no axis ", op.axis, " in ", y);
  const int64_t extent = y[op.axis], end = op.end == 0 ? extent : op.end;
  require(op.begin >= 0 && op.begin < end && end <= extent, "no part ", op.begin, " to ", end, " of axis ", op.axis,
          " of ", in[0]);
  y[op.axis] = end - op.begin;
  return {y};
}
Cost forward_cost(const Slice&, const Operands&) { return {}; }
Cost backward_cost(const Slice&, const Operands& o) {
  return o.needs(0) ? Cost{.bytes = o.out_bytes() + o.in_bytes(0)} : Cost{};  // zeros around the part
}
Traits traits(const Slice&) { return {.aliases_input = true}; }

std::vector<Shape> output_shapes(const Transpose& op, Shapes in) {
  const Shape& x = in[0];
  std::vector<int64_t> sorted = op.axes, extents;
  std::ranges::sort(sorted);
  require(static_cast<int64_t>(sorted.size()) == x.rank(), "expected ", x.rank(), " axes for ", x, ", got ",
          sorted.size());
  for (size_t i = 0; i < sorted.size(); ++i)
    require(sorted[i] == static_cast<int64_t>(i), "axes are no permutation of those of ", x);
  for (const int64_t axis : op.axes) extents.push_back(x[axis]);
  return {Shape(extents)};
}
Cost forward_cost(const Transpose&, const Operands&) { return {}; }
Cost backward_cost(const Transpose&, const Operands&) { return {}; }
Traits traits(const Transpose&) { return {.aliases_input = true}; }

std::vector<Shape> output_shapes(const Reduce& op, Shapes in) {
  const Shape& x = in[0];
  std::vector<int64_t> extents;
  for (const int64_t axis : op.axes) require(axis >= 0 && axis < x.rank(), "no axis ", axis, " in ", x);
  for (int64_t axis = 0; axis < x.rank(); ++axis) {
    const bool reduced = op.axes.empty() || std::ranges::find(op.axes, axis) != op.axes.end();
    if (!reduced)
      extents.push_back(x[axis]);
    else if (op.keep)
      extents.push_back(1);
  }
  return {Shape(extents)};
}
Cost forward_cost(const Reduce& op, const Operands& o) {
  const int64_t divisions = op.function == Reduce::Function::mean ? o.out[0].elements() : 0;
  return {.simd = o.in[0].elements() + divisions, .bytes = bytes_touched_forward(o)};
}
Cost backward_cost(const Reduce& op, const Operands& o) {
  if (!o.needs(0)) return {};
  const int64_t divisions = op.function == Reduce::Function::mean ? o.out[0].elements() : 0;
  return {.simd = divisions, .bytes = o.out_bytes() + o.in_bytes(0)};
}
Traits traits(const Reduce&) { return {}; }

std::vector<Shape> output_shapes(const StopGradient&, Shapes in) { return {in[0]}; }
Cost forward_cost(const StopGradient&, const Operands&) { return {}; }
Cost backward_cost(const StopGradient&, const Operands&) { return {}; }
Traits traits(const StopGradient&) { return {.aliases_input = true, .differentiable = false}; }

std::vector<Shape> output_shapes(const HostCall& op, Shapes in) {
  require(!op.results.empty(), "host_call declares no result");
  std::vector<Shape> out;
  for (const HostCall::Result& result : op.results) {
    std::vector<int64_t> extents = result.shape;
    for (size_t axis = 0; axis < extents.size(); ++axis)
      if (extents[axis] == 0) {
        require(static_cast<int64_t>(axis) < in[0].rank(), "no axis ", axis, " in ", in[0]);
        extents[axis] = in[0][static_cast<int64_t>(axis)];
      }
    out.emplace_back(extents);
  }
  return out;
}
// Host ops are not counted as floating-point work; their time is (measurement.md 3).
Cost forward_cost(const HostCall&, const Operands& o) {
  Cost cost;
  for (size_t i = 0; i < o.in.size(); ++i) cost.bytes += o.in_bytes(i);
  for (size_t i = 0; i < o.out.size(); ++i) cost.bytes += o.out_bytes(i);
  return cost;
}
Cost backward_cost(const HostCall&, const Operands&) { return {}; }
Traits traits(const HostCall&) { return {.differentiable = false}; }

std::vector<Shape> output_shapes(const InputGradient&, Shapes in) {
  require(in.size() == 2, "expected y and x, got ", in.size(), " operands");
  return {in[1]};
}
// Counted over the nodes between x and y, by node_costs, not here.
Cost forward_cost(const InputGradient&, const Operands&) { return {}; }
Cost backward_cost(const InputGradient&, const Operands&) { return {}; }
Traits traits(const InputGradient&) { return {.saves_inputs = {0, 1}}; }

}  // namespace tbd
