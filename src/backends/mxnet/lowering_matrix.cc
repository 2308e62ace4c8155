#include "backends/mxnet/lowering.h"

#include <algorithm>

namespace tbd::mxnet {
namespace {

// x (N, C, H, W) without what two pads exceed their lesser one by.
Symbol cropped(const Args& in, const Symbol& x, const Pads& pads) {
  const int64_t both_h = std::min(pads.top, pads.bottom), both_w = std::min(pads.left, pads.right);
  const int64_t height = in.out()[2], width = in.out()[3];
  const int64_t top = pads.top - both_h, left = pads.left - both_w;
  const Symbol rows = in.part("rows", "slice_axis", {x},
                              {{"axis", "2"}, {"begin", std::to_string(top)}, {"end", std::to_string(top + height)}});
  return in.op("slice_axis", {rows},
               {{"axis", "3"}, {"begin", std::to_string(left)}, {"end", std::to_string(left + width)}});
}

// MXNet's Deconvolution writes the gradient of its weight through a null pointer where that is not an array of ours but
// one of its own, about to be added to another's: it is safe for a parameter that no other node reads.
bool deconvolves_safely(const Args& in) { return in.is_parameter(1) && in.readers(1).size() == 1; }

// (C, out, h, w) as (out, C, h, w) with its taps in opposite order; by a product, since the op that reverses is slow.
Symbol turned_taps(const Args& in, const Extent2& kernel) {
  const int64_t taps = kernel.h * kernel.w;
  const Symbol swapped = in.part("swapped", "SwapAxis", {in[1]}, {{"dim1", "0"}, {"dim2", "1"}});
  if (taps == 1) return swapped;
  std::vector<double> opposite(static_cast<size_t>(taps * taps));
  for (int64_t i = 0; i < taps; ++i) opposite[static_cast<size_t>(i * taps + taps - 1 - i)] = 1;
  const int64_t rows[] = {-1, taps}, whole[] = {in.shape(1)[1], in.shape(1)[0], kernel.h, kernel.w};
  const Symbol flat = in.part("taps", "Reshape", {swapped}, {{"shape", text(rows)}});
  const Symbol reversed = in.part("reversed", "dot", {flat, in.constant("opposite", {taps, taps}, opposite)});
  return in.part("turned", "Reshape", {reversed}, {{"shape", text(whole)}});
}

struct Blocks {
  int64_t groups, count, size;
};

// x as (groups, count, size) with stride - 1 blocks of zeros between its blocks: (groups, (count - 1) stride + 1,
// size).
Symbol spread(const Args& in, const std::string& name, const Symbol& x, const Blocks& b, int64_t stride) {
  const Symbol alone = in.part(name + "/alone", "Reshape", {x}, to_shape({b.groups, b.count, b.size}));
  const Symbol zeros = in.filled(name + "/zeros", {b.groups, b.count, (stride - 1) * b.size}, 0);
  const Symbol both = in.part(name + "/both", "Concat", {alone, zeros}, {{"num_args", "2"}, {"dim", "2"}});
  const Symbol rows = in.part(name + "/rows", "Reshape", {both}, to_shape({b.groups, b.count * stride, b.size}));
  return in.part(name, "slice_axis", {rows},
                 {{"axis", "1"}, {"begin", "0"}, {"end", std::to_string((b.count - 1) * stride + 1)}});
}

// x (N, C, H, W) with zeros between its rows and columns.
Symbol spread(const Args& in, const Extent2& stride) {
  if (stride == Extent2(1)) return in[0];
  const Shape& x = in.shape(0);
  const int64_t images = x[0] * x[1], height = (x[2] - 1) * stride.h + 1, width = (x[3] - 1) * stride.w + 1;
  Symbol out = in[0];
  if (stride.w > 1) out = spread(in, "spread/columns", out, {images * x[2], x[3], 1}, stride.w);
  if (stride.h > 1) out = spread(in, "spread/rows", out, {images, x[2], width}, stride.h);
  return in.part("spread", "Reshape", {out}, to_shape({x[0], x[1], height, width}));
}

std::vector<Symbol> operands_of(const ConvTranspose2d& op, const Args& in, const Symbol& x, const Symbol& weight) {
  return op.bias ? std::vector{x, weight, in[2]} : std::vector{x, weight};
}

// The convolution of the spread x with the turned weight: the same numbers, by more work where there is a stride.
Symbol as_convolution(const ConvTranspose2d& op, const Args& in) {
  const int64_t kernel[] = {op.kernel.h, op.kernel.w};
  const int64_t pad[] = {op.kernel.h - 1 - std::min(op.pads.top, op.pads.bottom),
                         op.kernel.w - 1 - std::min(op.pads.left, op.pads.right)};
  if (pad[0] < 0 || pad[1] < 0)
    fail(ErrorKind::unsupported,
         "pads wider than the kernel, where another node reads the weight: Deconvolution crashes");
  const Attributes attributes = {{"kernel", text(kernel)},
                                 {"pad", text(pad)},
                                 {"num_filter", std::to_string(op.out)},
                                 {"no_bias", text(!op.bias)}};
  const std::vector<Symbol> operands = operands_of(op, in, spread(in, op.stride), turned_taps(in, op.kernel));
  if (op.pads.symmetric()) return in.op("Convolution", operands, attributes);
  return cropped(in, in.part("all", "Convolution", operands, attributes), op.pads);
}

}  // namespace

// x (N, C, H, W), weight (out, C / groups, kernel.h, kernel.w). MXNet pads symmetrically: other pads are an op before.
Symbol lower(const Conv2d& op, const Args& in) {
  const bool symmetric = op.pads.symmetric();
  const Symbol x = symmetric ? in[0] : padded(in, op.pads, 0);
  const int64_t kernel[] = {op.kernel.h, op.kernel.w}, stride[] = {op.stride.h, op.stride.w};
  const int64_t dilation[] = {op.dilation.h, op.dilation.w};
  const int64_t pad[] = {symmetric ? op.pads.top : 0, symmetric ? op.pads.left : 0};
  const Attributes attributes = {{"kernel", text(kernel)},
                                 {"stride", text(stride)},
                                 {"dilate", text(dilation)},
                                 {"pad", text(pad)},
                                 {"num_filter", std::to_string(op.out)},
                                 {"num_group", std::to_string(op.groups)},
                                 {"no_bias", text(!op.bias)}};
  return op.bias ? in.op("Convolution", {x, in[1], in[2]}, attributes) : in.op("Convolution", {x, in[1]}, attributes);
}
LoweredAs lowered_as(const Conv2d& op, size_t) {
  return op.pads.symmetric() ? native("Convolution") : composed("Pad, Convolution");
}

// x (N, C, H, W), weight (C, out, kernel.h, kernel.w), bias (out). Unequal pads: by the lesser of two, and the rest cut
// off.
Symbol lower(const ConvTranspose2d& op, const Args& in) {
  if (!deconvolves_safely(in)) return as_convolution(op, in);
  const int64_t kernel[] = {op.kernel.h, op.kernel.w}, stride[] = {op.stride.h, op.stride.w};
  const int64_t pad[] = {std::min(op.pads.top, op.pads.bottom), std::min(op.pads.left, op.pads.right)};
  const Attributes attributes = {{"kernel", text(kernel)},
                                 {"stride", text(stride)},
                                 {"pad", text(pad)},
                                 {"num_filter", std::to_string(op.out)},
                                 {"no_bias", text(!op.bias)}};
  if (op.pads.symmetric()) return in.op("Deconvolution", operands_of(op, in, in[0], in[1]), attributes);
  return cropped(in, in.part("all", "Deconvolution", operands_of(op, in, in[0], in[1]), attributes), op.pads);
}
LoweredAs lowered_as(const ConvTranspose2d& op, size_t) {
  return op.pads.symmetric() ? native("Deconvolution; of a weight that others read SwapAxis, dot, Convolution")
                             : composed("Deconvolution, slice_axis");
}

// As reshape and broadcast it takes five to ten times as long.
Symbol lower(const UpsampleNearest& op, const Args& in) {
  return in.op("UpSampling", {in[0]},
               {{"scale", std::to_string(op.factor)}, {"sample_type", "nearest"}, {"num_args", "1"}});
}
LoweredAs lowered_as(const UpsampleNearest&, size_t) { return native("UpSampling"); }

// x (..., in), weight (out, in).
Symbol lower(const Linear& op, const Args& in) {
  const Attributes attributes = {
      {"num_hidden", std::to_string(op.out)}, {"flatten", text(false)}, {"no_bias", text(!op.bias)}};
  return op.bias ? in.op("FullyConnected", {in[0], in[1], in[2]}, attributes)
                 : in.op("FullyConnected", {in[0], in[1]}, attributes);
}
LoweredAs lowered_as(const Linear&, size_t) { return native("FullyConnected"); }

// a (..., M, K), b (..., K, N). batch_dot knows one leading axis.
Symbol lower(const Matmul& op, const Args& in) {
  const Attributes transposes = {{"transpose_a", text(op.transpose_a)}, {"transpose_b", text(op.transpose_b)}};
  const int64_t rank = in.shape(0).rank();
  if (rank == 2) return in.op("dot", {in[0], in[1]}, transposes);
  if (rank == 3) return in.op("batch_dot", {in[0], in[1]}, transposes);
  const auto flat = [&](size_t operand) {
    const Shape& shape = in.shape(operand);
    const int64_t extents[] = {-1, shape[rank - 2], shape[rank - 1]};
    return in.part(operand == 0 ? "a" : "b", "Reshape", {in[operand]}, {{"shape", text(extents)}});
  };
  const Symbol product = in.part("product", "batch_dot", {flat(0), flat(1)}, transposes);
  return in.op("Reshape", {product}, {{"shape", shape_text(in.out())}});
}
LoweredAs lowered_as(const Matmul&, size_t) { return native("batch_dot; dot for matrices"); }

}  // namespace tbd::mxnet
