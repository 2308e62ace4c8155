#include <algorithm>
#include <numeric>

#include "backends/cntk/lowering.h"

namespace tbd::cntk {
namespace {

// A value whose first axis an op touches.
const Tensor first_axis(const Args& in, int64_t axis) { return axis == 0 ? in.fixed(0) : in[0]; }

std::vector<int64_t> axes_of(const Reduce& op, const Shape& x) {
  std::vector<int64_t> axes = op.axes;
  if (axes.empty()) {
    axes.resize(static_cast<size_t>(x.rank()));
    std::iota(axes.begin(), axes.end(), 0);
  }
  return axes;
}

}  // namespace

Tensor lower(const Reshape&, const Args& in) {
  const Shape &from = in.shape(0), &to = in.out();
  const bool keeps = from.rank() > 0 && to.rank() > 0 && from[0] == to[0];
  return reshaped(keeps ? in[0] : in.fixed(0), to);
}
LoweredAs lowered_as(const Reshape&, size_t) { return native("Reshape"); }

Tensor lower(const Concat& op, const Args& in) {
  const bool apart = op.axis != 0 && in.any_batched();
  std::vector<CNTK::Variable> parts;
  for (size_t i = 0; i < in.size(); ++i) parts.push_back(apart ? *in.batched(i) : *in.fixed(i));
  const Tensor first = {parts[0], in.shape(0), apart};
  return in.result(CNTK::Splice(parts, native_axis(first, op.axis), in.name()), apart);
}
LoweredAs lowered_as(const Concat&, size_t) { return native("Splice"); }

Tensor lower(const Slice& op, const Args& in) {
  const Tensor x = first_axis(in, op.axis);
  const int64_t end = op.end == 0 ? in.shape(0)[op.axis] : op.end;
  return in.like(x, CNTK::Slice(*x, {native_axis(x, op.axis)}, {place(op.begin)}, {place(end)}, in.name()));
}
LoweredAs lowered_as(const Slice&, size_t) { return native("Slice"); }

// Axis i of the result is axis axes[i]; both are counted backwards, and without the first where it stays.
Tensor lower(const Transpose& op, const Args& in) {
  const Tensor x = op.axes[0] == 0 ? in[0] : in.fixed(0);
  std::vector<CNTK::Axis> permutation;
  for (size_t i = op.axes.size(); i-- > (x.batched ? 1 : 0);) permutation.push_back(native_axis(x, op.axes[i]));
  return in.like(x, permutation.size() < 2 ? *x : CNTK::Variable(CNTK::Transpose(*x, permutation, in.name())));
}
LoweredAs lowered_as(const Transpose&, size_t) { return native("Transpose"); }

// One axis after another; all of them at once.
Tensor lower(const Reduce& op, const Args& in) {
  const std::vector<int64_t> axes = axes_of(op, in.shape(0));
  const bool mean = op.function == Reduce::Function::mean;
  if (static_cast<int64_t>(axes.size()) == in.shape(0).rank()) {
    Tensor sum = total(*in[0], in);
    if (mean) sum.variable = times(*sum, in.scalar(1 / static_cast<double>(in.shape(0).elements())));
    return in.out().rank() == 0 ? sum : reshaped(sum, in.out());
  }
  const Tensor x = std::ranges::count(axes, 0) > 0 ? in.fixed(0) : in[0];
  CNTK::Variable y = *x;
  Shape shape = x.shape;
  for (const int64_t axis : axes) {
    y = mean ? CNTK::Variable(CNTK::ReduceMean(y, native_axis(x, axis), L""))
             : sum_over(y, place(shape.rank() - 1 - axis));
    shape[axis] = 1;
  }
  const Tensor kept = {y, shape, x.batched};
  return op.keep ? kept : reshaped(kept, in.out());
}
LoweredAs lowered_as(const Reduce& op, size_t) {
  return native(op.function == Reduce::Function::mean ? "ReduceMean" : "ReduceSum");
}

Tensor lower(const StopGradient&, const Args& in) { return in.like(in[0], CNTK::StopGradient(*in[0], in.name())); }
LoweredAs lowered_as(const StopGradient&, size_t) { return native("StopGradient"); }

std::vector<Tensor> lower(const HostCall&, const Args&) { fail(ErrorKind::unsupported, "not lowered"); }
LoweredAs lowered_as(const HostCall&, size_t) { return unsupported("a graph of CNTK cannot call out to the host"); }

Tensor lower(const InputGradient&, const Args&) { fail(ErrorKind::unsupported, "not lowered"); }
LoweredAs lowered_as(const InputGradient&, size_t) { return unsupported("CNTK differentiates once"); }

}  // namespace tbd::cntk
