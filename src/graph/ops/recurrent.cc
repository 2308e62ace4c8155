#include "graph/ops/recurrent.h"

#include "graph/ops/gates.h"

namespace tbd {
namespace {

// The sum of both products 4, two biases 8, the state 4; three sigmoids and two tanh.
constexpr PerUnit kForward = {.gates = 4, .simd = 16, .trans = 5};
// The biases take 4: both have the same gradient.
PerUnit backward_unit(int64_t simd, const WantedGates& wanted) {
  return {.gates = 4, .simd = simd + (wanted.bias ? 4 : 0), .trans = 0};
}

}  // namespace

std::vector<Shape> output_shapes(const Lstm& op, Shapes in) {
  const Shape& x = in[0];
  require(x.rank() == 3, "expected x (N, T, features), got ", x);
  require(op.hidden > 0, "hidden must be positive");
  require(!has_lengths(in.size()) || in[1] == Shape{x[0]}, "lengths are ", in[in.size() > 1], ", expected (", x[0],
          ")");
  const Shape state = {x[0], op.hidden};
  return {{x[0], x[1], op.hidden}, state, state};
}
std::vector<ParameterSpec> parameters(const Lstm& op, const Shape& x) {
  return gate_parameters(4, op.hidden, x.back());
}
Cost forward_cost(const Lstm& op, const Operands& o) {
  const Shape& x = o.in[0];
  Cost cost = forward_steps(x[0] * x[1], op.hidden, x[2], kForward);
  cost.bytes = bytes_touched_forward(o);
  return cost;
}
// y, of which the weights' gradients read h, is read too. Per unit 23: dh 1, do 1, dc 5, the three others 3, the
// gradient of the earlier c 1, sigmoids 9 and tanh 3.
Cost backward_cost(const Lstm& op, const Operands& o) {
  if (elements_needing_gradient(o) == 0) return {};
  const Shape& x = o.in[0];
  const WantedGates wanted = wanted_of_sequence(o, has_lengths(o.in.size()) ? 2 : 1);
  Cost cost = backward_steps(x[0] * x[1], op.hidden, x[2], wanted, backward_unit(23, wanted));
  cost.bytes = gate_backward_bytes(o) + o.out_bytes(0);
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
  return gate_parameters(4, op.hidden, x.back());
}
Cost forward_cost(const LstmCell& op, const Operands& o) {
  Cost cost = forward_steps(o.in[0][0], op.hidden, o.in[0][1], kForward);
  cost.bytes = bytes_touched_forward(o);
  return cost;
}
// As a step of lstm, with one gradient of h' (its uses add up outside), and that of c only where it is wanted.
Cost backward_cost(const LstmCell& op, const Operands& o) {
  if (elements_needing_gradient(o) == 0) return {};
  const WantedGates wanted = {.x = o.needs(0),
                              .h = o.needs(1),
                              .weight_ih = o.needs(3),
                              .weight_hh = o.needs(4),
                              .bias = o.needs(5) || o.needs(6)};
  const bool gates = wanted.products(1, 1) > 0 || wanted.bias;
  const int64_t per_unit = (gates ? 21 : 5) + o.needs(2);  // dc alone takes 5
  Cost cost = backward_steps(o.in[0][0], op.hidden, o.in[0][1], wanted, backward_unit(per_unit, wanted));
  cost.bytes = gate_backward_bytes(o);
  return cost;
}
int64_t kept_bytes(const LstmCell&, const Operands& o) { return 5 * o.out_bytes(0); }
Traits traits(const LstmCell&) { return {.saves_inputs = {0, 1, 2, 3, 4}, .precision = PrecisionRule::low}; }

}  // namespace tbd
