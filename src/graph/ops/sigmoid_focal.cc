#include "graph/ops/sigmoid_focal.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "graph/ops/python.h"

namespace tbd {
namespace {

constexpr const char* kFocal = R"(

label = LABEL
at_class = (label[..., None] == np.arange(CLASSES)).astype(np.float64)
side = constant(1 - 2 * at_class)
share = constant(np.where(at_class > 0, ALPHA, 1 - ALPHA) * (label[..., None] != -2))

def focal(z):
    u = z * side
    return total(share * sigmoid(u) ** GAMMA * softplus(u))
)";

}  // namespace

std::vector<Shape> output_shapes(const SigmoidFocal& op, Shapes in) {
  require(in.size() == 2, "expected logits and class, got ", in.size(), " operands");
  require(in[0].rank() >= 2, "expected logits (..., classes), got ", in[0]);
  const auto extents = in[0].extents();
  const Shape rows(std::vector<int64_t>(extents.begin(), extents.end() - 1));
  require(in[1] == rows, "class is ", in[1], ", expected ", rows);
  require(op.alpha >= 0 && op.alpha <= 1, "alpha=", op.alpha, " is outside [0, 1]");
  require(std::isfinite(op.gamma) && op.gamma >= 0, "gamma=", op.gamma, " is negative");
  return {Shape{}};
}
// The sides by sign and share; u = -s z; 1 - q = sigmoid(u) and its power; -log q = max(u, 0) + log(1 + exp(-|u|));
// both products and the sum of all. Of each row: whether it counts.
Cost forward_cost(const SigmoidFocal&, const Operands& o) {
  const int64_t elements = o.in[0].elements();
  return {.simd = 11 * elements + o.in[1].elements(), .trans = 4 * elements, .bytes = bytes_touched_forward(o)};
}
// The same functions of u again, q from 1 - q, then gamma q log q - (1 - q) times power, share, sign and the upstream
// gradient.
Cost backward_cost(const SigmoidFocal&, const Operands& o) {
  if (!o.needs(0)) return {};
  const int64_t elements = o.in[0].elements();
  return {
      .simd = 16 * elements + o.in[1].elements(), .trans = 4 * elements, .bytes = 2 * o.in_bytes(0) + o.in_bytes(1)};
}
Traits traits(const SigmoidFocal&) {
  return {.saves_inputs = {0, 1}, .images = false, .precision = PrecisionRule::full};
}
// Powers magnify the rounding of their base by gamma.
Rounding rounding(const SigmoidFocal&, Shapes in) { return {8, in[0].elements()}; }
std::optional<PythonCall> python_call(const SigmoidFocal& op, const PythonNode& in) {
  const std::string softplus =
      in.pick("-F.logsigmoid(-u)", "tf.nn.softplus(u)", "mx.nd.relu(u) + mx.nd.log1p(mx.nd.exp(-mx.nd.abs(u)))");
  const std::string before =
      cat("\nCLASSES, LABEL = ", in.x(0).back(), ", ", in.given(1), "\nALPHA, GAMMA = ", python_number(op.alpha), ", ",
          python_number(op.gamma), "\n\ndef softplus(u): return ", softplus, "\n", kFocal);
  return in.composed("focal(x0)", before);
}
Integers allowed_integers(const SigmoidFocal&, size_t, Shapes in, const Integers&) {
  return {{SigmoidFocal::kLeftOut, in[0].back() - 1}, Integers::Bound::strict};
}

}  // namespace tbd
