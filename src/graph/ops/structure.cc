#include "graph/ops/structure.h"

#include <algorithm>
#include <numeric>

#include "base/text.h"
#include "graph/ops/gradient_writer.h"
#include "graph/ops/python.h"

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
Traits traits(const Reshape& op) {
  const bool keeps_rows = !op.shape.empty() && op.shape.front() == 0;
  return {.aliases_input = true, .passes_gradient = true, .rows_from = keeps_rows ? 0 : -1};
}
Rounding rounding(const Reshape&, Shapes) { return {0}; }
bool write_gradient(const Reshape&, GradientWriter& node, const std::string& g) {
  if (node.shape(0)[0] != node.result_shape()[0]) return false;  // samples are taken apart
  node.pass(0, node.put(Reshape{with_any_batch(node.shape(0))}, {g}));
  return true;
}
std::optional<PythonCall> python_call(const Reshape&, const PythonNode& in) {
  return in.one_of("x0.reshape(expected[OUTPUT].shape)", "tf.reshape(x0, expected[OUTPUT].shape)",
                   "mx.nd.reshape(x0, expected[OUTPUT].shape)");
}

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
Traits traits(const Concat&) { return {.passes_gradient = true, .precision = PrecisionRule::match}; }
Rounding rounding(const Concat&, Shapes) { return {0}; }
std::optional<PythonCall> python_call(const Concat& op, const PythonNode& in) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < in.shapes().size(); ++i) parts.push_back(cat("x", i));
  return in.composed(cat("concat([", join(parts, ", "), "], ", op.axis, ")"));
}

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
Rounding rounding(const Slice&, Shapes) { return {0}; }
std::optional<PythonCall> python_call(const Slice& op, const PythonNode&) {
  std::string y = "x0[";
  for (int64_t axis = 0; axis < op.axis; ++axis) y += ":, ";
  return PythonCall{cat(y, op.begin, ":", op.end == 0 ? "" : std::to_string(op.end), "]")};
}

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
Traits traits(const Transpose&) { return {.aliases_input = true, .passes_gradient = true}; }
Rounding rounding(const Transpose&, Shapes) { return {0}; }
std::optional<PythonCall> python_call(const Transpose& op, const PythonNode& in) {
  return in.composed(cat("permute(x0, ", python_tuple(op.axes), ")"));
}

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
Rounding rounding(const Reduce& op, Shapes in) {
  return {1, in[0].elements() / std::max<int64_t>(1, output_shapes(op, in)[0].elements())};
}
// Every element gets the gradient of its sum, or its share of it.
bool write_gradient(const Reduce& op, GradientWriter& node, const std::string& g) {
  const Shape &x = node.shape(0), &y = node.result_shape();
  std::vector<int64_t> kept(x.extents().begin(), x.extents().end());
  for (const int64_t axis : op.axes) kept.at(static_cast<size_t>(axis)) = 1;
  if (op.axes.empty() || kept[0] == 1) return false;  // over samples
  kept[0] = 0;
  const double share =
      op.function == Reduce::Function::mean ? static_cast<double>(y.elements()) / static_cast<double>(x.elements()) : 1;
  const std::string level = node.put(Affine{.factor = 0, .offset = share}, {node.operand(0)});
  node.pass(0, node.mul(level, op.keep ? g : node.put(Reshape{kept}, {g})));
  return true;
}
std::optional<PythonCall> python_call(const Reduce& op, const PythonNode& in) {
  std::vector<int64_t> all(static_cast<size_t>(in.x(0).rank()));
  std::iota(all.begin(), all.end(), 0);
  const std::string axes = python_tuple(op.axes.empty() ? all : op.axes), keep = python_bool(op.keep), name = kind(op);
  return in.one_of(cat("x0.", name, "(dim=", axes, ", keepdim=", keep, ")"),
                   cat("tf.reduce_", name, "(x0, ", axes, ", keepdims=", keep, ")"),
                   cat("mx.nd.", name, "(x0, axis=", axes, ", keepdims=", keep, ")"));
}

