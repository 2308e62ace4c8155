#include "graph/ops/recurrent.h"

#include <cmath>

namespace tbd {
namespace {

std::vector<ParameterSpec> gate_parameters(int64_t hidden, int64_t in) {
  const Init init = Init::uniform(1 / std::sqrt(static_cast<double>(hidden)));
  return {{.suffix = "weight_ih", .shape = {4 * hidden, in}, .init = init},
          {.suffix = "weight_hh", .shape = {4 * hidden, hidden}, .init = init},
          {.suffix = "bias_ih", .shape = {4 * hidden}, .init = init},
          {.suffix = "bias_hh", .shape = {4 * hidden}, .init = init}};
}

// Per unit and step: the sum of both products 4, two biases 8, the state 4; three sigmoids and two tanh.
Cost forward_steps(int64_t steps, int64_t hidden, int64_t in, int64_t bytes) {
  const int64_t flops = 8 * steps * hidden * (in + hidden);
  return {.model = flops, .valid = flops, .simd = 16 * steps * hidden, .trans = 5 * steps * hidden, .bytes = bytes};
}

// Which gradients of a step are wanted.
struct Wanted {
  bool x = false, h = false, weight_ih = false, weight_hh = false, bias = false;
  int64_t products(int64_t in, int64_t hidden) const { return (x + weight_ih) * in + (h + weight_hh) * hidden; }
};

// The gates take `per_unit`, the biases 4: both have the same gradient.
Cost backward_steps(int64_t steps, int64_t hidden, int64_t in, const Wanted& wanted, int64_t per_unit) {
  const int64_t flops = 8 * steps * hidden * wanted.products(in, hidden);
  return {.model = flops, .valid = flops, .simd = (per_unit + (wanted.bias ? 4 : 0)) * steps * hidden};
}

// The results' gradients and all operands are read, the wanted gradients written.
int64_t backward_bytes(const Operands& o) {
  int64_t bytes = 0;
  for (size_t i = 0; i < o.out.size(); ++i) bytes += o.out_bytes(i);
  for (size_t i = 0; i < o.in.size(); ++i) bytes += o.in_bytes(i) * (1 + o.needs(i));
  return bytes;
}

}  // namespace

std::vector<Shape> output_shapes(const Lstm& op, Shapes in) {
  const Shape& x = in[0];
  require(x.rank() == 3, "expected x (N, T, features), got ", x);
  require(op.hidden > 0, "hidden must be positive");
  require(!lstm_has_lengths(in.size()) || in[1] == Shape{x[0]}, "lengths are ", in[in.size() > 1], ", expected (", x[0],
          ")");
  const Shape state = {x[0], op.hidden};
  return {{x[0], x[1], op.hidden}, state, state};
}
std::vector<ParameterSpec> parameters(const Lstm& op, const Shape& x) { return gate_parameters(op.hidden, x.back()); }
Cost forward_cost(const Lstm& op, const Operands& o) {
  const Shape& x = o.in[0];
  return forward_steps(x[0] * x[1], op.hidden, x[2], bytes_touched_forward(o));
}
// y, of which the weights' gradients read h, is read too. Per unit 23: dh 1, do 1, dc 5, the three others 3, the
// gradient of the earlier c 1, sigmoids 9 and tanh 3.
Cost backward_cost(const Lstm& op, const Operands& o) {
  if (elements_needing_gradient(o) == 0) return {};
  const Shape& x = o.in[0];
  const size_t first = lstm_has_lengths(o.in.size()) ? 2 : 1;
  const Wanted wanted = {.x = o.needs(0),
                         .h = true,
                         .weight_ih = o.needs(first),
                         .weight_hh = o.needs(first + 1),
                         .bias = o.needs(first + 2) || o.needs(first + 3)};
  Cost cost = backward_steps(x[0] * x[1], op.hidden, x[2], wanted, 23);
  cost.bytes = backward_bytes(o) + o.out_bytes(0);
  return cost;
}
int64_t kept_bytes(const Lstm&, const Operands& o) { return 7 * o.out_bytes(0); }
Traits traits(const Lstm&) {
  return {.saves_inputs = {0, 1, 2, 3}, .saves_output = true, .precision = PrecisionRule::low};
}

std::vector<Shape> output_shapes(const LstmCell& op, Shapes in) {
  require(in.size() >= 3, "expected x, h and c, got ", in.size(), " operands");
  require(in[0].rank() == 2, "expected x (N, features), got ", in[0]);
  require(op.hidden > 0, "hidden must be positive");
  const Shape state = {in[0][0], op.hidden};
  require(in[1] == state && in[2] == state, "h and c are ", in[1], " and ", in[2], ", expected ", state);
  return {state, state};
}
std::vector<ParameterSpec> parameters(const LstmCell& op, const Shape& x) {
  return gate_parameters(op.hidden, x.back());
}
Cost forward_cost(const LstmCell& op, const Operands& o) {
  return forward_steps(o.in[0][0], op.hidden, o.in[0][1], bytes_touched_forward(o));
}
// As a step of lstm, with one gradient of h' (its uses add up outside), and that of c only where it is wanted.
Cost backward_cost(const LstmCell& op, const Operands& o) {
  if (elements_needing_gradient(o) == 0) return {};
  const Wanted wanted = {.x = o.needs(0),
                         .h = o.needs(1),
                         .weight_ih = o.needs(3),
                         .weight_hh = o.needs(4),
                         .bias = o.needs(5) || o.needs(6)};
  const bool gates = wanted.products(1, 1) > 0 || wanted.bias;
  const int64_t per_unit = (gates ? 21 : 5) + o.needs(2);  // dc alone takes 5
  Cost cost = backward_steps(o.in[0][0], op.hidden, o.in[0][1], wanted, per_unit);
  cost.bytes = backward_bytes(o);
  return cost;
}
int64_t kept_bytes(const LstmCell&, const Operands& o) { return 5 * o.out_bytes(0); }
Traits traits(const LstmCell&) { return {.saves_inputs = {0, 1, 2, 3, 4}, .precision = PrecisionRule::low}; }

}  // namespace tbd
