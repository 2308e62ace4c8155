#include <cmath>

#include "backends/mlx/lowering.h"

namespace tbd::mlx {
namespace {

// (T, width): the waves of positions first .. first + T - 1, sines, then cosines.
HostTensor waves(const Sinusoid& op, int64_t length) {
  HostTensor table(DType::f64, {length, op.width});
  const int64_t half = op.width / 2;
  for (int64_t t = 0; t < length; ++t)
    for (int64_t j = 0; j < half; ++j) {
      const double frequency = std::pow(10000.0, -static_cast<double>(j) / static_cast<double>(half - 1));
      const double angle = static_cast<double>(op.first + t) * frequency;
      const auto at = static_cast<size_t>(t * op.width + j);
      table.as<double>()[at] = std::sin(angle);
      table.as<double>()[at + static_cast<size_t>(half)] = std::cos(angle);
    }
  return table;
}

}  // namespace

// ids (...), weight (rows, width). No gradient reaches the row of padding from here.
Operand lower(const Embedding& op, const Args& in) {
  const array ids = in.fixed(0), rows = mx::take(in.row(1), ids, 0);
  if (op.pad < 0) return {rows};
  const array is_padding = mx::expand_dims(mx::equal(ids, number(static_cast<double>(op.pad), in.dtype())), -1);
  return {mx::where(is_padding, mx::stop_gradient(rows), rows)};
}
LoweredAs lowered_as(const Embedding& op, size_t) {
  return native(op.pad < 0 ? "take" : "take; equal, where for the row of padding");
}

// x (N, S, ...), positions (N, P).
Operand lower(const Gather&, const Args& in) { return {rows_of_samples(in.row(0), in.fixed(1))}; }
LoweredAs lowered_as(const Gather&, size_t) { return native("take of rows"); }

// n at least 1: floor((n - 1) / stride) + 1.
Operand lower(const StridedLength& op, const Args& in) {
  const auto whole = [&](int64_t value) { return number(static_cast<double>(value), in.dtype()); };
  return {mx::floor_divide(mx::add(in.fixed(0), whole(op.stride - 1)), whole(op.stride))};
}
LoweredAs lowered_as(const StridedLength&, size_t) { return composed("add, floor_divide"); }

Operand lower(const SequenceMask& op, const Args& in) {
  const Operand& x = in[0];
  return {masked(x.data, axis_of(physical_axis(op.axis, x.layout)), in.fixed(1)), x.layout};
}
LoweredAs lowered_as(const SequenceMask&, size_t) { return composed("arange, less, where"); }

Operand lower(const Equals& op, const Args& in) {
  return {cast_to(mx::equal(in.fixed(0), number(static_cast<double>(op.value), in.dtype())), op.to)};
}
LoweredAs lowered_as(const Equals&, size_t) { return native("equal, astype"); }

// valid (N, T). The table is rounded to fp32 before it is rounded to a low type.
Operand lower(const Sinusoid& op, const Args& in) {
  const DType inner = inner_type(in.dtype());
  const array table = in.constant(
      0, [&] { return converted(waves(op, in.shape(0)[1]), inner); }, in.dtype());
  return {mx::multiply(mx::expand_dims(in.fixed(0), -1), table)};
}
LoweredAs lowered_as(const Sinusoid&, size_t) { return composed("multiply by a constant table"); }

}  // namespace tbd::mlx