std::vector<Shape> output_shapes(const StopGradient&, Shapes in) { return {in[0]}; }
Cost forward_cost(const StopGradient&, const Operands&) { return {}; }
Cost backward_cost(const StopGradient&, const Operands&) { return {}; }
Traits traits(const StopGradient&) { return {.aliases_input = true, .differentiable = false}; }
Rounding rounding(const StopGradient&, Shapes) { return {0}; }

namespace {

int64_t bound_extent(const ResultExtent& declared, int64_t axis, const Shape& x) {
  if (declared.per_sample) {
    require(declared.count > 0, "extent ", declared.count, "N is not positive");
    require(x.rank() > 0, "operand 0 is a scalar: it has no samples to count");
    require(x[0] <= (int64_t{1} << 46) / declared.count, declared.count, " rows a sample of ", x, " are too many");
    return declared.count * x[0];
  }
  if (declared.count != 0) return declared.count;
  require(axis < x.rank(), "no axis ", axis, " in ", x);
  return x[axis];
}

void check_ragged(const HostCall& op, const std::vector<Shape>& out) {
  const auto count = static_cast<int64_t>(op.results.size());
  require(op.rows >= -1 && op.rows < count, "rows=", op.rows, " is no result of ", count);
  std::optional<int64_t> extent;
  for (size_t i = 0; i < out.size(); ++i) {
    if (!op.results[i].ragged) continue;
    require(op.rows >= 0, "result ", i, " is ragged, but no result says how many rows it has");
    require(out[i].rank() > 0, "result ", i, " is ragged, but has no rows");
    require(!extent || out[i][0] == *extent, "ragged results differ in their rows: ", out[i][0], " and ", *extent);
    extent = out[i][0];
  }
  if (op.rows < 0) return;
  const HostCall::Result& rows = op.results[static_cast<size_t>(op.rows)];
  require(rows.shape.empty() && rows.dtype == DType::i32 && !rows.ragged, "result ", op.rows,
          " counts rows, but is no i32 scalar");
}

}  // namespace

std::vector<Shape> output_shapes(const HostCall& op, Shapes in) {
  require(!op.results.empty(), "host_call declares no result");
  std::vector<Shape> out;
  for (const HostCall::Result& result : op.results) {
    std::vector<int64_t> extents;
    for (const ResultExtent& extent : result.shape) extents.push_back(bound_extent(extent, std::ssize(extents), in[0]));
    out.emplace_back(extents);
  }
  check_ragged(op, out);
  return out;
}
// Host ops are not counted as floating-point work; their time is (docs/flops.md).
Cost forward_cost(const HostCall&, const Operands& o) {
  Cost cost;
  for (size_t i = 0; i < o.in.size(); ++i) cost.bytes += o.in_bytes(i);
  for (size_t i = 0; i < o.out.size(); ++i) cost.bytes += o.out_bytes(i);
  return cost;
}
Cost backward_cost(const HostCall&, const Operands&) { return {}; }
Traits traits(const HostCall&) { return {.differentiable = false}; }
Rounding rounding(const HostCall&, Shapes) { return {0}; }
size_t result_count(const HostCall& op) { return op.results.size(); }
DType output_dtype(const HostCall& op, size_t output, std::span<const DType>) { return op.results.at(output).dtype; }
void make_double(HostCall& op) {
  for (HostCall::Result& result : op.results) result.dtype = doubled(result.dtype);
}
Integers allowed_integers(const HostCall&, size_t, Shapes, const Integers&) { return {}; }

std::vector<Shape> output_shapes(const InputGradient&, Shapes in) {
  require(in.size() == 2, "expected y and x, got ", in.size(), " operands");
  return {in[1]};
}
// Counted over the nodes between x and y, by node_costs, not here.
Cost forward_cost(const InputGradient&, const Operands&) { return {}; }
Cost backward_cost(const InputGradient&, const Operands&) { return {}; }
Traits traits(const InputGradient&) { return {.saves_inputs = {0, 1}}; }
// As many roundings as the ops between y and x have, forward, backward and backward again.
Rounding rounding(const InputGradient&, Shapes in) { return {4, in[1].elements()}; }

}  // namespace tbd
