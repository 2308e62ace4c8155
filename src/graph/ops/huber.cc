#include "graph/ops/huber.h"

#include <cmath>

#include "base/text.h"
#include "graph/ops/python.h"

namespace tbd {
namespace {

constexpr const char* kTorchHuber = R"(

def huber(a, b, w): return total(F.huber_loss(a, b, reduction='none', delta=DELTA) * w)
)";

constexpr const char* kHuber = R"(

def huber(a, b, w):
    e = ABS(a - b)
    q = MINIMUM(e, DELTA)
    return total(w * (0.5 * q * q + DELTA * (e - q)))
)";

}  // namespace

std::vector<Shape> output_shapes(const Huber& op, Shapes in) {
  require(in.size() == 3, "expected a, b and weights, got ", in.size(), " operands");
  require(std::isfinite(op.delta) && op.delta > 0, "delta=", op.delta, " is not positive");
  require(in[1] == in[0], "b is ", in[1], ", expected ", in[0]);
  require_leading("weights", in[2], in[0]);
  return {Shape{}};
}
// e, |e|, q; q^2 and its half; |e| - q and its multiple; their sum, its product with the weight, and the sum of all.
Cost forward_cost(const Huber&, const Operands& o) {
  return {.simd = 10 * o.in[0].elements(), .bytes = bytes_touched_forward(o)};
}
// e and its clamp to both bounds, times the weight and the upstream gradient.
Cost backward_cost(const Huber&, const Operands& o) {
  if (!o.needs(0)) return {};
  return {.simd = 5 * o.in[0].elements(), .bytes = 2 * o.in_bytes(0) + o.in_bytes(1) + o.in_bytes(2)};
}
Traits traits(const Huber&) { return {.images = false, .precision = PrecisionRule::full}; }
int64_t kept_bytes(const Huber&, const Operands& o) { return o.in_bytes(0); }
Rounding rounding(const Huber&, Shapes in) { return {1, in[0].elements()}; }
std::optional<PythonCall> python_call(const Huber& op, const PythonNode& in) {
  const std::string weights = python_tuple(spread_weights(in.x(2), in.x(0)).extents());
  const std::string words = in.pick(kTorchHuber, cat("ABS, MINIMUM = tf.abs, tf.minimum\n", kHuber),
                                    cat("ABS, MINIMUM = mx.nd.abs, mx.nd.minimum\n", kHuber));
  return in.composed(cat("huber(x0, x1, reshape(x2, ", weights, "))"),
                     cat("\nDELTA = ", python_number(op.delta), "\n", words));
}

}  // namespace tbd
