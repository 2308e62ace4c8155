#include "backends/mlx/lowering.h"

namespace tbd::mlx {

Operand lower(const Reshape&, const Args& in) { return {reshaped(in.row(0), in.out())}; }
LoweredAs lowered_as(const Reshape&, size_t) { return native("reshape"); }

Operand lower(const Concat& op, const Args& in) {
  const Layout layout = in.common();
  std::vector<array> parts;
  for (size_t i = 0; i < in.size(); ++i) parts.push_back(in.as(i, layout));
  return {mx::concatenate(parts, axis_of(physical_axis(op.axis, layout))), layout};
}
LoweredAs lowered_as(const Concat&, size_t) { return native("concatenate"); }

Operand lower(const Slice& op, const Args& in) {
  const Operand& x = in[0];
  const auto axis = static_cast<size_t>(physical_axis(op.axis, x.layout));
  mx::Shape begin(x.data.ndim(), 0), end = x.data.shape();
  begin[axis] = static_cast<int>(op.begin);
  if (op.end != 0) end[axis] = static_cast<int>(op.end);
  return {mx::slice(x.data, begin, end), x.layout};
}
LoweredAs lowered_as(const Slice&, size_t) { return native("slice"); }

Operand lower(const Transpose& op, const Args& in) {
  return {mx::transpose(in.row(0), std::vector<int>(op.axes.begin(), op.axes.end()))};
}
LoweredAs lowered_as(const Transpose&, size_t) { return native("transpose"); }

// Low types are added up in fp32.
Operand lower(const Reduce& op, const Args& in) {
  const array x = cast_to(in.row(0), inner_type(in.dtype()));
  std::vector<int> axes(op.axes.begin(), op.axes.end());
  if (axes.empty())
    for (int i = 0; i < static_cast<int>(x.ndim()); ++i) axes.push_back(i);
  const bool sums = op.function == Reduce::Function::sum;
  return {cast_to(sums ? mx::sum(x, axes, op.keep) : mx::mean(x, axes, op.keep), in.dtype())};
}
LoweredAs lowered_as(const Reduce& op, size_t) { return native(kind(op)); }

Operand lower(const StopGradient&, const Args& in) { return {mx::stop_gradient(in[0].data), in[0].layout}; }
LoweredAs lowered_as(const StopGradient&, size_t) { return native("stop_gradient"); }

Operand lower(const InputGradient&, const Args& in) { return in.input_gradient(); }
LoweredAs lowered_as(const InputGradient&, size_t) { return native("vjp of the nodes between its operands"); }

std::vector<Operand> lower(const HostCall& op, const Args& in) { return in.call_host(op); }
LoweredAs lowered_as(const HostCall& op, size_t) { return native(cat("host function ", op.function)); }

}  // namespace tbd::mlx
