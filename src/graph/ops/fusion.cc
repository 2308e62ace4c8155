#include "graph/ops/fusion.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "graph/ops/python.h"

namespace tbd {

std::vector<Shape> output_shapes(const Fusion& op, Shapes in) {
  require(in.size() >= 2, "expected two operands or more, got ", in.size());
  require(std::isfinite(op.epsilon) && op.epsilon > 0, "epsilon=", op.epsilon, " is not positive");
  const size_t count = summands(op, in.size());
  for (size_t i = 1; i < count; ++i) require(in[i] == in[0], "operand ", i, " is ", in[i], ", expected ", in[0]);
  const Shape weight = {static_cast<int64_t>(count)};
  require(op.plain || in.back() == weight, "weight is ", in.back(), ", expected ", weight);
  return {in[0]};
}
// Products and their sum; of each weight the maximum with 0, its part of the divisor and the quotient by it.
Cost forward_cost(const Fusion& op, const Operands& o) {
  const auto count = static_cast<int64_t>(summands(op, o.in.size()));
  const int64_t sums = (count - 1) * o.out[0].elements();
  if (op.plain) return {.simd = sums, .bytes = bytes_touched_forward(o)};
  return {.simd = sums + count * o.out[0].elements() + 3 * count + 1, .bytes = bytes_touched_forward(o)};
}
// Each summand's gradient is the upstream one times its share; plain, it is that itself. The weights' need a dot
// product for each summand, their mean by shares, the difference from it over the divisor, and the choice by sign.
Cost backward_cost(const Fusion& op, const Operands& o) {
  if (op.plain || elements_needing_gradient(o) == 0) return {};
  const size_t count = summands(op, o.in.size());
  Cost cost = {.bytes = o.out_bytes() + o.in_bytes(count)};
  for (size_t i = 0; i < count; ++i)
    if (o.needs(i)) cost += {.simd = o.out[0].elements(), .bytes = o.in_bytes(i)};
  if (!o.needs(count)) return cost;
  for (size_t i = 0; i < count; ++i) cost += {.simd = 2 * o.out[0].elements() + 5, .bytes = o.in_bytes(i)};
  cost.bytes += o.in_bytes(count);
  return cost;
}
Traits traits(const Fusion& op) {
  return {.saves_all_inputs = !op.plain, .passes_gradient = op.plain, .precision = PrecisionRule::match};
}
// Each product is rounded, their sum, and the shares. A weight's gradient is the difference of two sums over all
// elements, which are alike where a share is large.
Rounding rounding(const Fusion& op, Shapes in) {
  if (op.plain) return {1, static_cast<int64_t>(in.size())};
  return {8, in[0].elements()};
}
std::optional<PythonCall> python_call(const Fusion& op, const PythonNode& in) {
  const size_t count = summands(op, in.shapes().size());
  std::vector<std::string> terms;
  for (size_t i = 0; i < count; ++i)
    terms.push_back(op.plain ? cat("x", i) : cat("x", i, " * share(x", count, ", ", i, ")"));
  if (op.plain) return PythonCall{join(terms, " + ")};
  const std::string share =
      cat("\n\ndef share(w, i): return ", in.pick("F.relu(w)", "tf.nn.relu(w)", "mx.nd.relu(w)"), "[i] / (total(",
          in.pick("F.relu(w)", "tf.nn.relu(w)", "mx.nd.relu(w)"), ") + ", python_number(op.epsilon), ")\n");
  return in.composed(join(terms, " + "), share);
}

}  // namespace tbd
