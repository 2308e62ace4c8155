#include <cmath>
#include <numeric>

#include "backends/mxnet/lowering.h"

namespace tbd::mxnet {

// x (N, S, ...), positions (N, P): rows of all samples in one table, sample n's from n S on. take's gradient sums where
// a row is taken more than once.
Symbol lower(const Gather&, const Args& in) {
  const Shape& x = in.shape(0);
  std::vector<int64_t> extents(x.extents().begin() + 1, x.extents().end());
  extents[0] = x[0] * x[1];
  std::vector<double> first(static_cast<size_t>(x[0]));
  for (size_t n = 0; n < first.size(); ++n) first[n] = static_cast<double>(n) * static_cast<double>(x[1]);
  const Symbol rows = in.part("rows", "Reshape", {in[0]}, {{"shape", text(extents)}});
  const Symbol start = in.constant("first", {x[0], 1}, first, in.dtype(1));
  return in.op("take", {rows, in.part("indices", "broadcast_add", {in[1], start})}, {{"axis", "0"}});
}
LoweredAs lowered_as(const Gather&, size_t) { return composed("broadcast_add, take"); }

// ids (...), weight (rows, width). Places that hold `pad` give the row, but no gradient comes back from them.
Symbol lower(const Embedding& op, const Args& in) {
  const Attributes table = {{"input_dim", std::to_string(op.rows)},
                            {"output_dim", std::to_string(op.width)},
                            {"dtype", type_name(in.dtype(1))}};
  if (op.pad < 0) return in.op("Embedding", {in[0], in[1]}, table);
  const Symbol ids = in.part("ids", "Reshape", {in[0]}, {{"shape", "(-1,)"}});
  const Symbol found = in.part("rows", "Embedding", {ids, in[1]}, table);
  const Symbol words = in.part("words", "_not_equal_scalar", {ids}, with_scalar(static_cast<double>(op.pad)));
  const Symbol held = in.part("held", "where", {words, found, in.part("fixed", "BlockGrad", {found})});
  return in.op("Reshape", {held}, to_shape(in.out()));
}
LoweredAs lowered_as(const Embedding& op, size_t) {
  return op.pad < 0 ? native("Embedding, dense gradient") : composed("Embedding, where; dense gradient");
}

Symbol lower(const Equals& op, const Args& in) {
  const Symbol equal = in.part("equal", "_equal_scalar", {in[0]}, with_scalar(static_cast<double>(op.value)));
  return in.op("Cast", {equal}, {{"dtype", type_name(op.to)}});
}
LoweredAs lowered_as(const Equals&, size_t) { return composed("_equal_scalar, Cast"); }

// valid (N, T) times a table (T, width).
Symbol lower(const Sinusoid& op, const Args& in) {
  const Shape& valid = in.shape(0);
  const int64_t steps = valid[1], half = op.width / 2;
  std::vector<double> waves;
  for (int64_t t = 0; t < steps; ++t)
    for (int64_t i = 0; i < op.width; ++i) {
      const double frequency = std::pow(10000.0, -static_cast<double>(i % half) / static_cast<double>(half - 1));
      const double angle = static_cast<double>(op.first + t) * frequency;
      waves.push_back(i < half ? std::sin(angle) : std::cos(angle));
    }
  const Symbol fixed = in.part("valid", "BlockGrad", {in[0]});
  const Symbol column = in.part("column", "Reshape", {fixed}, to_shape({valid[0], steps, 1}));
  return in.op("broadcast_mul", {column, in.constant("waves", {1, steps, op.width}, waves)});
}
LoweredAs lowered_as(const Sinusoid&, size_t) { return composed("broadcast_mul of a constant"); }

}  // namespace tbd::mxnet
