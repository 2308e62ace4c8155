#include "graph/ops/attention.h"

#include <algorithm>

#include "base/text.h"
#include "graph/ops/python.h"

namespace tbd {
namespace {

void check_heads(const Attention& op, Shapes in) {
  require(op.heads > 0, "heads must be positive");
  require(op.kv_heads >= 0 && op.heads % op.key_heads() == 0, "kv_heads=", op.kv_heads,
          " does not divide heads=", op.heads);
  const Shape &q = in[0], &k = in[1], &v = in[2];
  require(q.rank() == 3 && k.rank() == 3, "expected q (N, Tq, heads d) and k (N, Ts, kv_heads d), got ", q, " and ", k);
  require(k == v, "k and v differ: ", k, " and ", v);
  require(q[0] == k[0], "samples of q and k differ: ", q, " and ", k);
  require(q[2] % op.heads == 0, "heads=", op.heads, " does not divide ", q[2], " of q ", q);
  const int64_t width = q[2] / op.heads * op.key_heads();
  require(k[2] == width, "k is ", k, ", expected ", width, " features for ", op.key_heads(), " heads");
  require(!op.causal || q[1] == k[1], "causal attention from ", q[1], " to ", k[1], " positions");
}

void check_masks(const Attention& op, Shapes in) {
  const AttentionMasks masks = attention_masks(in);
  require(in.size() == 3u + masks.additive.has_value() + masks.dropout.has_value(),
          "expected after v an additive mask (N, Ts) or a dropout mask (N, heads, Tq, Ts), got ", in.back());
  const Shape keys = {in[1][0], in[1][1]}, scores = score_shape(op, in);
  require(!masks.additive || in[*masks.additive] == keys, "mask is ", in[masks.additive.value_or(0)], ", expected ",
          keys);
  require(!masks.dropout || op.dropout > 0, "a dropout mask without dropout");
  require(!masks.dropout || in[*masks.dropout] == scores, "dropout mask is ", in[masks.dropout.value_or(0)],
          ", expected ", scores);
}

int64_t head_width(const Attention& op, const Operands& o) { return o.in[0][2] / op.heads; }

// Pairs of query and key that a causal mask leaves, of those in `scores`.
int64_t seen(const Attention& op, const Shape& scores) {
  return op.causal ? scores.elements() / scores[3] * (scores[3] + 1) / 2 : scores.elements();
}

constexpr const char* kHeads = R"(

def heads(x, count): return permute(reshape(x, (x.shape[0], x.shape[1], count, -1)), (0, 2, 1, 3))
def side_by_side(x): return reshape(permute(x, (0, 2, 1, 3)), (x.shape[0], x.shape[2], -1))
)";

}  // namespace

std::vector<Shape> output_shapes(const Rotary& op, Shapes in) {
  require(in[0].rank() == 4, "expected (N, T, heads, D), got ", in[0]);
  require(in[0][3] % 2 == 0, "D=", in[0][3], " of ", in[0], " is odd");
  require(op.theta > 0, "theta must be positive");
  return {in[0]};
}
// Two products and a sum for each element; the constants are not computed again.
Cost forward_cost(const Rotary&, const Operands& o) {
  return {.simd = 3 * o.in[0].elements(), .bytes = bytes_touched_forward(o)};
}
Cost backward_cost(const Rotary&, const Operands& o) {
  if (!o.needs(0)) return {};
  return {.simd = 3 * o.in[0].elements(), .bytes = o.out_bytes() + o.in_bytes(0)};
}
Traits traits(const Rotary&) { return {.images = false}; }
// Two products and a sum of two with constants that are rounded.
Rounding rounding(const Rotary&, Shapes) { return {3}; }
std::optional<PythonCall> python_call(const Rotary& op, const PythonNode& in) {
  const int64_t half = in.x(0)[3] / 2;
  const std::string angles = cat("np.outer(np.arange(", in.x(0)[1], "), ", python_number(op.theta), " ** (-np.arange(",
                                 half, ") / ", half, "))[None, :, None, :]");
  const std::string a = cat("x0[..., :", half, "]"), b = cat("x0[..., ", half, ":]");
  return in.composed(cat("concat([", a, " * cos - ", b, " * sin, ", b, " * cos + ", a, " * sin], 3)"),
                     cat("\nangles = ", angles, "\ncos, sin = constant(np.cos(angles)), constant(np.sin(angles))\n"));
}

std::optional<double> dropout_rate(const Attention& op) {
  return op.dropout > 0 ? std::optional(op.dropout) : std::nullopt;
}

Role role(const Attention&, size_t operand, Shapes in) {
  if (operand < 3) return Role::data;
  return attention_masks(in).dropout == operand ? Role::mask : Role::scores;
}

AttentionMasks attention_masks(Shapes in) {
  AttentionMasks masks;
  for (size_t i = 3; i < in.size(); ++i) {
    if (in[i].rank() == 2 && i == 3) masks.additive = i;
    if (in[i].rank() == 4 && i + 1 == in.size()) masks.dropout = i;
  }
  return masks;
}

