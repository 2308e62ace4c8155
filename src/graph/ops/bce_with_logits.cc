#include "graph/ops/bce_with_logits.h"

#include "base/text.h"
#include "graph/ops/python.h"

namespace tbd {
namespace {

constexpr const char* kTorchBce = R"(

def bce(z, t, w): return F.binary_cross_entropy_with_logits(z, t, w, reduction='sum')
)";

constexpr const char* kTensorFlowBce = R"(

def bce(z, t, w): return total(w * tf.nn.sigmoid_cross_entropy_with_logits(labels=t, logits=z))
)";

constexpr const char* kMxnetBce = R"(

def bce(z, t, w):
    return total(w * (mx.nd.relu(z) - z * t + mx.nd.log1p(mx.nd.exp(-mx.nd.abs(z)))))
)";

}  // namespace

std::vector<Shape> output_shapes(const BceWithLogits&, Shapes in) {
  require(in.size() == 3, "expected logits, target and weights, got ", in.size(), " operands");
  require(in[1] == in[0], "target is ", in[1], ", expected ", in[0]);
  require_leading("weights", in[2], in[0]);
  return {Shape{}};
}
// max(z, 0), z t and their difference; |z|, -|z|, 1 + exp; their sum, its product with the weight, and the sum of all.
Cost forward_cost(const BceWithLogits&, const Operands& o) {
  const int64_t elements = o.in[0].elements();
  return {.simd = 9 * elements, .trans = 2 * elements, .bytes = bytes_touched_forward(o)};
}
// sigmoid(z) - t, times the weight and the upstream gradient.
Cost backward_cost(const BceWithLogits&, const Operands& o) {
  if (!o.needs(0)) return {};
  const int64_t elements = o.in[0].elements();
  return {.simd = 3 * elements, .trans = elements, .bytes = 2 * o.in_bytes(0) + o.in_bytes(1) + o.in_bytes(2)};
}
Traits traits(const BceWithLogits&) {
  return {.saves_inputs = {0, 1, 2}, .rows_from = 0, .images = false, .precision = PrecisionRule::full};
}
// The exponential and the logarithm of a vector library; sigmoid(z) - t cancels where they agree.
Rounding rounding(const BceWithLogits&, Shapes in) { return {4, in[0].elements()}; }
std::optional<PythonCall> python_call(const BceWithLogits&, const PythonNode& in) {
  const std::string weights = python_tuple(spread_weights(in.x(2), in.x(0)).extents());
  return in.composed(cat("bce(x0, x1, reshape(x2, ", weights, "))"), in.pick(kTorchBce, kTensorFlowBce, kMxnetBce));
}

}  // namespace tbd
