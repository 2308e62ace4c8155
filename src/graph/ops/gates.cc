#include "graph/ops/gates.h"

#include <cmath>

namespace tbd {

std::vector<ParameterSpec> gate_parameters(int64_t gates, int64_t hidden, int64_t in) {
  const Init init = Init::uniform(1 / std::sqrt(static_cast<double>(hidden)));
  return {{.suffix = "weight_ih", .shape = {gates * hidden, in}, .init = init},
          {.suffix = "weight_hh", .shape = {gates * hidden, hidden}, .init = init},
          {.suffix = "bias_ih", .shape = {gates * hidden}, .init = init},
          {.suffix = "bias_hh", .shape = {gates * hidden}, .init = init}};
}

WantedGates wanted_of_sequence(const Operands& o, size_t first) {
  return {.x = o.needs(0),
          .h = true,
          .weight_ih = o.needs(first),
          .weight_hh = o.needs(first + 1),
          .bias = o.needs(first + 2) || o.needs(first + 3)};
}

Cost forward_steps(int64_t steps, int64_t hidden, int64_t in, const PerUnit& unit) {
  const int64_t flops = 2 * unit.gates * steps * hidden * (in + hidden);
  return {.model = flops, .valid = flops, .simd = unit.simd * steps * hidden, .trans = unit.trans * steps * hidden};
}

Cost backward_steps(int64_t steps, int64_t hidden, int64_t in, const WantedGates& wanted, const PerUnit& unit) {
  const int64_t flops = 2 * unit.gates * steps * hidden * wanted.products(in, hidden);
  return {.model = flops, .valid = flops, .simd = unit.simd * steps * hidden, .trans = unit.trans * steps * hidden};
}

int64_t gate_backward_bytes(const Operands& o) {
  int64_t bytes = 0;
  for (size_t i = 0; i < o.out.size(); ++i) bytes += o.out_bytes(i);
  for (size_t i = 0; i < o.in.size(); ++i) bytes += o.in_bytes(i) * (1 + o.needs(i));
  return bytes;
}

}  // namespace tbd