Shape score_shape(const Attention& op, Shapes in) { return {in[0][0], op.heads, in[0][1], in[1][1]}; }

std::vector<Shape> output_shapes(const Attention& op, Shapes in) {
  require(in.size() >= 3 && in.size() <= 5, "expected q, k, v and at most two masks, got ", in.size(), " operands");
  require(op.dropout >= 0 && op.dropout < 1, "dropout=", op.dropout, " is outside [0, 1)");
  check_heads(op, in);
  check_masks(op, in);
  return {in[0]};
}

// Per score: the scale, each mask, softmax 4 and an exponential, dropout 2.
Cost forward_cost(const Attention& op, const Operands& o) {
  const Shape scores = score_shape(op, o.in);
  const int64_t masks = op.causal + attention_masks(o.in).additive.has_value();
  const int64_t per_pair = 4 * head_width(op, o);  // q k and p v, d multiply-adds each
  return {.model = per_pair * scores.elements(),
          .valid = per_pair * seen(op, scores),
          .simd = (5 + masks + (op.dropout > 0 ? 2 : 0)) * scores.elements(),
          .trans = scores.elements(),
          .bytes = bytes_touched_forward(o)};
}

// dV from the probabilities; dP, then dQ and dK through softmax (4 per score), the scale and dropout (1 each).
Cost backward_cost(const Attention& op, const Operands& o) {
  const bool scored = o.needs(0) || o.needs(1);
  if (!scored && !o.needs(2)) return {};
  const Shape scores = score_shape(op, o.in);
  const int64_t products = scored + o.needs(0) + o.needs(1) + o.needs(2);
  const int64_t per_pair = 2 * head_width(op, o) * products;
  Cost cost = {.model = per_pair * scores.elements(),
               .valid = per_pair * seen(op, scores),
               .simd = scored ? (5 + (op.dropout > 0)) * scores.elements() : 0,
               .bytes = o.out_bytes()};
  for (size_t i = 0; i < o.in.size(); ++i) cost.bytes += o.in_bytes(i);
  for (size_t i = 0; i < 3; ++i) cost.bytes += o.needs(i) ? o.in_bytes(i) : 0;
  return cost;
}

int64_t kept_bytes(const Attention& op, const Operands& o) {
  const Shape scores = score_shape(op, o.in);
  if (op.dropout == 0) return 4 * scores.elements() / scores[3];
  const int64_t matrices = attention_masks(o.in).dropout ? 2 : 3;
  return matrices * scores.elements() * size_of(o.in_dtypes[0]);
}

Traits traits(const Attention&) {
  return {.saves_inputs = {0, 1, 2, 3, 4}, .saves_output = true, .images = false, .precision = PrecisionRule::low};
}
// Scores, a softmax, whose exponentials magnify the rounding of the scores, and sums over keys; the gradient of a key
// adds up the queries of every head that reads it.
Rounding rounding(const Attention& op, Shapes in) {
  const int64_t head = in[0].back() / op.heads, readers = op.heads / op.key_heads();
  return {6, std::max({head, in[1][1], in[0][1] * readers})};
}
std::optional<PythonCall> python_call(const Attention& op, const PythonNode& in) {
  const bool torch = in.is(PythonNode::Framework::torch);
  const AttentionMasks masks = attention_masks(in.shapes());
  const int64_t keys = in.x(1)[1];
  std::string mask;
  if (masks.additive) mask = cat("reshape(x", *masks.additive, ", (", in.x(0)[0], ", 1, 1, ", keys, "))");
  const std::string future = cat("constant(np.triu(np.full((1, 1, ", in.x(0)[1], ", ", keys, "), -1e30), 1))");
  if (op.causal && !(torch && mask.empty() && !masks.dropout)) mask += (mask.empty() ? "" : " + ") + future;
  const std::string q = cat("heads(x0, ", op.heads, ")");
  std::string k = cat("heads(x1, ", op.key_heads(), ")"), v = cat("heads(x2, ", op.key_heads(), ")");
  if (torch && !masks.dropout)
    return in.composed(
        cat("side_by_side(F.scaled_dot_product_attention(", q, ", ", k, ", ", v,
            mask.empty() ? "" : ", attn_mask=" + mask, op.causal && mask.empty() ? ", is_causal=True" : "",
            op.key_heads() == op.heads ? "" : ", enable_gqa=True", "))"),
        kHeads);
  const int64_t readers = op.heads / op.key_heads();
  if (readers > 1) {
    k = cat("repeat(", k, ", ", readers, ", 1)");
    v = cat("repeat(", v, ", ", readers, ", 1)");
  }
  const std::string scores =
      cat("matmul(", q, ", permute(", k, ", (0, 1, 3, 2))) * ", in.x(0).back() / op.heads, " ** -0.5");
  std::string p = cat("softmax(", scores, mask.empty() ? "" : " + " + mask, ")");
  if (masks.dropout) p += cat(" * x", *masks.dropout, " / (1 - ", python_number(op.dropout), ")");
  return in.composed(cat("side_by_side(matmul(", p, ", ", v, "))"), kHeads);
}

}  // namespace tbd
