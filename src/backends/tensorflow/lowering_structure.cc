#include <algorithm>

#include "backends/tensorflow/host_op.h"
#include "backends/tensorflow/lowering.h"

namespace tbd::tensorflow {
namespace {

// Operand 0 in the parts of all its slices.
TF_Operation* cut(const Args& in, int64_t axis) {
  const std::vector<int64_t>& sizes = in.part()->sizes;
  return in.op("SplitV")
      .in(in[0].output)
      .in(in.graph().constant(sizes))
      .in(in.number(static_cast<double>(axis), DType::i32))
      .integer("num_split", std::ssize(sizes))
      .finish();
}

}  // namespace

Operand lower(const Reshape& op, const Args& in) {
  const Shape& x = in[0].shape;
  return {in.reshape(in.row(0), in.with_rows_of(0, output_shapes(op, std::span(&x, 1)).front()))};
}
LoweredAs lowered_as(const Reshape&, size_t) { return native("Reshape"); }

// Along its axis where it lies; images stay channels last.
Operand lower(const Concat& op, const Args& in) {
  Layout layout = Layout::row;
  for (size_t i = 0; i < in.size(); ++i)
    if (in[i].layout == Layout::nhwc) layout = Layout::nhwc;
  std::vector<TF_Output> parts;
  for (size_t i = 0; i < in.size(); ++i) parts.push_back(in.as(i, layout));
  return {in.concat(parts, physical_axis(op.axis, layout)), layout};
}
LoweredAs lowered_as(const Concat&, size_t) { return native("ConcatV2"); }

Operand lower(const Slice& op, const Args& in) {
  const Operand& x = in[0];
  const int64_t axis = physical_axis(op.axis, x.layout);
  if (in.part())
    return {{in.shared(cat("parts ", name_of(x.output), " ", axis), [&] { return cut(in, axis); }), in.part()->index},
            x.layout};
  Shape begin(std::vector<int64_t>(static_cast<size_t>(x.shape.rank()), 0)), size = x.physical();
  begin[axis] = op.begin;
  size[axis] = (op.end == 0 ? size[axis] : op.end) - op.begin;
  TfGraph& graph = in.graph();
  return {in.op("Slice").in(x.output).in(graph.constant(begin.extents())).in(graph.constant(size.extents())).out(),
          x.layout};
}
LoweredAs lowered_as(const Slice&, size_t) {
  return native("Slice; SplitV where slices are together the whole operand");
}

// The axes are taken from where they lie, so that an image is transposed once.
Operand lower(const Transpose& op, const Args& in) {
  std::vector<int64_t> axes;
  for (const int64_t axis : op.axes) axes.push_back(physical_axis(axis, in[0].layout));
  return {in.transpose(in[0].output, axes)};
}
LoweredAs lowered_as(const Transpose&, size_t) { return native("Transpose"); }

// Axes of an image are found where they lie. What remains must be in logical order: all axes, or none beside the
// channels' that stand behind height and width.
Operand lower(const Reduce& op, const Args& in) {
  const Operand& x = in[0];
  std::vector<int64_t> axes = op.axes;
  for (int64_t axis = 0; op.axes.empty() && axis < x.shape.rank(); ++axis) axes.push_back(axis);
  const auto reduced = [&](int64_t axis) { return std::ranges::find(axes, axis) != axes.end(); };
  const bool stays = x.layout == Layout::nhwc && (op.keep || reduced(1) || (reduced(2) && reduced(3)));
  const char* kind = op.function == Reduce::Function::sum ? "Sum" : "Mean";
  if (!stays) return {in.reduce(kind, in.row(0), axes, op.keep)};
  for (int64_t& axis : axes) axis = physical_axis(axis, Layout::nhwc);
  return {in.reduce(kind, x.output, axes, op.keep), op.keep ? Layout::nhwc : Layout::row};
}
LoweredAs lowered_as(const Reduce& op, size_t) { return native(op.function == Reduce::Function::sum ? "Sum" : "Mean"); }

Operand lower(const StopGradient&, const Args& in) { return {in.unary("StopGradient", in[0].output), in[0].layout}; }
LoweredAs lowered_as(const StopGradient&, size_t) { return native("StopGradient"); }

// d sum(y) / d x; the registry holds what makes it differentiable in turn.
Operand lower(const InputGradient&, const Args& in) {
  const Operand &y = in[0], &x = in[1];
  const TF_Output ones = in.graph().filled(1, y.dtype, y.physical());
  const TF_Output dx = in.graph().gradients(std::span(&y.output, 1), std::span(&x.output, 1), std::span(&ones, 1))[0];
  require(dx.oper != nullptr, "input_gradient: y does not depend on x");
  return {dx, x.layout};
}
LoweredAs lowered_as(const InputGradient&, size_t) { return native("AddGradients, twice"); }

std::vector<Operand> lower(const HostCall& op, const Args& in) {
  std::vector<TF_Output> operands;
  std::vector<Shape> shapes;
  for (size_t i = 0; i < in.size(); ++i) {
    operands.push_back(in.row(i));
    shapes.push_back(in[i].shape);
  }
  std::vector<Shape> results = output_shapes(op, shapes);
  for (size_t i = 0; in.cuts_rows() && i < results.size(); ++i)
    if (op.results[i].ragged) results[i][0] = -1;
  TF_Operation* node = add_host_op(in.graph(), op, operands, results);
  std::vector<Operand> out;
  for (int i = 0; i < static_cast<int>(op.results.size()); ++i) out.push_back({{node, i}});
  return out;
}
LoweredAs lowered_as(const HostCall& op, size_t) {
  return native(cat("host function ", op.function, " in a kernel of tbd's"));
}

}  // namespace tbd::tensorflow
