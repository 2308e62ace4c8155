#include "backends/mlx/lowering.h"

#include <mlx/random.h>

namespace tbd::mlx {

array scaled(const array& x, double factor) { return mx::multiply(x, array(factor, x.dtype())); }

array dropped(const Args& in, const array& x, double p, const array* mask) {
  const DType inner = inner_type(in.dtype());
  const array wide = cast_to(x, inner);
  const array kept = mask ? mx::multiply(wide, cast_to(*mask, inner))
                          : mx::where(mx::random::bernoulli(array(static_cast<float>(1 - p)), x.shape(), in.key()),
                                      wide, number(0, inner));
  return mx::astype(scaled(kept, 1 / (1 - p)), x.dtype());
}

array masked(const array& x, int axis, const array& lengths) {
  mx::Shape along(x.ndim(), 1), samples(x.ndim(), 1);
  along[static_cast<size_t>(axis)] = x.shape(axis);
  samples[0] = x.shape(0);
  const array valid =
      mx::less(mx::reshape(mx::arange(x.shape(axis)), along), mx::reshape(mx::stop_gradient(lengths), samples));
  return mx::where(valid, x, mx::zeros_like(x));
}

array rows_of_samples(const array& x, const array& positions) {
  const int samples = x.shape(0), rows = x.shape(1);
  mx::Shape flat(x.shape().begin() + 1, x.shape().end()), out = x.shape();
  flat[0] = samples * rows;
  out[1] = positions.shape(1);
  const array first = mx::reshape(mx::multiply(mx::arange(samples), array(rows)), {samples, 1});
  return mx::reshape(mx::take(mx::reshape(x, flat), mx::add(mx::stop_gradient(positions), first), 0), out);
}

}  // namespace tbd::mlx
