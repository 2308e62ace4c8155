#include <cmath>

#include "backends/mxnet/lowering.h"

namespace tbd::mxnet {
namespace {

// (1, T, 1, D) of rotary: cos of the angle, or -sin for the first half of a head and sin for the second.
std::vector<double> turns(const Rotary& op, int64_t steps, int64_t width, bool sine) {
  std::vector<double> out;
  for (int64_t t = 0; t < steps; ++t)
    for (int64_t i = 0; i < width; ++i) {
      const int64_t j = i % (width / 2);
      const double angle =
          static_cast<double>(t) * std::pow(op.theta, -2 * static_cast<double>(j) / static_cast<double>(width));
      const double sign = i < width / 2 ? -1 : 1;
      out.push_back(sine ? sign * std::sin(angle) : std::cos(angle));
    }
  return out;
}

// The extents of one attention, and how its heads are put together: the query heads that read the same key head stand
// one below the other, so that each key head is one matrix of one batched product.
struct Layout {
  Layout(const Attention& op, const Args& in)
      : samples(in.shape(0)[0]),
        queries(in.shape(0)[1]),
        keys(in.shape(1)[1]),
        heads(op.heads),
        key_heads(op.key_heads()),
        width(in.shape(0)[2] / op.heads) {}
  Shape scores() const { return {samples, heads, queries, keys}; }
  // Of q, of k and v, and of the scores as operands of batch_dot.
  Shape query_matrices() const { return {samples * key_heads, heads / key_heads * queries, width}; }
  Shape key_matrices() const { return {samples * key_heads, keys, width}; }
  Shape score_matrices() const { return {samples * key_heads, heads / key_heads * queries, keys}; }

