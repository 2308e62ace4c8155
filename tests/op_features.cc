#include "op_cases.h"

#include <algorithm>

#include "base/text.h"

namespace tbd {
namespace {

using Features = std::vector<std::string>;

void add_pads(const Pads& pads, Features& out) {
  if (!pads.symmetric())
    out.push_back("asymmetric pads");
  else if (pads != Pads{})
    out.push_back("pads");
}

Features of(const Conv2d& op, Shapes in) {
  Features out;
  add_pads(op.pads, out);
  if (op.dilation != Extent2(1)) out.push_back("dilation");
  if (op.groups > 1) out.push_back(op.groups == in[0][1] ? "depthwise" : "groups");
  return out;
}
Features of(const Linear& op, Shapes) { return op.bias ? Features{} : Features{"no bias"}; }
Features of(const Matmul&, Shapes in) { return in[0].rank() == 2 ? Features{} : Features{"batched"}; }
Features of(const BatchNorm& op, Shapes in) {
  Features out;
  if (op.stats == BatchNorm::Stats::batch) out.push_back("stats batch");
  if (op.stats == BatchNorm::Stats::frozen) out.push_back("stats frozen");
  if (!op.affine) out.push_back("not affine");
  if (in[0].rank() != 4) out.push_back(cat("rank ", in[0].rank()));
  return out;
}
Features of(const GroupNorm&, Shapes in) {
  return in[0].rank() == 4 ? Features{} : Features{cat("rank ", in[0].rank())};
}
template <class Pool>
Features of_pool(const Pool& op) {
  Features out;
  add_pads(op.pads, out);
  const Pads& pads = op.pads;
  const bool wide =
      2 * std::max(pads.top, pads.bottom) > op.kernel.h || 2 * std::max(pads.left, pads.right) > op.kernel.w;
  if (wide) out.push_back("more than half the window");
  return out;
}
Features of(const MaxPool& op, Shapes) { return of_pool(op); }
Features of(const AvgPool& op, Shapes) {
  Features out = of_pool(op);
  if (!op.include_pad) out.push_back("pads not counted");
  return out;
}
Features of(const Binary&, Shapes in) { return in[0] == in[1] ? Features{} : Features{"repeated extents"}; }
Features of(const Affine& op, Shapes) {
  if (op.factor != 1 && op.offset != 0) return {"factor and offset"};
  return {op.offset != 0 ? "offset" : "factor"};
}
Features of(const Dropout& op, Shapes in) {
  Features out;
  if (op.per_sample) out.push_back("of samples");
  if (in.size() > 1) out.push_back("mask");
  return out;
}
Features of(const Cast& op, Shapes) { return {cat("to ", op.to)}; }
Features of(const SoftmaxCrossEntropy& op, Shapes in) {
  Features out;
  if (op.smoothing != 0) out.push_back(op.spread == SoftmaxCrossEntropy::Spread::all ? "smoothing" : "spread others");
  if (op.ignore >= 0) out.push_back("ignored label");
  if (in.size() > 2) out.push_back("weights");
  if (in[0].rank() != 2) out.push_back(cat("rank ", in[0].rank()));
  return out;
}
Features of(const Embedding& op, Shapes) { return op.pad < 0 ? Features{} : Features{"padding row"}; }
Features of(const Attention& op, Shapes in) {
  const AttentionMasks masks = attention_masks(in);
  Features out;
  if (op.key_heads() != op.heads) out.push_back("grouped heads");
  if (op.causal) out.push_back("causal");
  if (masks.additive) out.push_back("mask");
  if (op.dropout > 0) out.push_back(masks.dropout ? "dropout mask" : "dropout");
  return out;
}
Features of_recurrent(bool reverse, size_t operands) {
  Features out;
  if (reverse) out.push_back("reverse");
  if (has_lengths(operands)) out.push_back("lengths");
  return out;
}
Features of(const Lstm& op, Shapes in) { return of_recurrent(op.reverse, in.size()); }
Features of(const Gru& op, Shapes in) { return of_recurrent(op.reverse, in.size()); }
Features of(const ConvTranspose2d& op, Shapes) {
  Features out;
  add_pads(op.pads, out);
  if (op.bias) out.push_back("bias");
  return out;
}
Features of(const CtcLoss& op, Shapes) { return op.blank == 0 ? Features{} : Features{"another blank"}; }
Features of(const Fusion& op, Shapes) { return op.plain ? Features{"plain"} : Features{}; }
Features of(const SoftCrossEntropy&, Shapes in) {
  return in[0].rank() == 2 ? Features{} : Features{cat("rank ", in[0].rank())};
}
Features of(const RoiAlign& op, Shapes) {
  return op.scales.size() == 1 ? Features{} : Features{cat(op.scales.size(), " maps")};
}
template <class Other>
Features of(const Other&, Shapes) {
  return {};
}

constexpr DType kIntegers[] = {DType::i32, DType::f32};

}  // namespace

std::vector<std::string> features(const OpCase& c) {
  if (!c.inner.empty()) return {"through " + kind(c.inner[0])};
  Features out = std::visit([&](const auto& op) { return of(op, c.operands); }, c.op);
  const bool moves_integers =
      !c.integers.empty() && c.integers.front() == 0 && output_dtype(c.op, 0, kIntegers) == DType::i32;
  if (moves_integers) out.push_back("integers");
  return out;
}

}  // namespace tbd
