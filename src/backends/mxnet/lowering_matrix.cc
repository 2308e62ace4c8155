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

// x (N, C, H, W), weight (C, out, kernel.h, kernel.w). Unequal pads: by the lesser of two, and the rest cut off.
Symbol lower(const ConvTranspose2d& op, const Args& in) {
  const int64_t kernel[] = {op.kernel.h, op.kernel.w}, stride[] = {op.stride.h, op.stride.w};
  const int64_t pad[] = {std::min(op.pads.top, op.pads.bottom), std::min(op.pads.left, op.pads.right)};
  const Attributes attributes = {{"kernel", text(kernel)},
                                 {"stride", text(stride)},
                                 {"pad", text(pad)},
                                 {"num_filter", std::to_string(op.out)},
                                 {"no_bias", text(true)}};
  if (op.pads.symmetric()) return in.op("Deconvolution", {in[0], in[1]}, attributes);
  return cropped(in, in.part("all", "Deconvolution", {in[0], in[1]}, attributes), op.pads);
}

// As reshape and broadcast it takes five to ten times as long.
Symbol lower(const UpsampleNearest& op, const Args& in) {
  return in.op("UpSampling", {in[0]},
               {{"scale", std::to_string(op.factor)}, {"sample_type", "nearest"}, {"num_args", "1"}});
}

// x (..., in), weight (out, in).
Symbol lower(const Linear& op, const Args& in) {
  const Attributes attributes = {
      {"num_hidden", std::to_string(op.out)}, {"flatten", text(false)}, {"no_bias", text(!op.bias)}};
  return op.bias ? in.op("FullyConnected", {in[0], in[1], in[2]}, attributes)
                 : in.op("FullyConnected", {in[0], in[1]}, attributes);
}

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

}  // namespace tbd::mxnet