  int64_t samples, queries, keys, heads, key_heads, width;
};

// (N, T, heads d) -> heads before steps, in the shape of matrices. One head or one step is in order already.
Symbol by_heads(const Args& in, const std::string& name, const Symbol& x, const Shape& split, const Shape& matrices) {
  Symbol ordered = x;
  if (split[1] > 1 && split[2] > 1) {
    const Symbol heads = in.part(name + "/split", "Reshape", {x}, to_shape(split));
    ordered = in.part(name + "/ordered", "transpose", {heads}, {{"axes", "(0,2,1,3)"}});
  }
  return in.part(name, "Reshape", {ordered}, to_shape(matrices));
}

// And back: matrices of queries -> (N, Tq, heads d), as the node.
Symbol by_steps(const Args& in, const Layout& l, const Symbol& matrices) {
  if (l.heads == 1 || l.queries == 1) return in.op("Reshape", {matrices}, to_shape(in.out()));
  const Symbol heads = in.part("y/heads", "Reshape", {matrices}, to_shape({l.samples, l.heads, l.queries, l.width}));
  const Symbol ordered = in.part("y/ordered", "transpose", {heads}, {{"axes", "(0,2,1,3)"}});
  return in.op("Reshape", {ordered}, to_shape(in.out()));
}

// (1, 1, T, T): what is added to the score of a key behind the query takes all of its probability.
Symbol behind(const Args& in, int64_t steps) {
  constexpr double kNever = -1e30;
  std::vector<double> values(static_cast<size_t>(steps * steps));
  for (int64_t i = 0; i < steps; ++i)
    for (int64_t j = i + 1; j < steps; ++j) values[static_cast<size_t>(i * steps + j)] = kNever;
  return in.constant("causal", {1, 1, steps, steps}, values);
}

// What is added to the scores, in their shape: all layers with the same masks share it, and no gradient is made.
std::optional<Symbol> added(const Attention& op, const Args& in, const Layout& l) {
  const std::optional<size_t> mask = attention_masks(in.shapes()).additive;
  if (!mask && !op.causal) return std::nullopt;
  const std::string key = cat("mask/", mask ? in.name(*mask) : "", op.causal ? "/causal/" : "/", l.scores());
  return in.shared(cat(key, "/", tbd::name(in.dtype(0))), [&] {
    Symbol sum;
    if (mask) {
      const Symbol fixed = in.part("mask/fixed", "BlockGrad", {in[*mask]});
      sum = in.part("mask/keys", "Reshape", {fixed}, to_shape({l.samples, 1, 1, l.keys}));
    }
    if (op.causal) {
      const Symbol causal = behind(in, l.queries);
      sum = mask ? in.part("mask/both", "broadcast_add", {sum, causal}) : causal;
    }
    return in.part("mask", "broadcast_to", {sum}, to_shape(l.scores()));
  });
}

// Probabilities after dropout, without the factor 1 / (1 - p) where the mask is an operand; shape of the scores.
Symbol kept(const Attention& op, const Args& in, const Symbol& probabilities) {
  if (op.dropout == 0) return probabilities;
  if (const auto mask = attention_masks(in.shapes()).dropout)
    return in.part("kept", "elemwise_mul", {probabilities, in.part("drop", "BlockGrad", {in[*mask]})});
  return in.part("dropped", "Dropout", {probabilities}, {{"p", text(op.dropout)}});
}

}  // namespace

// x (N, T, heads, D): x cos + (the other half of the head) (-+ sin). The constants are spread to the shape of x, once
// for all layers: the gradient of a broadcast_mul takes ten times as long as that of an elemwise_mul.
Symbol lower(const Rotary& op, const Args& in) {
  const Shape &x = in.shape(0), table = {1, x[1], 1, x[3]};
  const auto spread = [&](bool sine) {
    const std::string name = sine ? "sin" : "cos";
    return in.shared(cat("rotary/", name, "/", text(op.theta), "/", x, "/", tbd::name(in.dtype(0))), [&] {
      const Symbol turning = in.constant(name, table, turns(op, x[1], x[3], sine));
      return in.part(name + "/spread", "broadcast_to", {turning}, to_shape(x));
    });
  };
  const Symbol halves = in.part("halves", "Reshape", {in[0]}, to_shape({x[0], x[1], x[2], 2, x[3] / 2}));
  const Symbol swapped = in.part("swapped", "reverse", {halves}, {{"axis", "3"}});
  const Symbol other = in.part("other", "Reshape", {swapped}, to_shape(x));
  return in.op("elemwise_add", {in.part("along", "elemwise_mul", {in[0], spread(false)}),
                                in.part("across", "elemwise_mul", {other, spread(true)})});
}
LoweredAs lowered_as(const Rotary&, size_t) { return composed("reverse, broadcast_to, elemwise_mul, elemwise_add"); }

// q (N, Tq, heads d), k and v (N, Ts, kv_heads d).
Symbol lower(const Attention& op, const Args& in) {
  const Layout l(op, in);
  const Symbol scaled =
      in.part("scaled", "_mul_scalar", {in[0]}, with_scalar(1 / std::sqrt(static_cast<double>(l.width))));
  const Shape query_heads = {l.samples, l.queries, l.heads, l.width};
  const Shape key_heads = {l.samples, l.keys, l.key_heads, l.width};
  const Symbol q = by_heads(in, "q", scaled, query_heads, l.query_matrices());
  const Symbol k = by_heads(in, "k", in[1], key_heads, l.key_matrices());
  const Symbol v = by_heads(in, "v", in[2], key_heads, l.key_matrices());
  const Symbol products = in.part("products", "batch_dot", {q, k}, {{"transpose_b", text(true)}});
  Symbol scores = in.part("scores", "Reshape", {products}, to_shape(l.scores()));
  if (const auto mask = added(op, in, l)) scores = in.part("masked", "elemwise_add", {scores, *mask});
  const Symbol probabilities = kept(op, in, in.part("probabilities", "softmax", {scores}, {{"axis", "-1"}}));
  const Symbol weights = in.part("weights", "Reshape", {probabilities}, to_shape(l.score_matrices()));
  const Symbol sums = in.part("sums", "batch_dot", {weights, v});
  const bool masked_by_operand = attention_masks(in.shapes()).dropout.has_value();
  return by_steps(in, l,
                  masked_by_operand ? in.part("y", "_mul_scalar", {sums}, with_scalar(1 / (1 - op.dropout))) : sums);
}
LoweredAs lowered_as(const Attention& op, size_t) {
  return composed(cat("transpose, batch_dot, elemwise_add, softmax", op.dropout > 0 ? ", Dropout" : ""));
}

}  // namespace tbd::mxnet
