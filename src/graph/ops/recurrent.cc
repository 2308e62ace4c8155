#include "graph/ops/recurrent.h"

#include <algorithm>

#include "base/text.h"
#include "graph/ops/gates.h"
#include "graph/ops/python.h"

namespace tbd {
namespace {

// The sum of both products 4, two biases 8, the state 4; three sigmoids and two tanh.
constexpr PerUnit kForward = {.gates = 4, .simd = 16, .trans = 5};
// The biases take 4: both have the same gradient.
PerUnit backward_unit(int64_t simd, const WantedGates& wanted) {
  return {.gates = 4, .simd = simd + (wanted.bias ? 4 : 0), .trans = 0};
}

constexpr const char* kCell = R"(

def cell(x, h, c):
    gates = (matmul(x, permute(weight_ih, (1, 0))) + reshape(bias_ih, (1, -1))
             + matmul(h, permute(weight_hh, (1, 0))) + reshape(bias_hh, (1, -1)))
    i, f, g, o = (gates[:, n * HIDDEN:(n + 1) * HIDDEN] for n in range(4))
    c = sigmoid(f) * c + sigmoid(i) * tanh(g)
    return sigmoid(o) * tanh(c), c
)";

constexpr const char* kTorchCell = R"(

def cell(x, h, c): return torch.lstm_cell(x, (h, c), weight_ih, weight_hh, bias_ih, bias_hh)
)";

constexpr const char* kLstm = R"(

def lstm(x, lengths, order):
    h = c = constant(np.zeros((x.shape[0], HIDDEN)))
    y = [None] * len(order)
    for t in order:
        valid = constant(np.reshape(lengths > t, (-1, 1)))
        new_h, new_c = cell(x[:, t], h, c)
        h, c = valid * new_h + (1 - valid) * h, valid * new_c + (1 - valid) * c
        y[t] = valid * h
    return stack(y, 1), h, c
)";

std::string cell_in_python(int64_t hidden, const PythonNode& in) {
  return cat("\nHIDDEN = ", hidden, "\n", in.pick(kTorchCell, kCell, kCell));
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
// Gates round as sigmoid and tanh do, and every step rounds the state that it hands on; the gradient of a weight adds
// up steps and samples.
Rounding rounding(const Lstm& op, Shapes in) {
  return {4, std::max({in[0][2] + op.hidden, 4 * op.hidden, in[0][0] * in[0][1]})};
}
std::optional<PythonCall> python_call(const Lstm& op, const PythonNode& in) {
  const bool lengths = has_lengths(in.shapes().size());
  const int64_t steps = in.x(0)[1];
  const std::string order = op.reverse ? cat("range(", steps - 1, ", -1, -1)") : cat("range(", steps, ")");
  const std::string until = lengths ? in.given(1) : cat("np.full(", in.x(0)[0], ", ", steps, ")");
  return in.composed(cat("lstm(x0, ", until, ", ", order, ")"), cell_in_python(op.hidden, in) + kLstm);
}
Integers allowed_integers(const Lstm&, size_t, Shapes in, const Integers&) {
  return {{1, in[0][1]}, Integers::Bound::strict};
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
Rounding rounding(const LstmCell& op, Shapes in) {
  return {4, std::max({in[0][1] + op.hidden, 4 * op.hidden, in[0][0]})};
}
std::optional<PythonCall> python_call(const LstmCell& op, const PythonNode& in) {
  return in.composed("cell(x0, x1, x2)", cell_in_python(op.hidden, in));
}

}  // namespace tbd
