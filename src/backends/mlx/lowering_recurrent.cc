// Recurrent layers are unrolled: MLX has no op of a whole sequence. The products with the inputs of all steps are one.
#include "backends/mlx/double_math.h"
#include "backends/mlx/lowering.h"

namespace tbd::mlx {
namespace {

array product(const array& x, const array& weight, DType inner) {
  return cast_to(mx::matmul(x, mx::transpose(weight)), inner);
}

// Gates i, f, g, o of c (N, H), in its type.
struct CellState {
  array h, c;
};
CellState cell(const array& gates, const array& c) {
  const std::vector<array> each = mx::split(gates, 4, -1);
  const array kept = mx::multiply(exact_sigmoid(each[1]), c);
  const array next = mx::add(kept, mx::multiply(exact_sigmoid(each[0]), mx::tanh(each[2])));
  return {mx::multiply(exact_sigmoid(each[3]), mx::tanh(next)), next};
}

// x (N, T, in) and perhaps lengths (N) as steps. Products are in the operands' type, states in inner(). With lengths a
// reverse layer runs over the valid steps of each sample in reverse; without them the steps themselves run from the
// end.
class Sequence {
 public:
  Sequence(const Args& in, int64_t hidden, bool reverse)
      : in_(in), hidden_(hidden), reverse_(reverse), lengths_given_(has_lengths(in.size())) {}

  size_t first_parameter() const { return lengths_given_ ? 2 : 1; }
  DType inner() const { return inner_type(in_.dtype()); }
  size_t steps() const { return static_cast<size_t>(in_.shape(0)[1]); }
  array zero() const { return mx::zeros({samples(), static_cast<int>(hidden_)}, type_of(inner())); }
  array outer(const array& state) const { return cast_to(state, in_.dtype()); }
  // Of each step the product of x with the weight: T times (N, width).
  std::vector<array> projected(const array& weight) const {
    return mx::unstack(product(in_order(in_.row(0)), weight, inner()), 1);
  }
  size_t time(size_t step) const { return reverse_ && !lengths_given_ ? steps() - 1 - step : step; }

  // (N, T, H) in the order of x, 0 from a sample's length on; `states` as they stand in projected().
  array series(const std::vector<array>& states) const {
    const array y = in_order(mx::stack(states, 1));
    return outer(lengths_given_ ? masked(y, 1, in_.fixed(1)) : y);
  }
  // After the last valid step.
  array last(const std::vector<array>& states) const {
    if (!lengths_given_) return outer(states[time(steps() - 1)]);
    const array at = mx::reshape(mx::subtract(in_.fixed(1), array(1)), {samples(), 1});
    return outer(mx::squeeze(rows_of_samples(mx::stack(states, 1), at), 1));
  }

 private:
  int samples() const { return static_cast<int>(in_.shape(0)[0]); }
  // The valid steps of each sample in reverse, and back.
  array in_order(const array& x) const {
    if (!reverse_ || !lengths_given_) return x;
    const array t = mx::reshape(mx::arange(static_cast<int>(steps())), {1, -1});
    const array lengths = mx::reshape(in_.fixed(1), {samples(), 1});
    const array mirrored = mx::subtract(mx::subtract(lengths, array(1)), t);
    return rows_of_samples(x, mx::where(mx::less(t, lengths), mirrored, t));
  }

  const Args& in_;
  int64_t hidden_;
  bool reverse_, lengths_given_;
};

}  // namespace

// y (N, T, H), h (N, H), c (N, H).
std::vector<Operand> lower(const Lstm& op, const Args& in) {
  const Sequence layer(in, op.hidden, op.reverse);
  const size_t first = layer.first_parameter();  // weight_ih, weight_hh, bias_ih, bias_hh
  const DType inner = layer.inner();
  const array bias = mx::add(cast_to(in.row(first + 2), inner), cast_to(in.row(first + 3), inner));
  const std::vector<array> of_x = layer.projected(in.row(first));
  const array weight = in.row(first + 1);
  std::vector<array> h(layer.steps(), layer.zero()), c = h;
  CellState state = {layer.zero(), layer.zero()};
  for (size_t step = 0; step < layer.steps(); ++step) {
    const size_t t = layer.time(step);
    const array of_h = product(layer.outer(state.h), weight, inner);
    state = cell(mx::add(mx::add(of_x[t], bias), of_h), state.c);
    h[t] = state.h;
    c[t] = state.c;
  }
  return {{layer.series(h)}, {layer.last(h)}, {layer.last(c)}};
}
LoweredAs lowered_as(const Lstm& op, size_t) {
  const char* reversed = op.reverse ? "with lengths take, " : "";
  return composed(cat(reversed, "matmul of all steps' inputs; each step matmul, split, sigmoid, tanh, multiply, add"));
}

// x (N, in), h (N, H), c (N, H) -> h', c'.
std::vector<Operand> lower(const LstmCell&, const Args& in) {
  const DType inner = inner_type(in.dtype());
  const array bias = mx::add(cast_to(in.row(5), inner), cast_to(in.row(6), inner));
  const array products = mx::add(product(in.row(0), in.row(3), inner), product(in.row(1), in.row(4), inner));
  const CellState next = cell(mx::add(products, bias), cast_to(in.row(2), inner));
  return {{cast_to(next.h, in.dtype())}, {cast_to(next.c, in.dtype())}};
}
LoweredAs lowered_as(const LstmCell&, size_t) { return composed("matmul, split, sigmoid, tanh, multiply, add"); }

// y (N, T, H), h (N, H); rows r, z, n.
std::vector<Operand> lower(const Gru& op, const Args& in) {
  const Sequence layer(in, op.hidden, op.reverse);
  const size_t first = layer.first_parameter();
  const DType inner = layer.inner();
  const array bias_ih = cast_to(in.row(first + 2), inner), bias_hh = cast_to(in.row(first + 3), inner);
  const std::vector<array> of_x = layer.projected(in.row(first));
  const array weight = in.row(first + 1);
  array h = layer.zero();
  std::vector<array> states(layer.steps(), h);
  for (size_t step = 0; step < layer.steps(); ++step) {
    const size_t t = layer.time(step);
    const std::vector<array> x = mx::split(mx::add(of_x[t], bias_ih), 3, -1);
    const std::vector<array> own = mx::split(mx::add(product(layer.outer(h), weight, inner), bias_hh), 3, -1);
    const array r = exact_sigmoid(mx::add(x[0], own[0])), z = exact_sigmoid(mx::add(x[1], own[1]));
    const array n = mx::tanh(mx::add(x[2], mx::multiply(r, own[2])));
    h = mx::add(n, mx::multiply(z, mx::subtract(h, n)));
    states[t] = h;
  }
  return {{layer.series(states)}, {layer.last(states)}};
}
LoweredAs lowered_as(const Gru& op, size_t) {
  const char* reversed = op.reverse ? "with lengths take, " : "";
  return composed(cat(reversed, "matmul of all steps' inputs; each step matmul, split, sigmoid, tanh, multiply, add"));
}

}  // namespace tbd::mlx
