#include <algorithm>
#include <set>

#include "backends/mxnet/lowering.h"
#include "host/registry.h"

namespace tbd::mxnet {
namespace {

int64_t end_of(const Slice& op, const Shape& x) { return op.end == 0 ? x[op.axis] : op.end; }

// The count of equal parts into which the slices of this axis cut the operand, each part taken at least once; 0 where
// they do not.
int64_t equal_parts(const Slice& op, const Args& in) {
  const int64_t extent = in.shape(0)[op.axis], width = end_of(op, in.shape(0)) - op.begin;
  if (extent % width != 0 || op.begin % width != 0) return 0;
  std::set<int64_t> begins;
  for (const BoundNode* reader : in.readers(0)) {
    const auto* slice = std::get_if<Slice>(&reader->op);
    if (slice && slice->axis == op.axis && slice->begin % width == 0 &&
        end_of(*slice, in.shape(0)) - slice->begin == width)
      begins.insert(slice->begin);
  }
  return static_cast<int64_t>(begins.size()) == extent / width ? extent / width : 0;
}

}  // namespace

Symbol lower(const Cast& op, const Args& in) { return in.op("Cast", {in[0]}, {{"dtype", type_name(op.to)}}); }
LoweredAs lowered_as(const Cast& op, size_t) {
  if (op.to == DType::bf16 || op.to == DType::f16 || op.to == DType::boolean)
    return unsupported(cat("mxnet's CPU kernels do not run in ", op.to));
  return native("Cast");
}

Symbol lower(const Reshape&, const Args& in) { return in.op("Reshape", {in[0]}, {{"shape", shape_text(in.out())}}); }
LoweredAs lowered_as(const Reshape&, size_t) { return native("Reshape"); }

// On the last axis MXNet joins element by element unless oneDNN does it, which it does for matrices and images: other
// ranks are viewed as matrices.
Symbol lower(const Concat& op, const Args& in) {
  const Shape& x = in.shape(0);
  const bool viewed = op.axis == x.rank() - 1 && x.rank() != 2 && x.rank() != 4;
  std::vector<Symbol> parts;
  for (size_t i = 0; i < in.size(); ++i) {
    const Shape rows = {x.elements() / x.back(), in.shape(i).back()};
    parts.push_back(viewed ? in.part(cat("rows", i), "Reshape", {in[i]}, to_shape(rows)) : in[i]);
  }
  const Attributes along = {{"dim", std::to_string(viewed ? 1 : op.axis)}, {"num_args", std::to_string(parts.size())}};
  if (!viewed) return in.op("Concat", parts, along);
  return in.op("Reshape", {in.part("joined", "Concat", parts, along)}, to_shape(in.out()));
}
LoweredAs lowered_as(const Concat&, size_t) { return native("Concat"); }

// The gradient of slice_axis is as large as its operand. Slices that make up the whole axis in equal parts, as the
// steps of a sequence do, are outputs of one SliceChannel, whose gradient is one Concat.
Symbol lower(const Slice& op, const Args& in) {
  const Shape& x = in.shape(0);
  const std::string axis = std::to_string(op.axis);
  const int64_t end = end_of(op, x), parts = equal_parts(op, in);
  if (parts < 2)
    return in.op("slice_axis", {in[0]},
                 {{"axis", axis}, {"begin", std::to_string(op.begin)}, {"end", std::to_string(end)}});
  const Symbol all = in.shared(cat(in.name(0), "/parts/", axis, "/", parts), [&] {
    return in.part("parts", "SliceChannel", {in[0]}, {{"axis", axis}, {"num_outputs", std::to_string(parts)}});
  });
  return all.output(static_cast<uint32_t>(op.begin / (end - op.begin)));
}
LoweredAs lowered_as(const Slice&, size_t) {
  return native("slice_axis; SliceChannel where slices cut a whole axis equally");
}

Symbol lower(const Transpose& op, const Args& in) { return in.op("transpose", {in[0]}, {{"axes", text(op.axes)}}); }
LoweredAs lowered_as(const Transpose&, size_t) { return native("transpose"); }

// How many elements each result takes, where they lie side by side; 0 where they do not.
int64_t row_width(const Reduce& op, const Shape& x) {
  int64_t width = 1;
  for (int64_t axis = x.rank() - 1; axis >= x.rank() - static_cast<int64_t>(op.axes.size()); --axis) {
    if (std::ranges::find(op.axes, axis) == op.axes.end()) return 0;
    width *= x[axis];
  }
  return width;
}

// Sums of rows are a product with a column, which takes a fifth of the time of MXNet's own.
Symbol lower(const Reduce& op, const Args& in) {
  const int64_t width = row_width(op, in.shape(0)), rows = width > 0 ? in.shape(0).elements() / width : 0;
  if (!op.axes.empty() && rows > 1 && width > 1 && is_float(in.dtype(0))) {
    const double share = op.function == Reduce::Function::sum ? 1 : 1 / static_cast<double>(width);
    const Symbol x = in.part("rows", "Reshape", {in[0]}, to_shape({rows, width}));
    const Symbol sums = in.part("sums", "dot", {x, in.filled("column", {width, 1}, share)});
    return in.op("Reshape", {sums}, to_shape(in.out()));
  }
  Attributes attributes = {{"keepdims", text(op.keep)}};
  if (!op.axes.empty()) attributes.emplace_back("axis", text(op.axes));
  return in.op(op.function == Reduce::Function::sum ? "sum" : "mean", {in[0]}, attributes);
}
LoweredAs lowered_as(const Reduce& op, size_t) { return native(cat(kind(op), "; dot where it takes whole rows")); }

Symbol lower(const StopGradient&, const Args& in) { return in.op("BlockGrad", {in[0]}); }
LoweredAs lowered_as(const StopGradient&, size_t) { return native("BlockGrad"); }

// Never: host calls stand between segments (phase.h).
std::vector<Symbol> lower(const HostCall& op, const Args&) {
  fail(ErrorKind::internal, "the host call ", op.function, " lowered");
}
LoweredAs lowered_as(const HostCall& op, size_t) {
  return composed(cat("host function ", op.function, " between two executors"));
}

// Never: sessions lower the expanded program.
Symbol lower(const InputGradient&, const Args&) { fail(ErrorKind::internal, "an input_gradient lowered"); }
LoweredAs lowered_as(const InputGradient&, size_t) { return composed("expanded: nodes of the first gradient"); }

}  // namespace tbd::mxnet
