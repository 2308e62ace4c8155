#include "backends/mxnet/lowering.h"

namespace tbd::mxnet {

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
