// Tokens through attention, and through recurrence.
#include <cmath>

#include "toy_parts.h"

namespace tbd::toys {

namespace {

constexpr int64_t kVocabulary = 17, kPad = 1, kWidth = 8;

Tensor projected(Builder& g, std::string_view name, const Tensor& x, int64_t out) {
  return g.linear(name, x, {.out = out, .bias = false});
}

// x (N, T, 8), mask (N, T); pre-norm.
Tensor attend(Builder& g, const Tensor& x, const Tensor& mask) {
  const auto scope = g.scope("self_attn");
  const Tensor y = g.layer_norm("norm", x);
  const Tensor q = g.linear("q_proj", y, {.out = kWidth}), k = g.linear("k_proj", y, {.out = kWidth}),
               v = g.linear("v_proj", y, {.out = kWidth});
  const Tensor mixed = g.attention(q, k, v, {.heads = 2, .dropout = 0.2}, mask);
  return g.add(x, g.dropout(g.linear("out_proj", mixed, {.out = kWidth}), 0.1));
}

Tensor rotated(Builder& g, const Tensor& x) {
  return g.reshape(g.rotary(g.reshape(x, {0, 0, -1, kWidth / 2})), {0, 0, -1});
}

// Two query heads of 4 on one key head.
Tensor attend_causally(Builder& g, const Tensor& x, const Tensor& mask) {
  const auto scope = g.scope("causal_attn");
  const Tensor y = g.rms_norm("norm", x);
  const Tensor q = rotated(g, projected(g, "q_proj", y, kWidth)), k = rotated(g, projected(g, "k_proj", y, kWidth / 2)),
               v = projected(g, "v_proj", y, kWidth / 2);
  const Tensor mixed = g.attention(q, k, v, {.heads = 2, .kv_heads = 1, .causal = true}, mask);
  return g.add(x, projected(g, "o_proj", mixed, kWidth));
}

Tensor feed_forward(Builder& g, const Tensor& x) {
  const Tensor inner = g.gelu(g.linear("fc1", g.layer_norm("mlp_norm", x), {.out = 12}));
  const Tensor y = g.add(x, g.linear("fc2", inner, {.out = kWidth}));
  const Tensor z = g.rms_norm("gated_norm", y);
  const Tensor gate = g.silu(projected(g, "gate_proj", z, 12)), up = projected(g, "up_proj", z, 12);
  return g.add(y, projected(g, "down_proj", g.mul(gate, up), kWidth));
}

}  // namespace

// (N, 7) -> (N, 7, 17): says each token again. Padding sees and is seen by nothing that counts, so that the gradient of
// the padding row, which the lookup leaves out, is none.
Program tokens() {
  Program program = named("tokens");
  Builder g(program, "train");
  const Tensor ids = g.input("ids", {Builder::batch(), 7}, DType::i32);
  const Tensor table = g.parameter("embed.weight", {kVocabulary, kWidth}, Init::normal(0.35));
  const Tensor padding = g.equals(ids, kPad);
  const Tensor valid = g.affine(padding, -1, 1), mask = g.affine(padding, -1e4);
  Tensor x = g.affine(g.embedding(ids, table, kPad), std::sqrt(static_cast<double>(kWidth)));
  x = g.add(x, g.sinusoid(valid, {.first = 2, .width = kWidth}));
  x = g.dropout(g.add(x, g.parameter("positions", {1, 7, kWidth}, Init::normal(0.02))), 0.1);
  x = feed_forward(g, attend_causally(g, attend(g, x, mask), mask));
  const Tensor logits = g.linear(x, table);
  g.output("logits", logits);
  g.loss("ce",
         g.softmax_cross_entropy(
             logits, ids,
             SoftmaxCrossEntropy{.smoothing = 0.1, .spread = SoftmaxCrossEntropy::Spread::others, .ignore = kPad}));
  // An epsilon above the rounding of a gradient that is 0, the key bias's, which Adam would blow up.
  g.update({.optimizer = {.kind = Optimizer::Kind::adam, .beta2 = 0.98, .epsilon = 1e-4},
            .schedule = {.kind = Schedule::Kind::noam, .base = 1, .warmup = 10, .width = kWidth}});
  program.step = {{.phase = "train"}};
  return program;
}

namespace {

constexpr int64_t kHidden = 6;

// What decoder steps look at. keys: the memory turned, (N, 6, S).
struct Memory {
  Tensor rows, keys, mask;
};

// One step: attention on the memory (N, S, 6) by h (N, 6) -> (N, 6).
Tensor look(Builder& g, const Memory& memory, const Tensor& h) {
  const Tensor query = g.reshape(h, {0, 1, -1});
  const Tensor scores = g.add(g.matmul(query, memory.keys), memory.mask);
  const Tensor context = g.reshape(g.matmul(g.softmax(scores), memory.rows), {0, -1});
  return g.tanh(projected(g, "output_proj", g.concat({context, h}), kHidden));
}

}  // namespace

// (N, 5) -> (N, 3, 11): the decoder reads three rows of the memory, and what it gave before.
Program recurrent() {
  Program program = named("recurrent");
  Builder g(program, "train");
  const Tensor src = g.input("src", {Builder::batch(), 5}, DType::i32);
  const Tensor lengths = g.input("src_len", {Builder::batch()}, DType::i32);
  const Tensor picked = g.input("picked", {Builder::batch(), 3}, DType::i32);
  const Tensor label = g.input("label", {Builder::batch(), 3}, DType::i32);
  const Tensor weights = g.input("weights", {Builder::batch(), 3});
  const Tensor x = g.embedding("embed", src, {.rows = 13, .width = 4});
  const Recurrent ahead = g.lstm("encoder", x, {.hidden = kHidden / 2}, "_l0", lengths);
  const Recurrent back = g.lstm("encoder", x, {.hidden = kHidden / 2, .reverse = true}, "_l0", lengths);
  const Tensor rows = g.concat({ahead.y, back.y}, 2);
  const Tensor keys = g.transpose(rows, {0, 2, 1});
  const Memory memory = {rows, keys, g.reshape(g.affine(g.equals(src, kPad), -1e4), {0, 1, -1})};
  const Tensor h = g.concat({ahead.last.h, back.last.h}), c = g.concat({ahead.last.c, back.last.c});
  State state = {h, c};
  Tensor fed = g.affine(h, 0);
  const Tensor read = g.gather(rows, picked);
  std::vector<Tensor> outputs;
  for (int64_t t = 0; t < 3; ++t) {
    const Tensor now = g.reshape(g.slice(read, {.axis = 1, .begin = t, .end = t + 1}), {0, -1});
    state = g.lstm_cell("decoder", g.concat({now, fed}), state, {.hidden = kHidden});
    fed = look(g, memory, state.h);
    outputs.push_back(g.reshape(fed, {0, 1, -1}));
  }
  const Tensor logits = g.linear("fc_out", g.concat(outputs), {.out = 11});
  g.output("logits", logits);
  g.loss("ce", g.softmax_cross_entropy(logits, label, SoftmaxCrossEntropy{}, weights));
  g.update({.optimizer = {.kind = Optimizer::Kind::adam, .epsilon = 1e-6}, .schedule = {.base = 0.01}, .clip_norm = 1});
  program.step = {{.phase = "train"}};
  return program;
}

}  // namespace tbd::toys
