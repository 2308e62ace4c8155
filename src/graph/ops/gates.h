// What the cost rules of recurrent ops share.
#pragma once
#include "graph/ops/common.h"

namespace tbd {

// weight_ih (gates H, in), weight_hh (gates H, H), bias_ih and bias_hh (gates H), all U(+-1 / sqrt(H)), H = hidden.
std::vector<ParameterSpec> gate_parameters(int64_t gates, int64_t hidden, int64_t in);

// Which gradients of a step are wanted.
struct WantedGates {
  bool x = false, h = false, weight_ih = false, weight_hh = false, bias = false;
  int64_t products(int64_t in, int64_t hidden) const { return (x + weight_ih) * in + (h + weight_hh) * hidden; }
};
// Of a sequence, whose weights begin at operand `first`: each step's h carries the gradient of all earlier ones.
WantedGates wanted_of_sequence(const Operands& o, size_t first);

// Products of all gates in `steps` steps, and `simd` and `trans` a unit and step.
struct PerUnit {
  int64_t gates, simd, trans;
};
Cost forward_steps(int64_t steps, int64_t hidden, int64_t in, const PerUnit& unit);
Cost backward_steps(int64_t steps, int64_t hidden, int64_t in, const WantedGates& wanted, const PerUnit& unit);

// The results' gradients and all operands are read, the wanted gradients written.
int64_t gate_backward_bytes(const Operands& o);

}  // namespace tbd
