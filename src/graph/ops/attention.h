#pragma once
#include <optional>

#include "graph/ops/common.h"

namespace tbd {

// Rotates the halves of each head by its position: x (N, T, heads, D), D even, -> same. With (a, b) the halves of a
// head at position t: (a cos - b sin, b cos + a sin), angles t theta^(-2 j / D), j < D / 2, t from 0 along T. cos and
// sin are constants, computed in double and rounded to fp32 (kept double in fp64); low types compute in fp32. Su et al.
// 2021, arXiv:2104.09864, section 3.4, in the layout of LLaMA.
struct Rotary {
  static constexpr std::string_view kKind = "rotary";
  static constexpr OperandRule kOperands[] = {{"x"}};
  double theta = 10000;
  bool operator==(const Rotary&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, Rotary>
void fields(Op& op, Visit visit) { visit("theta", op.theta); }
std::vector<Shape> output_shapes(const Rotary& op, Shapes in);
Cost forward_cost(const Rotary& op, const Operands& o);
Cost backward_cost(const Rotary& op, const Operands& o);
Traits traits(const Rotary& op);
Rounding rounding(const Rotary& op, Shapes in);
std::optional<PythonCall> python_call(const Rotary& op, const PythonNode& in);

// Scaled dot-product attention. Vaswani et al. 2017, arXiv:1706.03762, section 3.2; grouped heads: Ainslie et al. 2023,
// arXiv:2305.13245. q (N, Tq, heads d), k and v (N, Ts, kv_heads d), heads side by side in the last axis ->
// (N, Tq, heads d):
//   softmax(q_h k_g^T d^-1/2 + mask) v_g, query head h reads key and value head g = floor(h kv_heads / heads).
// kv_heads 0: as many as heads. causal: position i of q sees positions j <= i of k; needs Tq = Ts. Softmax in fp32;
// operands and result share one type. dropout p: probabilities are multiplied by a mask / (1 - p), drawn by the
// framework or given.
// Optional operands after v, told apart by their rank, in this order:
//   additive mask (N, Ts), 0 or -1e4, added to the scores of every head and query of its sample; each query must have a
//   key with 0;
//   dropout mask (N, heads, Tq, Ts), 0 or 1, from the dropout pass in mode `mask` (input "mask/<node>"); only where
//   dropout > 0.
// Gradient: of q, k and v; none of the masks.
struct Attention {
  static constexpr std::string_view kKind = "attention";
  static constexpr OperandRule kOperands[] = {
      {"q"}, {"k"}, {"v"}, {"mask", Role::scores, Count::optional}, {"dropout mask", Role::mask, Count::optional}};
  int64_t heads = 1;
  int64_t kv_heads = 0;
  bool causal = false;
  double dropout = 0;
  bool operator==(const Attention&) const = default;
  int64_t key_heads() const { return kv_heads == 0 ? heads : kv_heads; }
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, Attention>
void fields(Op& op, Visit visit) {
  visit("heads", op.heads);
  visit("kv_heads", op.kv_heads);
  visit("causal", op.causal);
  visit("dropout", op.dropout);
}
std::vector<Shape> output_shapes(const Attention& op, Shapes in);
Cost forward_cost(const Attention& op, const Operands& o);
Cost backward_cost(const Attention& op, const Operands& o);
// Without dropout a fused kernel keeps one number per head and query (fp32); with dropout the probabilities before and
// after it, and the mask where it was drawn.
int64_t kept_bytes(const Attention& op, const Operands& o);
Traits traits(const Attention& op);
Rounding rounding(const Attention& op, Shapes in);
std::optional<PythonCall> python_call(const Attention& op, const PythonNode& in);
std::optional<double> dropout_rate(const Attention& op);
Role role(const Attention& op, size_t operand, Shapes in);

// Which of the optional operands are given, by their index.
struct AttentionMasks {
  std::optional<size_t> additive, dropout;
};
AttentionMasks attention_masks(Shapes in);
// (N, heads, Tq, Ts): of the scores, and of the dropout mask. `in` holds q, k and v at least.
Shape score_shape(const Attention& op, Shapes in);

}  // namespace tbd
