#include <mlx/fast.h>

#include <cmath>
#include <limits>

#include "backends/mlx/double_math.h"
#include "backends/mlx/lowering.h"

namespace tbd::mlx {
namespace {

enum class Wave { cosine, sine };

// (T, 1, D): the cosines twice; the sines, those of the first half negative, so that y = x cos + (halves swapped) sin.
HostTensor rotations(const Rotary& op, const Shape& x, Wave wave) {
  const int64_t length = x[1], width = x[3], half = width / 2;
  HostTensor table(DType::f64, {length, 1, width});
  for (int64_t t = 0; t < length; ++t)
    for (int64_t j = 0; j < half; ++j) {
      const double exponent = -2 * static_cast<double>(j) / static_cast<double>(width);
      const double angle = static_cast<double>(t) * std::pow(op.theta, exponent);
      const auto a = static_cast<size_t>(t * width + j), b = a + static_cast<size_t>(half);
      table.as<double>()[b] = wave == Wave::cosine ? std::cos(angle) : std::sin(angle);
      table.as<double>()[a] = wave == Wave::cosine ? std::cos(angle) : -std::sin(angle);
    }
  return table;
}

// (T, T): -infinity where the key comes after the query.
HostTensor causal_table(int64_t steps) {
  HostTensor table(DType::f64, {steps, steps});
  for (int64_t i = 0; i < steps; ++i)
    for (int64_t j = i + 1; j < steps; ++j)
      table.as<double>()[static_cast<size_t>(i * steps + j)] = -std::numeric_limits<double>::infinity();
  return table;
}

class Heads {
 public:
  Heads(const Attention& op, const Args& in) : op_(op), in_(in), width_(in.shape(0)[2] / op.heads) {
    for (size_t i = 0; i < in.size(); ++i) shapes_.push_back(in.shape(i));
  }

  // By the op for it, which knows grouped heads and the causal rule.
  array fused() const;
  // With dropout, and in double.
  array in_parts() const;

 private:
  double scale() const { return 1 / std::sqrt(static_cast<double>(width_)); }
  // (N, T, heads d) -> (N, heads, T, d).
  array apart(size_t operand, int64_t heads) const {
    const Shape& x = shapes_[operand];
    return mx::swapaxes(reshaped(in_.row(operand), {x[0], x[1], heads, width_}), 1, 2);
  }
  array together(const array& y) const { return reshaped(mx::swapaxes(y, 1, 2), shapes_[0]); }
  // Both masks as one, added to scores of that type.
  std::optional<array> mask(DType dtype) const;
  array probabilities(const array& scores) const;

  const Attention& op_;
  const Args& in_;
  int64_t width_;
  std::vector<Shape> shapes_;
};

std::optional<array> Heads::mask(DType dtype) const {
  std::optional<array> out;
  if (const std::optional<size_t> at = attention_masks(shapes_).additive)
    out = cast_to(reshaped(in_.fixed(*at), {shapes_[0][0], 1, 1, shapes_[1][1]}), dtype);
  if (!op_.causal) return out;
  const array causal = in_.constant(
      0, [&] { return causal_table(shapes_[0][1]); }, dtype);
  return out ? mx::add(*out, causal) : causal;
}

array Heads::fused() const {
  const bool rule = op_.causal && !attention_masks(shapes_).additive;
  const std::optional<array> given = rule ? std::nullopt : mask(in_.dtype());
  const array q = apart(0, op_.heads), k = apart(1, op_.key_heads()), v = apart(2, op_.key_heads());
  return together(
      mx::fast::scaled_dot_product_attention(q, k, v, static_cast<float>(scale()), rule ? "causal" : "", given));
}

array Heads::probabilities(const array& scores) const {
  const array p = exact_softmax(scores);
  if (op_.dropout == 0) return p;
  const std::optional<size_t> given = attention_masks(shapes_).dropout;
  if (!given) return dropped(in_, p, op_.dropout, nullptr);
  const array mask = reshaped(in_.fixed(*given), score_shape(op_, shapes_));
  return dropped(in_, p, op_.dropout, &mask);
}

// The query heads of a key head lie side by side: (N, key heads, group, T, d).
array Heads::in_parts() const {
  const DType inner = inner_type(in_.dtype());
  const int64_t n = shapes_[0][0], keys = op_.key_heads(), group = op_.heads / keys, steps = shapes_[0][1];
  const array q = reshaped(scaled(apart(0, op_.heads), scale()), {n, keys, group, steps, width_});
  const array k = mx::expand_dims(apart(1, keys), 2), v = mx::expand_dims(apart(2, keys), 2);
  const array products = mx::matmul(q, mx::swapaxes(k, -1, -2));
  array scores = reshaped(cast_to(products, inner), score_shape(op_, shapes_));
  if (const std::optional<array> given = mask(inner)) scores = mx::add(scores, *given);
  const array p = reshaped(cast_to(probabilities(scores), in_.dtype()), {n, keys, group, steps, shapes_[1][1]});
  return together(reshaped(mx::matmul(p, v), {n, op_.heads, steps, width_}));
}

}  // namespace

// x (N, T, heads, D).
Operand lower(const Rotary& op, const Args& in) {
  const DType inner = inner_type(in.dtype());
  const auto table = [&](size_t number, Wave wave) {
    return in.constant(
        number, [&] { return rotations(op, in.shape(0), wave); }, inner);
  };
  const array x = cast_to(in.row(0), inner);
  const std::vector<array> halves = mx::split(x, 2, -1);
  const array swapped = mx::concatenate({halves[1], halves[0]}, -1);
  const array y = mx::add(mx::multiply(x, table(0, Wave::cosine)), mx::multiply(swapped, table(1, Wave::sine)));
  return {cast_to(y, in.dtype())};
}
LoweredAs lowered_as(const Rotary&, size_t) { return composed("split, concatenate, multiply by constant tables, add"); }

Operand lower(const Attention& op, const Args& in) {
  const Heads heads(op, in);
  return {op.dropout > 0 || in.dtype() == DType::f64 ? heads.in_parts() : heads.fused()};
}
LoweredAs lowered_as(const Attention& op, size_t) {
  constexpr const char* kParts = "matmul, add of masks, softmax, matmul";
  if (op.dropout > 0) return composed(cat(kParts, ", dropout as there"));
  return native(cat("fast::scaled_dot_product_attention; in fp64 ", kParts));
}

}  // namespace tbd::mlx
