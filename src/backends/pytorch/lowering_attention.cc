#include <ATen/ops/addcmul.h>
#include <ATen/ops/baddbmm.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/stack.h>

#include <cmath>
#include <limits>

#include "backends/pytorch/lowering.h"
#include "backends/pytorch/onednn.h"
#include "backends/pytorch/tensors.h"

namespace tbd::pytorch {
namespace {

// cos (T, 1, 1, D / 2) and (-sin, sin) (T, 1, 2, D / 2), in double.
std::pair<at::Tensor, at::Tensor> rotations(double theta, int64_t steps, int64_t width) {
  at::Tensor cosines = at::empty({steps, width / 2}, at::TensorOptions(at::kDouble)), sines = at::empty_like(cosines);
  auto cosine = cosines.accessor<double, 2>(), sine = sines.accessor<double, 2>();
  for (int64_t t = 0; t < steps; ++t)
    for (int64_t j = 0; j < width / 2; ++j) {
      const double exponent = 2 * static_cast<double>(j) / static_cast<double>(width);
      const double angle = static_cast<double>(t) * std::pow(theta, -exponent);
      cosine[t][j] = std::cos(angle);
      sine[t][j] = std::sin(angle);
    }
  return {cosines.unsqueeze(1).unsqueeze(1), at::stack({sines.neg(), sines}, 1).unsqueeze(1)};
}

}  // namespace

// With (a, b) the halves of a head: (a, b) cos + (b, a) (-sin, sin). The tables of fp32 lift low types to fp32.
at::Tensor lower(const Rotary& op, const Args& in) {
  const at::Tensor& x = in[0];
  const auto& tables = in.constants([&]() -> std::vector<at::Tensor> {
    const auto [cosines, sines] = rotations(op.theta, x.size(1), x.size(3));
    return {rounded_table(cosines, x), rounded_table(sines, x)};
  });
  const at::Tensor halves = x.unflatten(-1, {2, x.size(3) / 2});
  return at::addcmul(halves.mul(tables[0]), halves.flip(-2), tables[1]).to(x.scalar_type()).reshape(x.sizes());
}
LoweredAs lowered_as(const Rotary&, size_t) { return composed("mul, flip, addcmul of constant tables"); }

namespace {

struct Masks {
  at::Tensor additive, causal, dropout;  // (N, 1, Ts), (Tq, Ts), (N, heads, Tq, Ts); undefined where there is none
};

// -inf where the key comes after the query.
at::Tensor causal_table(const at::Tensor& q, int64_t steps) {
  return at::full({steps, steps}, -std::numeric_limits<double>::infinity(), q.options()).triu(1);
}

// On a GPU torch's kernel draws the dropout as well; on the CPU it falls back to more passes than our own parts take.
bool takes_fused(const Attention& op, const Args& in, const Masks& masks) {
  return op.dropout == 0 || (in[0].is_cuda() && !masks.dropout.defined());
}

Masks masks_of(const Attention& op, const Args& in) {
  Masks masks;
  if (in.size() > 3 && in[3].dim() == 2) masks.additive = in[3].detach().to(in[0].scalar_type()).unsqueeze(1);
  if (in.size() > 3 && in[in.size() - 1].dim() == 4) masks.dropout = in[in.size() - 1].detach();
  // Else the kernel knows the rule.
  const bool table = op.causal && (masks.additive.defined() || !takes_fused(op, in, masks));
  if (table)
    masks.causal =
        in.constants([&]() -> std::vector<at::Tensor> { return {causal_table(in[0], in[0].size(1))}; }).front();
  return masks;
}

// (N, T, heads d) -> (N, heads, T, d), a view.
at::Tensor split_heads(const at::Tensor& x, int64_t heads) { return x.unflatten(-1, {heads, -1}).transpose(1, 2); }

// torch's flash kernel, which takes one mask or its own causal rule.
at::Tensor fused(const Attention& op, const Args& in, const Masks& masks) {
  std::optional<at::Tensor> mask;
  if (masks.additive.defined()) mask = masks.additive.unsqueeze(1);
  if (masks.causal.defined()) mask = mask->add(masks.causal);
  const int64_t keys = op.key_heads();
  return at::scaled_dot_product_attention(split_heads(in[0], op.heads), split_heads(in[1], keys),
                                          split_heads(in[2], keys), mask, op.dropout, op.causal && !mask,
                                          /*scale=*/std::nullopt, /*enable_gqa=*/keys != op.heads)
      .transpose(1, 2);
}

// (N heads, T, d), contiguous; each key and value head once for every query head that reads it.
at::Tensor stacked_heads(const at::Tensor& x, int64_t own, int64_t heads) {
  at::Tensor split = split_heads(x, own);
  if (own != heads) split = split.repeat_interleave(heads / own, 1);
  return split.reshape({-1, split.size(2), split.size(3)});
}

// Scores by one product that scales and adds a mask. torch's own attention with dropout takes more passes over them.
// oneDNN's product is given a scaled q.
at::Tensor scores(const Attention& op, const at::Tensor& q, const at::Tensor& k, const Masks& masks) {
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(2)));
  if (by_onednn(q)) {
    at::Tensor sum = onednn_bmm(q.mul(scale), k.mT());
    if (masks.additive.defined()) sum = sum.add_(masks.additive.repeat_interleave(op.heads, 0));
    return masks.causal.defined() ? sum.add_(masks.causal) : sum;
  }
  if (masks.additive.defined()) {
    const at::Tensor per_head = masks.additive.repeat_interleave(op.heads, 0);
    const at::Tensor sum = at::baddbmm(per_head, q, k.mT(), /*beta=*/1, scale);
    return masks.causal.defined() ? sum.add_(masks.causal) : sum;
  }
  if (masks.causal.defined()) return at::baddbmm(masks.causal, q, k.mT(), /*beta=*/1, scale);
  return at::bmm(q, k.mT()).mul_(scale);
}

// Softmax takes low types, and computes them, in fp32.
at::Tensor in_parts(const Attention& op, const Args& in, const Masks& masks) {
  const at::Tensor q = stacked_heads(in[0], op.heads, op.heads);
  const at::Tensor k = stacked_heads(in[1], op.key_heads(), op.heads);
  const at::Tensor v = stacked_heads(in[2], op.key_heads(), op.heads);
  at::Tensor weights = at::softmax(scores(op, q, k, masks), -1);
  const bool drawn = !masks.dropout.defined();
  weights =
      drawn ? at::dropout(weights, op.dropout, /*train=*/true) : weights.mul(masks.dropout.reshape(weights.sizes()));
  const at::Tensor y = by_onednn(weights) ? onednn_bmm(weights, v) : at::bmm(weights, v);
  return (drawn ? y : y.mul_(1 / (1 - op.dropout))).view({-1, op.heads, q.size(1), q.size(2)}).transpose(1, 2);
}

}  // namespace

at::Tensor lower(const Attention& op, const Args& in) {
  const Masks masks = masks_of(op, in);
  return (takes_fused(op, in, masks) ? fused(op, in, masks) : in_parts(op, in, masks)).reshape(in[0].sizes());
}
LoweredAs lowered_as(const Attention& op, size_t) {
  if (op.dropout > 0)
    return composed(
        "baddbmm, softmax, dropout, bmm; with a mask mul for dropout; on a GPU without a mask "
        "scaled_dot_product_attention");
  return native("scaled_dot_product_attention");
}

}  // namespace tbd::pytorch
