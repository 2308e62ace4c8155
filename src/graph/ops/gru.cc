#include "graph/ops/gru.h"

#include <algorithm>

#include "graph/ops/gates.h"
#include "graph/ops/recurrent.h"

namespace tbd {

std::vector<Shape> output_shapes(const Gru& op, Shapes in) {
  const std::vector<Shape> lstm = output_shapes(Lstm{.hidden = op.hidden}, in);
  return {lstm[0], lstm[1]};
}
std::vector<ParameterSpec> parameters(const Gru& op, const Shape& x) { return gate_parameters(3, op.hidden, x.back()); }
// Per unit and step: r and z 3 each, n 4 (2 biases, r, the sum), h' 3; two sigmoids and a tanh.
Cost forward_cost(const Gru& op, const Operands& o) {
  const Shape& x = o.in[0];
  Cost cost = forward_steps(x[0] * x[1], op.hidden, x[2], {.gates = 3, .simd = 13, .trans = 3});
  cost.bytes = bytes_touched_forward(o);
  return cost;
}
// y, of which the weights' gradients read h, is read too. Per unit 16: dh 1, dz 1, the gradient of the earlier h 1 and
// its sum with that of the products 1, dn 1, tanh 3, dr 1, the part of n that r scales 1, sigmoids 6. Biases 4: of r
// and z both have one gradient, of n each its own.
Cost backward_cost(const Gru& op, const Operands& o) {
  if (elements_needing_gradient(o) == 0) return {};
  const Shape& x = o.in[0];
  const WantedGates wanted = wanted_of_sequence(o, has_lengths(o.in.size()) ? 2 : 1);
  const int64_t simd = 16 + (wanted.bias ? 4 : 0);
  Cost cost = backward_steps(x[0] * x[1], op.hidden, x[2], wanted, {.gates = 3, .simd = simd, .trans = 0});
  cost.bytes = gate_backward_bytes(o) + o.out_bytes(0);
  return cost;
}
int64_t kept_bytes(const Gru&, const Operands& o) { return 9 * o.out_bytes(0); }
Traits traits(const Gru&) {
  return {.saves_inputs = {0, 1, 2, 3}, .saves_output = true, .precision = PrecisionRule::low};
}
Rounding rounding(const Gru& op, Shapes in) {
  return {4, std::max({in[0][2] + op.hidden, 3 * op.hidden, in[0][0] * in[0][1]})};
}
Integers allowed_integers(const Gru&, size_t, Shapes in, const Integers&) {
  return {{1, in[0][1]}, Integers::Bound::strict};
}

}  // namespace tbd
