#include <cmath>

#include "backends/cntk/lowering.h"

namespace tbd::cntk {
namespace {

constexpr double kNever = -1e30;
// Head `head` of (N, T, heads d): {d, T}.
CNTK::Variable head_of(const Tensor& x, int64_t head, int64_t width) {
  return CNTK::Slice(*x, {CNTK::Axis(0)}, {place(head * width)}, {place((head + 1) * width)}, L"");
}

// What is added to the scores {keys, queries} of every head.
std::optional<CNTK::Variable> added(const Attention& op, const Args& in, int64_t queries, int64_t keys) {
  std::optional<CNTK::Variable> sum;
  if (const auto mask = attention_masks(in.shapes()).additive)
    sum = *reshaped(in.batched(*mask), {in.shape(0)[0], 1, keys});
  if (sum) sum = CNTK::StopGradient(*sum, L"");
  if (!op.causal) return sum;
  std::vector<double> behind(static_cast<size_t>(queries * keys));
  for (int64_t i = 0; i < queries; ++i)
    for (int64_t j = i + 1; j < keys; ++j) behind[static_cast<size_t>(i * keys + j)] = kNever;
  const CNTK::Variable causal = in.constant({queries, keys}, behind);
  return sum ? plus(*sum, causal) : causal;
}

CNTK::Variable kept(const Attention& op, const Args& in, int64_t head, const CNTK::Variable& shares) {
  if (op.dropout == 0) return shares;
  const auto mask = attention_masks(in.shapes()).dropout;
  if (!mask) return CNTK::Dropout(shares, op.dropout, static_cast<unsigned long>(-2), L"");
  const CNTK::Variable one = CNTK::Slice(*in.batched(*mask), {CNTK::Axis(2)}, {place(head)}, {place(head + 1)}, L"");
  const CNTK::Variable drop =
      CNTK::Reshape(CNTK::StopGradient(one, L""), shares.Shape(), CNTK::Axis(0), CNTK::Axis(3), L"");
  return times(times(shares, drop), in.scalar(1 / (1 - op.dropout)));
}

}  // namespace

Tensor lower(const Rotary& op, const Args& in) {
  const Shape& x = in.shape(0);
  const int64_t width = x[3], half = width / 2;
  std::vector<double> along, across;
  for (int64_t t = 0; t < x[1]; ++t)
    for (int64_t i = 0; i < width; ++i) {
      const double j = static_cast<double>(i % half);
      const double angle = static_cast<double>(t) * std::pow(op.theta, -2 * j / static_cast<double>(width));
      along.push_back(std::cos(angle));
      across.push_back(i < half ? -std::sin(angle) : std::sin(angle));
    }
  const auto part = [&](int64_t begin) {
    return CNTK::Variable(CNTK::Slice(*in[0], {CNTK::Axis(0)}, {place(begin)}, {place(begin + half)}, L""));
  };
  const CNTK::Variable swapped = CNTK::Splice({part(half), part(0)}, CNTK::Axis(0), L"");
  const Shape table = {x[1], 1, width};
  return in.like(in[0], plus(times(*in[0], in.constant(table, along)), times(swapped, in.constant(table, across))));
}
LoweredAs lowered_as(const Rotary&, size_t) { return composed("Slice, Splice, ElementTimes, Plus"); }

// Head by head: CNTK multiplies one matrix a sample.
Tensor lower(const Attention& op, const Args& in) {
  const Tensor q = in.batched(0), k = in.batched(1), v = in.batched(2);
  const int64_t queries = in.shape(0)[1], keys = in.shape(1)[1], width = in.shape(0)[2] / op.heads;
  const std::optional<CNTK::Variable> mask = added(op, in, queries, keys);
  std::vector<CNTK::Variable> heads;
  for (int64_t head = 0; head < op.heads; ++head) {
    const int64_t group = head * op.key_heads() / op.heads;
    const CNTK::Variable scaled = times(head_of(q, head, width), in.scalar(1 / std::sqrt(static_cast<double>(width))));
    CNTK::Variable scores = CNTK::TransposeTimes(head_of(k, group, width), scaled, 1, L"");
    if (mask) scores = plus(scores, *mask);
    const CNTK::Variable shares = kept(op, in, head, CNTK::Softmax(scores, CNTK::Axis(0), L""));
    heads.push_back(CNTK::Times(head_of(v, group, width), shares, 1, -1, L""));
  }
  return in.result(heads.size() == 1 ? heads[0] : CNTK::Variable(CNTK::Splice(heads, CNTK::Axis(0), in.name())), true);
}
LoweredAs lowered_as(const Attention&, size_t) {
  return composed("Slice, TransposeTimes, Plus, Softmax, Times, Splice");
}

}  // namespace tbd::cntk
