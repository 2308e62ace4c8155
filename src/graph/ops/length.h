// Ops on the lengths of samples and what lies beyond them.
#pragma once
#include "graph/ops/common.h"

namespace tbd {

// Length of a sequence after a layer of this stride that is padded by half its window: n i32 (N), at least 1 ->
// floor((n - 1) / stride) + 1. No gradient.
struct StridedLength {
  static constexpr std::string_view kKind = "strided_length";
  static constexpr OperandRule kOperands[] = {{"", Role::integer}};
  int64_t stride = 2;
  bool operator==(const StridedLength&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, StridedLength>
void fields(Op& op, Visit visit) { visit("stride", op.stride); }
std::vector<Shape> output_shapes(const StridedLength& op, Shapes in);
Cost forward_cost(const StridedLength& op, const Operands& o);
Cost backward_cost(const StridedLength& op, const Operands& o);
Traits traits(const StridedLength& op);
Rounding rounding(const StridedLength& op, Shapes in);
Integers allowed_integers(const StridedLength& op, size_t operand, Shapes in, const Integers& result);

// x (N, ...), lengths i32 (N) -> x with 0 where the index on `axis` is the sample's length or more. Gradient: as the
// result, 0 there. The values that are masked may be anything, infinite ones too.
struct SequenceMask {
  static constexpr std::string_view kKind = "sequence_mask";
  static constexpr OperandRule kOperands[] = {{"x"}, {"lengths", Role::length}};
  int64_t axis = 1;
  bool operator==(const SequenceMask&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, SequenceMask>
void fields(Op& op, Visit visit) { visit("axis", op.axis); }
std::vector<Shape> output_shapes(const SequenceMask& op, Shapes in);
Cost forward_cost(const SequenceMask& op, const Operands& o);
Cost backward_cost(const SequenceMask& op, const Operands& o);
Traits traits(const SequenceMask& op);
Rounding rounding(const SequenceMask& op, Shapes in);
Integers allowed_integers(const SequenceMask& op, size_t operand, Shapes in, const Integers& result);

}  // namespace tbd
