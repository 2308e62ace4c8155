#include <ATen/ops/cat.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/sum.h>

#include "backends/pytorch/autograd.h"
#include "backends/pytorch/lowering.h"
#include "backends/pytorch/tensors.h"
#include "base/text.h"
#include "host/registry.h"

namespace tbd::pytorch {

// Always a copy: the result of a cast may be overwritten, also where it has its operand's type.
at::Tensor lower(const Cast& op, const Args& in) {
  return in[0].to(scalar_type(op.to), /*non_blocking=*/false, /*copy=*/true);
}
LoweredAs lowered_as(const Cast&, size_t) { return native("to"); }

at::Tensor lower(const Reshape& op, const Args& in) {
  std::vector<int64_t> extents = op.shape;
  for (size_t axis = 0; axis < extents.size(); ++axis)
    if (extents[axis] == 0) extents[axis] = in[0].size(static_cast<int64_t>(axis));
  return in[0].reshape(extents);
}
LoweredAs lowered_as(const Reshape&, size_t) { return native("reshape"); }

at::Tensor lower(const Concat& op, const Args& in) {
  std::vector<at::Tensor> parts;
  for (size_t i = 0; i < in.size(); ++i) parts.push_back(in[i]);
  return at::cat(parts, op.axis);
}
LoweredAs lowered_as(const Concat&, size_t) { return native("cat"); }

at::Tensor lower(const Slice& op, const Args& in) {
  const int64_t end = op.end == 0 ? in[0].size(op.axis) : op.end;
  return in[0].narrow(op.axis, op.begin, end - op.begin);
}
LoweredAs lowered_as(const Slice&, size_t) { return native("narrow"); }

at::Tensor lower(const Transpose& op, const Args& in) { return in[0].permute(op.axes); }
LoweredAs lowered_as(const Transpose&, size_t) { return native("permute"); }

at::Tensor lower(const Reduce& op, const Args& in) {
  const at::OptionalIntArrayRef axes = op.axes.empty() ? at::OptionalIntArrayRef() : at::IntArrayRef(op.axes);
  return op.function == Reduce::Function::sum ? at::sum(in[0], axes, op.keep) : at::mean(in[0], axes, op.keep);
}
LoweredAs lowered_as(const Reduce& op, size_t) { return native(kind(op)); }

at::Tensor lower(const StopGradient&, const Args& in) { return in[0].detach(); }
LoweredAs lowered_as(const StopGradient&, size_t) { return native("detach"); }

at::Tensor lower(const InputGradient&, const Args& in) { return input_gradient(in[0], in[1]); }
LoweredAs lowered_as(const InputGradient&, size_t) { return native("autograd::grad with create_graph"); }

std::vector<at::Tensor> lower(const HostCall& op, const Args& in) {
  std::vector<HostTensor> operands, results;
  std::vector<Shape> shapes;
  for (size_t i = 0; i < in.size(); ++i) {
    operands.push_back(to_host(in[i]));
    shapes.push_back(operands.back().shape());
  }
  const std::vector<Shape> declared = output_shapes(op, shapes);
  for (size_t i = 0; i < declared.size(); ++i) results.emplace_back(op.results[i].dtype, declared[i]);
  find_host_function(op.function)(operands, op.numbers, results);
  std::vector<at::Tensor> out;
  for (const HostTensor& result : results)
    out.push_back(to_device(result, result.dtype(), in[0].device(), Layout::nchw));
  return out;
}
LoweredAs lowered_as(const HostCall& op, size_t) { return native(cat("host function ", op.function)); }

}  // namespace tbd::pytorch
