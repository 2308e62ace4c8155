#include "graph/ops/ctc.h"

namespace tbd {
namespace {

int64_t states(const Operands& o) { return o.in[0][0] * o.in[0][1] * (2 * o.in[2][1] + 1); }

int64_t integer_bytes(const Operands& o) { return o.in_bytes(1) + o.in_bytes(2) + o.in_bytes(3); }

}  // namespace

std::vector<Shape> output_shapes(const CtcLoss& op, Shapes in) {
  require(in.size() == 4, "expected logits, lengths, labels and label lengths, got ", in.size(), " operands");
  require(in[0].rank() == 3, "expected logits (N, T, classes), got ", in[0]);
  const Shape each = {in[0][0]};
  require(in[1] == each, "lengths are ", in[1], ", expected ", each);
  require(in[2].rank() == 2 && in[2][0] == in[0][0], "labels are ", in[2], ", expected (", in[0][0], ", U)");
  require(in[3] == each, "label lengths are ", in[3], ", expected ", each);
  require(op.blank >= 0 && op.blank < in[0].back(), "blank=", op.blank, " is none of ", in[0].back(), " classes");
  return {Shape{}};
}

// Log-softmax as softmax_cross_entropy has it. A state's forward variable is the logarithm of the sum of three
// exponentials, less their greatest and with it again, plus the log-probability: 2 + 3 + 2 + 1 + 1 and 3 + 1. The
// last two states of each sample: 1 + 2 + 1 + 1 and 2 + 1.
Cost forward_cost(const CtcLoss&, const Operands& o) {
  const int64_t elements = o.in[0].elements(), rows = elements / o.in[0].back(), samples = o.in[0][0];
  return {.simd = 4 * elements + 9 * states(o) + 5 * samples + samples,
          .trans = elements + rows + 4 * states(o) + 3 * samples,
          .bytes = bytes_touched_forward(o)};
}
// The backward variable costs what the forward one does; a state's posterior, exp(a + b - log p + loss), is added to
// its class: 4 and 1; each logit gets (exp(log p) - posterior) times the upstream gradient: 2 and 1.
Cost backward_cost(const CtcLoss&, const Operands& o) {
  if (!o.needs(0)) return {};
  const int64_t elements = o.in[0].elements();
  return {.simd = 2 * elements + 13 * states(o),
          .trans = elements + 5 * states(o),
          .bytes = 2 * o.in_bytes(0) + integer_bytes(o)};
}
int64_t kept_bytes(const CtcLoss&, const Operands& o) { return o.in_bytes(0) + states(o) * size_of(o.in_dtypes[0]); }
Traits traits(const CtcLoss&) { return {.saves_inputs = {1, 2, 3}, .precision = PrecisionRule::full}; }
// Each step rounds the logarithm that it hands on, whose exponential magnifies that; a class gathers the states of its
// labels.
Rounding rounding(const CtcLoss&, Shapes in) { return {8, in[0].elements() * (2 * in[2][1] + 1)}; }
// Labels are what the blank is not: those after it, or where it is the last, those before it. A file may have others
// from a sample's length on, and a sample without a label.
Integers allowed_integers(const CtcLoss& op, size_t operand, Shapes in, const Integers&) {
  const int64_t classes = in[0].back();
  if (operand != 2) return {{1, operand == 1 ? in[0][1] : in[2][1]}, Integers::Bound::drawn};
  const bool follow = op.blank + 1 < classes;
  return {follow ? IntegerRange{op.blank + 1, classes - 1} : IntegerRange{0, op.blank - 1}, Integers::Bound::drawn};
}

}  // namespace tbd
