#include "backends/cntk/lowering.h"

namespace tbd::cntk {
namespace {

// Of one matrix a sample, rows M, columns K as {K, M}: backwards, c = a b is b a.
CNTK::Variable product(const Matmul& op, const CNTK::Variable& a, const CNTK::Variable& b) {
  const CNTK::Variable right =
      op.transpose_a ? CNTK::Variable(CNTK::TransposeAxes(a, CNTK::Axis(0), CNTK::Axis(1), L"")) : a;
  return op.transpose_b ? CNTK::TransposeTimes(b, right, 1, L"") : CNTK::Times(b, right, 1, -1, L"");
}

CNTK::Variable matrix(const Tensor& x, int place, const Shape& shape) {
  const int axis = 2;
  const CNTK::Variable one = CNTK::Slice(*x, {CNTK::Axis(axis)}, {place}, {place + 1}, L"");
  return CNTK::Reshape(one, {{extent(shape[3]), extent(shape[2])}}, CNTK::Axis(0), CNTK::Axis(3), L"");
}

}  // namespace

// The weight (out, C, kernel.h, kernel.w) is CNTK's {kernel.w, kernel.h, C, out} as it lies.
Tensor lower(const Conv2d& op, const Args& in) {
  const Tensor x = in.batched(0);
  const bool pads = op.pads != Pads{};
  const CNTK::Variable image = pads ? padded(x, op.pads, 0) : *x;
  const size_t channels = extent(in.shape(0)[1] / op.groups);
  CNTK::Variable y = CNTK::Convolution(*in.fixed(1), image, {{extent(op.stride.w), extent(op.stride.h), channels}},
                                       {true}, {false, false, false}, {{1}}, 1, extent(op.groups), 0, false, in.name());
  if (op.bias) y = plus(y, *reshaped(in.fixed(2), {op.out, 1, 1}));
  return in.result(y, true);
}
LoweredAs lowered_as(const Conv2d& op, size_t) {
  if (op.dilation != Extent2(1)) return unsupported("CNTK has no dilated convolution on a CPU");
  return op.pads == Pads{} ? native("Convolution") : composed("Pad, Convolution");
}

Tensor lower(const ConvTranspose2d&, const Args&) { fail(ErrorKind::unsupported, "not lowered"); }
LoweredAs lowered_as(const ConvTranspose2d&, size_t) {
  return unsupported("CNTK's ConvolutionTranspose has no pads of its own choice");
}

// The weight (out, in) is {in, out}: its transpose times x.
Tensor lower(const Linear& op, const Args& in) {
  const bool whole = in[0].batched && in.shape(0).rank() == 1;
  const Tensor x = whole ? in.fixed(0) : in[0];
  CNTK::Variable y = CNTK::TransposeTimes(*in.fixed(1), *x, 1, in.name());
  if (op.bias) y = plus(y, *in.fixed(2));
  return in.like(x, y);
}
LoweredAs lowered_as(const Linear& op, size_t) {
  return op.bias ? composed("TransposeTimes, Plus") : native("TransposeTimes");
}

// Products of matrices that both vary with the sample are CNTK's where there is one a sample; else slice by slice.
Tensor lower(const Matmul& op, const Args& in) {
  const int64_t rank = in.out().rank();
  if (rank == 2) return in.result(product(op, *in.fixed(0), *in.fixed(1)), false);
  const Tensor a = in.batched(0), b = in.batched(1);
  if (rank == 3) return in.result(product(op, *a, *b), true);
  std::vector<CNTK::Variable> parts;
  for (int i = 0; i < static_cast<int>(in.out()[1]); ++i) {
    const CNTK::Variable y = product(op, matrix(a, i, in.shape(0)), matrix(b, i, in.shape(1)));
    parts.push_back(
        CNTK::Reshape(y, {{extent(in.out()[3]), extent(in.out()[2]), 1}}, CNTK::Axis(0), CNTK::Axis(2), L""));
  }
  return in.result(parts.size() == 1 ? parts[0] : CNTK::Variable(CNTK::Splice(parts, CNTK::Axis(2), in.name())), true);
}
LoweredAs lowered_as(const Matmul&, size_t) { return native("Times"); }

}  // namespace tbd::cntk
