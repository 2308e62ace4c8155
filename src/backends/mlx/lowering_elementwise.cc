#include <numbers>

#include "backends/mlx/double_math.h"
#include "backends/mlx/lowering.h"

namespace tbd::mlx {
namespace {

using F = Unary::Function;

// x Phi(x) or x sigmoid(x); low types round once, at the end: 1 + erf(x) would cancel in them.
array gated(F function, const array& given, DType dtype) {
  const array x = cast_to(given, inner_type(dtype));
  if (function == F::silu) return cast_to(mx::multiply(x, exact_sigmoid(x)), dtype);
  const array twice = mx::add(exact_erf(scaled(x, std::numbers::sqrt2 / 2)), array(1.0, x.dtype()));
  return cast_to(mx::multiply(scaled(x, 0.5), twice), dtype);
}

array unary(const Unary& op, const array& x, DType dtype) {
  switch (op.function) {
    case F::relu:
      return mx::maximum(x, number(0, dtype));
    case F::leaky_relu:
      return mx::where(mx::greater(x, number(0, dtype)), x, scaled(x, op.slope));
    case F::sigmoid:
      return exact_sigmoid(x);
    case F::tanh:
      return mx::tanh(x);
    case F::exp:
      return exact_exp(x);
    case F::log:
      return mx::log(x);
    case F::sqrt:
      return mx::sqrt(x);
    case F::square:
      return mx::square(x);
    case F::abs:
      return mx::abs(x);
    case F::neg:
      return mx::negative(x);
    case F::gelu:
    case F::silu:
      return gated(op.function, x, dtype);
  }
  fail(ErrorKind::internal, "unary function without a lowering");
}

array binary(Binary::Function function, const array& a, const array& b) {
  using B = Binary::Function;
  switch (function) {
    case B::add:
      return mx::add(a, b);
    case B::sub:
      return mx::subtract(a, b);
    case B::mul:
      return mx::multiply(a, b);
    case B::div:
      return mx::divide(a, b);
  }
  fail(ErrorKind::internal, "binary function without a lowering");
}

}  // namespace

Operand lower(const Unary& op, const Args& in) { return {unary(op, in[0].data, in.dtype()), in[0].layout}; }
LoweredAs lowered_as(const Unary& op, size_t) {
  switch (op.function) {
    case F::relu:
      return native("maximum");
    case F::leaky_relu:
      return composed("greater, multiply, where");
    case F::gelu:
      return composed("erf, add, multiply; in fp64 a series for erf");
    case F::silu:
      return composed("sigmoid, multiply; in fp64 tanh for sigmoid");
    case F::sigmoid:
      return native("sigmoid; in fp64 tanh, add, multiply");
    case F::exp:
      return native("exp; in fp64 power");
    case F::neg:
      return native("negative");
    default:
      return native(kind(op));
  }
}

Operand lower(const Binary& op, const Args& in) {
  const Layout layout = in.common();
  return {binary(op.function, in.as(0, layout), in.as(1, layout)), layout};
}
LoweredAs lowered_as(const Binary& op, size_t) {
  static constexpr const char* kOps[] = {"add", "subtract", "multiply", "divide"};
  return native(kOps[static_cast<size_t>(op.function)]);
}

// Low types round once.
Operand lower(const Affine& op, const Args& in) {
  array y = cast_to(in[0].data, inner_type(in.dtype()));
  if (op.factor != 1) y = scaled(y, op.factor);
  if (op.offset != 0) y = mx::add(y, array(op.offset, y.dtype()));
  return {cast_to(y, in.dtype()), in[0].layout};
}
LoweredAs lowered_as(const Affine& op, size_t) {
  if (op.factor != 1 && op.offset != 0) return composed("multiply, add");
  return native(op.offset != 0 ? "add" : "multiply");
}

Operand lower(const Clamp& op, const Args& in) {
  return {mx::clip(in[0].data, number(op.low, in.dtype()), number(op.high, in.dtype())), in[0].layout};
}
LoweredAs lowered_as(const Clamp&, size_t) { return native("clip"); }

Operand lower(const Greater& op, const Args& in) {
  const array above = mx::greater(mx::stop_gradient(in[0].data), number(op.value, in.dtype()));
  return {cast_to(above, in.dtype()), in[0].layout};
}
LoweredAs lowered_as(const Greater&, size_t) { return native("greater, astype"); }

Operand lower(const Dropout& op, const Args& in) {
  const Layout layout = in.size() > 1 ? in.common() : in[0].layout;
  const array x = in.as(0, layout);
  if (in.size() > 1) {
    const array mask = mx::stop_gradient(in.as(1, layout));
    return {dropped(in, x, op.p, &mask), layout};
  }
  if (!op.per_sample) return {dropped(in, x, op.p, nullptr), layout};
  mx::Shape one(x.ndim(), 1);
  one[0] = x.shape(0);
  const array factors = dropped(in, mx::ones(one, x.dtype()), op.p, nullptr);
  return {mx::multiply(x, factors), layout};
}
LoweredAs lowered_as(const Dropout&, size_t operands) {
  return operands > 1 ? composed("multiply") : composed("random::bernoulli, where, multiply");
}

Operand lower(const Cast& op, const Args& in) { return {cast_to(in[0].data, op.to), in[0].layout}; }
LoweredAs lowered_as(const Cast&, size_t) { return native("astype"); }

// x_1, ..., x_k and their weights (k); or x alone.
Operand lower(const Fusion& op, const Args& in) {
  const size_t count = summands(op, in.size());
  const DType inner = inner_type(in.dtype());
  const Layout layout = in[0].layout;
  const auto summand = [&](size_t i) { return cast_to(in.as(i, layout), inner); };
  if (op.plain) {
    array sum = summand(0);
    for (size_t i = 1; i < count; ++i) sum = mx::add(sum, summand(i));
    return {cast_to(sum, in.dtype()), layout};
  }
  const array above = mx::maximum(cast_to(in.row(count), inner), number(0, inner));
  const array shares = mx::divide(above, mx::add(mx::sum(above), number(op.epsilon, inner)));
  const auto weighted = [&](size_t i) { return mx::multiply(summand(i), mx::take(shares, static_cast<int>(i))); };
  array sum = weighted(0);
  for (size_t i = 1; i < count; ++i) sum = mx::add(sum, weighted(i));
  return {cast_to(sum, in.dtype()), layout};
}
LoweredAs lowered_as(const Fusion& op, size_t) {
  return op.plain ? native("add") : composed("maximum, sum, divide, multiply, add");
}

}  // namespace tbd::mlx
