#include <algorithm>
#include <array>

#include "backends/tensorflow/convolution.h"

namespace tbd::tensorflow {
namespace {

// What TensorFlow's SAME pads along one axis: the smaller half before.
std::array<int64_t, 2> same_pads(int64_t extent, int64_t kernel, int64_t stride) {
  const int64_t outputs = (extent + stride - 1) / stride;
  const int64_t total = std::max<int64_t>((outputs - 1) * stride + kernel - extent, 0);
  return {total / 2, total - total / 2};
}

// The gradient of a dilated convolution is wrong in TensorFlow: the kernel is spread instead, with zeros between taps.
TF_Output spread(const Args& in, TF_Output weight, const Shape& physical, const Extent2& dilation) {
  const int64_t kh = physical[0], kw = physical[1], rest = physical[2] * physical[3];
  const TF_Output taps = in.reshape(weight, {kh, 1, kw, 1, rest});
  const int64_t extents[] = {0, 0, 0, dilation.h - 1, 0, 0, 0, dilation.w - 1, 0, 0};
  const TF_Output pads = in.reshape(in.graph().constant(extents), {5, 2});
  const TF_Output wide = in.reshape(in.binary("Pad", taps, pads), {kh * dilation.h, kw * dilation.w, rest});
  const Shape size = {dilation.h * (kh - 1) + 1, dilation.w * (kw - 1) + 1, rest};
  const int64_t begin[] = {0, 0, 0};
  const TF_Output cut =
      in.op("Slice").in(wide).in(in.graph().constant(begin)).in(in.graph().constant(size.extents())).out();
  return in.reshape(cut, {size[0], size[1], physical[2], physical[3]});
}

struct Convolution {
  const Args& in;
  Extent2 stride;
  const char* padding;

  TF_Output operator()(const char* kind, TF_Output x, TF_Output weight) const {
    const int64_t strides[] = {1, stride.h, stride.w, 1};
    return in.op(kind).in(x).in(weight).integers("strides", strides).text("padding", padding).out();
  }
};

// Neither TensorFlow's CPU kernels nor their gradients know groups.
TF_Output grouped_convolution(const Args& in, const Convolution& convolve, TF_Output x, TF_Output weight,
                              int64_t groups) {
  const auto xs = in.split(x, 3, groups), weights = in.split(weight, 3, groups);
  std::vector<TF_Output> parts;
  for (size_t g = 0; g < xs.size(); ++g) parts.push_back(convolve("Conv2D", xs[g], weights[g]));
  return in.concat(parts, 3);
}

}  // namespace

bool is_same(const Window& window, const Shape& images) {
  const auto& [kernel, stride, pads] = window;
  const auto h = same_pads(images[2], kernel.h, stride.h), w = same_pads(images[3], kernel.w, stride.w);
  return pads == Pads{h[0], h[1], w[0], w[1]};
}

// x (N, C, H, W), weight (out, C / groups, kernel.h, kernel.w). Explicit pads lose their gradient: a Pad, but where
// SAME means them.
Operand lower(const Conv2d& op, const Args& in) {
  const bool dilated = op.dilation != Extent2(1),
             same = !dilated && is_same({op.kernel, op.stride, op.pads}, in[0].shape);
  TF_Output x = in.as(0, Layout::nhwc), weight = in.as(1, Layout::hwio);
  Shape kernel = physical_shape(in[1].shape, Layout::hwio);
  if (!same) x = in.pad(x, op.pads);
  if (dilated) weight = spread(in, weight, kernel, op.dilation);
  const Convolution convolve = {in, op.stride, same ? "SAME" : "VALID"};
  const int64_t channels = in[0].shape[1];
  const bool depthwise = op.groups == channels && op.groups > 1 && op.stride.h == op.stride.w;
  if (depthwise) {
    if (dilated) {
      kernel[0] = op.dilation.h * (kernel[0] - 1) + 1;
      kernel[1] = op.dilation.w * (kernel[1] - 1) + 1;
    }
    weight = in.reshape(weight, {kernel[0], kernel[1], channels, op.out / channels});
  }
  TF_Output y = depthwise        ? convolve("DepthwiseConv2dNative", x, weight)
                : op.groups == 1 ? convolve("Conv2D", x, weight)
                                 : grouped_convolution(in, convolve, x, weight, op.groups);
  if (op.bias) y = in.binary("BiasAdd", y, in.row(2));
  return {y, Layout::nhwc};
}
// Which conv op runs also depends on the operand's channels: Conv2D by groups stands for the depthwise kernel, too.
LoweredAs lowered_as(const Conv2d& op, size_t) {
  const std::string pad = op.pads == Pads{} ? "" : "Pad unless SAME pads alike, ";
  if (op.dilation != Extent2(1))
    return composed(cat(pad, "Conv2D or DepthwiseConv2dNative on a kernel spread by zeros"));
  if (op.groups > 1)
    return composed(cat(pad, "DepthwiseConv2dNative where groups = channels, else Split, Conv2D, ConcatV2"));
  return native(cat(pad, op.bias ? "Conv2D, BiasAdd" : "Conv2D"));
}

// x (..., in), weight (out, in).
Operand lower(const Linear& op, const Args& in) {
  const Shape& x = in[0].shape;
  const int64_t features = x.back(), count = x.elements() / features;
  TF_Output rows = in.row(0);
  if (x.rank() != 2) rows = in.reshape(rows, in.with_rows_of(0, {count, features}));
  TF_Output y = in.op("MatMul").in(rows).in(in.weight(1, count)).boolean("transpose_b", true).out();
  if (op.bias) y = in.binary("BiasAdd", y, in.row(2));
  if (x.rank() == 2) return {y};
  Shape shape = x;
  shape[x.rank() - 1] = op.out;
  return {in.reshape(y, in.with_rows_of(0, shape))};
}
LoweredAs lowered_as(const Linear& op, size_t) { return native(op.bias ? "MatMul, BiasAdd" : "MatMul"); }

// a (..., M, K), b (..., K, N).
Operand lower(const Matmul& op, const Args& in) {
  return {in.op("BatchMatMulV2")
              .in(in.row(0))
              .in(in.row(1))
              .boolean("adj_x", op.transpose_a)
              .boolean("adj_y", op.transpose_b)
              .out()};
}
LoweredAs lowered_as(const Matmul&, size_t) { return native("BatchMatMulV2"); }

}  // namespace tbd::tensorflow
