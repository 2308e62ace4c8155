#include <mlx/fast.h>

#include <numeric>

#include "backends/mlx/double_math.h"
#include "backends/mlx/lowering.h"

namespace tbd::mlx {
namespace {

array inverse_root(const array& variance, double eps) {
  return mx::rsqrt(mx::add(variance, array(eps, variance.dtype())));
}

struct Moments {
  array mean, centred, variance;  // the variance is biased; reduced axes are kept
};
Moments moments(const array& x, const std::vector<int>& axes) {
  const array mean = mx::mean(x, axes, true), centred = mx::subtract(x, mean);
  return {mean, centred, mx::mean(mx::square(centred), axes, true)};
}

// x (N, C, ...) as it lies, its channels on `axis`.
struct Channels {
  array x;
  Layout layout;
  int axis;
  std::vector<int> others;

  explicit Channels(const Args& in)
      : x(cast_to(in[0].data, inner_type(in.dtype()))),
        layout(in[0].layout),
        axis(static_cast<int>(physical_axis(1, layout))) {
    if (in.shape(0).rank() == 4 && layout == Layout::row) {
      layout = Layout::channels_last;
      x = relaid(x, Layout::row, layout);
      axis = 3;
    }
    for (int i = 0; i < static_cast<int>(x.ndim()); ++i)
      if (i != axis) others.push_back(i);
  }
  // (C) beside x.
  array spread(const array& each) const {
    mx::Shape shape(x.ndim(), 1);
    shape[static_cast<size_t>(axis)] = x.shape(axis);
    return mx::reshape(mx::astype(each, x.dtype()), shape);
  }
  array flat(const array& each) const { return mx::reshape(each, {x.shape(axis)}); }
};

// running <- (1 - momentum) running + momentum batch, with the unbiased variance.
void advance(const BatchNorm& op, const Args& in, const Channels& c, const Moments& m) {
  const double n = static_cast<double>(c.x.size()) / c.x.shape(c.axis);
  const auto moved = [&](size_t buffer, const array& batch) {
    const array now = in.row(buffer);
    in.assign(buffer, mx::add(scaled(now, 1 - op.momentum), scaled(mx::astype(batch, now.dtype()), op.momentum)));
  };
  moved(in.size() - 2, c.flat(m.mean));
  moved(in.size() - 1, scaled(c.flat(m.variance), n / (n - 1)));
}

bool in_double(const Args& in) { return in.dtype() == DType::f64; }

}  // namespace

// x (N, C, ...); operands: weight and bias if affine, then the running statistics.
Operand lower(const BatchNorm& op, const Args& in) {
  const Channels c(in);
  array y = c.x;
  if (op.stats == BatchNorm::Stats::frozen) {
    const array factor = c.spread(inverse_root(in.row(in.size() - 1), op.eps));
    y = mx::multiply(mx::subtract(c.x, c.spread(in.row(in.size() - 2))), factor);
  } else {
    const Moments m = moments(c.x, c.others);
    y = mx::multiply(m.centred, inverse_root(m.variance, op.eps));
    if (op.stats == BatchNorm::Stats::running) advance(op, in, c, m);
  }
  if (op.affine) y = mx::add(mx::multiply(y, c.spread(in.row(1))), c.spread(in.row(2)));
  return {cast_to(y, in.dtype()), c.layout};
}
LoweredAs lowered_as(const BatchNorm& op, size_t) {
  if (op.stats == BatchNorm::Stats::frozen) return composed("subtract, rsqrt, multiply, add");
  return composed("mean, subtract, square, rsqrt, multiply, add");
}

// Channels last: (N, positions, groups, C / groups).
Operand lower(const GroupNorm& op, const Args& in) {
  const Shape& shape = in.shape(0);
  const int n = static_cast<int>(shape[0]), groups = static_cast<int>(op.groups);
  const int each = static_cast<int>(shape[1] / op.groups);
  const bool images = shape.rank() == 4;
  const array given = images ? in.as(0, Layout::channels_last)
                             : mx::swapaxes(mx::reshape(in.row(0), {n, static_cast<int>(shape[1]), -1}), 1, 2);
  const array x = cast_to(given, inner_type(in.dtype()));
  const Moments m = moments(mx::reshape(x, {n, -1, groups, each}), {1, 3});
  array y = mx::reshape(mx::multiply(m.centred, inverse_root(m.variance, op.eps)), x.shape());
  y = cast_to(mx::add(mx::multiply(y, in.row(1)), in.row(2)), in.dtype());
  if (images) return {y, Layout::channels_last};
  return {reshaped(mx::swapaxes(y, 1, 2), shape)};
}
LoweredAs lowered_as(const GroupNorm&, size_t) { return composed("mean, subtract, square, rsqrt, multiply, add"); }

Operand lower(const LayerNorm& op, const Args& in) {
  if (!in_double(in))
    return {cast_to(mx::fast::layer_norm(in.row(0), in.row(1), in.row(2), static_cast<float>(op.eps)), in.dtype())};
  const Moments m = moments(in.row(0), {-1});
  return {mx::add(mx::multiply(mx::multiply(m.centred, inverse_root(m.variance, op.eps)), in.row(1)), in.row(2))};
}
LoweredAs lowered_as(const LayerNorm&, size_t) {
  return native("fast::layer_norm; in fp64 mean, subtract, square, rsqrt, multiply, add");
}

Operand lower(const RmsNorm& op, const Args& in) {
  if (!in_double(in))
    return {cast_to(mx::fast::rms_norm(in.row(0), in.row(1), static_cast<float>(op.eps)), in.dtype())};
  const array x = in.row(0), squares = mx::mean(mx::square(x), -1, true);
  return {mx::multiply(mx::multiply(x, inverse_root(squares, op.eps)), in.row(1))};
}
LoweredAs lowered_as(const RmsNorm&, size_t) { return native("fast::rms_norm; in fp64 mean, square, rsqrt, multiply"); }

Operand lower(const Softmax&, const Args& in) { return {exact_softmax(in.row(0))}; }
LoweredAs lowered_as(const Softmax&, size_t) { return native("softmax, precise; in fp64 max, power, sum, divide"); }

}  // namespace tbd::mlx
