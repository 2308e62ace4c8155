#pragma once
#include "graph/ops/common.h"

namespace tbd {

// Connectionist temporal classification: the sum over samples of -log p(labels), where p sums the products of
// softmax(logits) over all paths of `lengths` steps that give the labels once repeats are merged and blanks dropped.
// Graves et al. 2006, "Connectionist Temporal Classification", ICML, section 4.
// Operands: logits (N, T, classes), lengths i32 (N) in [1, T], labels i32 (N, U) in [0, classes) without `blank`,
// label lengths i32 (N) in [0, U]; labels from a sample's label length on are not read. Result: a scalar of the logits'
// type. Gradient: of the logits alone, 0 from a sample's length on. A sample whose labels fit no path (fewer steps than
// labels and repeats) counts 0 and gets no gradient.
struct CtcLoss {
  static constexpr std::string_view kKind = "ctc_loss";
  static constexpr OperandRule kOperands[] = {
      {"logits"}, {"lengths", Role::length}, {"labels", Role::integer}, {"label lengths", Role::length}};
  int64_t blank = 0;
  bool operator==(const CtcLoss&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, CtcLoss>
void fields(Op& op, Visit visit) { visit("blank", op.blank); }
std::vector<Shape> output_shapes(const CtcLoss& op, Shapes in);
// Costs are those of full length: N T (2 U + 1) states, labels between blanks.
Cost forward_cost(const CtcLoss& op, const Operands& o);
Cost backward_cost(const CtcLoss& op, const Operands& o);
int64_t kept_bytes(const CtcLoss& op, const Operands& o);  // log-probabilities, and the forward variable of each state
Traits traits(const CtcLoss& op);
Rounding rounding(const CtcLoss& op, Shapes in);
Integers allowed_integers(const CtcLoss& op, size_t operand, Shapes in, const Integers& result);

}  // namespace tbd
