#include <bit>

#include "backends/tensorflow/convolution.h"

namespace tbd::tensorflow {
namespace {

// Padded images -> what lies between the pads, NHWC.
TF_Output without_pads(const Args& in, TF_Output x, const Pads& pads, const Shape& inside) {
  const int64_t begin[] = {0, pads.top, pads.left, 0};
  return in.op("Slice").in(x).in(in.graph().constant(begin)).in(in.graph().constant(inside.extents())).out();
}

// Physical extents as a tensor: axis 0 is read from operand 0 where this is cut.
TF_Output extents_of(const Args& in, const Shape& shape) {
  if (!in[0].cut) return in.graph().constant(shape.extents());
  const int64_t begin[] = {0}, count[] = {1};
  const TF_Output all = in.unary("Shape", in[0].output);
  const TF_Output rows = in.op("Slice").in(all).in(in.graph().constant(begin)).in(in.graph().constant(count)).out();
  const TF_Output parts[] = {rows, in.graph().constant(shape.extents().subspan(1))};
  return in.concat(parts, 0);
}

}  // namespace

// x (N, C, H, W), weight (C, out, kernel.h, kernel.w), which lies as a convolution's, bias (out).
Operand lower(const ConvTranspose2d& op, const Args& in) {
  const Shape shapes[] = {in[0].shape, in[1].shape};
  const Shape y = output_shapes(op, shapes).front(), inside = physical_shape(y, Layout::nhwc);
  const bool same = is_same({op.kernel, op.stride, op.pads}, y);
  Shape size = inside;
  if (!same) {
    size[1] += op.pads.top + op.pads.bottom;
    size[2] += op.pads.left + op.pads.right;
  }
  const int64_t strides[] = {1, op.stride.h, op.stride.w, 1};
  const TF_Output wide = in.op("Conv2DBackpropInput")
                             .in(extents_of(in, size))
                             .in(in.as(1, Layout::hwio))
                             .in(in.as(0, Layout::nhwc))
                             .integers("strides", strides)
                             .text("padding", same ? "SAME" : "VALID")
                             .out();
  const TF_Output images =
      same || op.pads == Pads{} ? wide : without_pads(in, wide, op.pads, in.with_rows_of(0, inside));
  return {op.bias ? in.binary("BiasAdd", images, in.row(2)) : images, Layout::nhwc};
}
LoweredAs lowered_as(const ConvTranspose2d& op, size_t) {
  return native(cat("Conv2DBackpropInput", op.pads == Pads{} ? "" : ", Slice unless SAME pads alike",
                    op.bias ? ", BiasAdd" : ""));
}

// One kernel where the place in x, index times 1 / factor in single precision, is exact; else copies side by side: each
// row of pixels `factor` times its pixels, then `factor` times the row.
Operand lower(const UpsampleNearest& op, const Args& in) {
  const Shape x = physical_shape(in[0].shape, Layout::nhwc);
  const int64_t rows = x[0] * x[1], f = op.factor;
  const Shape y = {x[0], f * x[1], f * x[2], x[3]};
  const TF_Output images = in.as(0, Layout::nhwc);
  if (std::has_single_bit(static_cast<uint64_t>(f)) && inner_type(in[0].dtype) == in[0].dtype) {
    const int64_t size[] = {y[1], y[2]};
    return {in.op("ResizeNearestNeighbor").in(images).in(in.graph().constant(size)).out(), Layout::nhwc};
  }
  const auto repeated = [&](TF_Output part) { return std::vector<TF_Output>(static_cast<size_t>(f), part); };
  const TF_Output pixels = in.reshape(images, {rows * x[2], x[3]});
  if (f == 1) return {in.reshape(pixels, x), Layout::nhwc};
  const TF_Output wide = in.reshape(in.concat(repeated(pixels), 1), {rows, f * x[2] * x[3]});
  return {in.reshape(in.concat(repeated(wide), 1), y), Layout::nhwc};
}
LoweredAs lowered_as(const UpsampleNearest&, size_t) {
  return native("ResizeNearestNeighbor; for low types and factors that are no power of 2 ConcatV2 along both axes");
}

}  // namespace tbd::tensorflow
