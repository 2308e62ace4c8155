// For tests of this room: small programs that between them use every op of sequences in every form.
#pragma once
#include <utility>

#include "graph/builder.h"

namespace tbd {

// Embedding tied to the projection, waves, three kinds of attention with dropout, smoothing over the others.
inline Program translate_program() {
  constexpr int64_t kWidth = 8, kRows = 11, kPad = 1;
  Program program = {.model = "toy", .config = "translate", .symbols = {{"S", 5}, {"T", 4}}};
  Builder g(program, "train");
  const Tensor src = g.input("src", {Builder::batch(), Dim("S")}, DType::i32);
  const Tensor tgt_in = g.input("tgt_in", {Builder::batch(), Dim("T")}, DType::i32);
  const Tensor tgt_out = g.input("tgt_out", {Builder::batch(), Dim("T")}, DType::i32);
  const Tensor table = g.parameter("embed_tokens.weight", {kRows, kWidth}, Init::normal(0.35));
  const auto embed = [&](const Tensor& ids, const Tensor& pads) {
    const Tensor waves = g.sinusoid(g.affine(pads, -1, 1), {.first = kPad + 1, .width = kWidth});
    return g.dropout(g.add(g.affine(g.embedding(ids, table, kPad), 2.8), waves), 0.1);
  };
  const Attention heads = {.heads = 2, .dropout = 0.1};
  const Tensor src_pads = g.equals(src, kPad), mask = g.affine(src_pads, -1e4);
  Tensor m = embed(src, src_pads);
  m = g.add(m, g.attention(m, m, m, heads, mask));
  Tensor x = embed(tgt_in, g.equals(tgt_in, kPad));
  x = g.add(x, g.attention(x, x, x, {.heads = 2, .causal = true, .dropout = 0.1}));
  x = g.add(x, g.attention(x, m, m, heads, mask));
  const Tensor logits = g.linear(x, table);
  g.output("logits", logits);
  using Spread = SoftmaxCrossEntropy::Spread;
  g.loss("ce", g.softmax_cross_entropy(logits, tgt_out, {.smoothing = 0.1, .spread = Spread::others, .ignore = kPad}));
  g.update({.optimizer = {.kind = Optimizer::Kind::adam, .beta2 = 0.98, .epsilon = 1e-9},
            .schedule = {.kind = Schedule::Kind::noam, .base = 1, .warmup = 16, .width = kWidth}});
  program.step = {{.phase = "train"}};
  return program;
}

// Rotary grouped-query causal attention between root-mean-square norms, a gated unit.
inline Program decode_program() {
  constexpr int64_t kTime = 6, kRows = 13;
  Program program = {.model = "toy", .config = "decode"};
  Builder g(program, "train");
  const Tensor ids = g.input("ids", {Builder::batch(), kTime}, DType::i32);
  const Tensor labels = g.input("labels", {Builder::batch(), kTime}, DType::i32);
  Tensor x = g.embedding("embed", ids, {.rows = kRows, .width = 8});
  g.init("embed.weight", Init::normal(0.02));
  const auto turned = [&](std::string_view name, const Tensor& h, int64_t width) {
    const Tensor heads = g.reshape(g.linear(name, h, {.out = width, .bias = false}), {0, 0, -1, 2});
    return g.reshape(g.rotary(heads), {0, 0, -1});
  };
  const Tensor h = g.rms_norm("norm1", x);
  const Tensor q = turned("q", h, 8), k = turned("k", h, 4), v = g.linear("v", h, {.out = 4, .bias = false});
  x = g.add(x, g.attention(q, k, v, {.heads = 4, .kv_heads = 2, .causal = true}));
  const Tensor y = g.rms_norm("norm2", x, {.eps = 1e-6});
  const Tensor gate = g.silu(g.linear("gate", y, {.out = 6, .bias = false}));
  x = g.add(x, g.linear("down", g.mul(gate, g.linear("up", y, {.out = 6, .bias = false})), {.out = 8, .bias = false}));
  const Tensor logits = g.linear(x, g.parameter("embed.weight", {kRows, 8}));
  g.output("logits", logits);
  g.loss("ce", g.softmax_cross_entropy(logits, labels), 1.0 / kTime);
  g.update({.optimizer = {.kind = Optimizer::Kind::adamw, .beta2 = 0.95},
            .groups = {{.weight_decay = 0.1}, {{"norm1.weight", "norm2.weight"}}},
            .schedule = {.kind = Schedule::Kind::cosine, .base = 3e-4, .warmup = 2, .total = 10},
            .clip_norm = 1});
  program.step = {{.phase = "train"}};
  return program;
}

// A bidirectional encoder over lengths, an unrolled decoder with attention and input feeding.
inline Program recur_program() {
  constexpr int64_t kSource = 5, kTarget = 3, kHidden = 4;
  Program program = {.model = "toy", .config = "recur"};
  Builder g(program, "train");
  const Tensor src = g.input("src", {Builder::batch(), kSource}, DType::i32);
  const Tensor lengths = g.input("src_len", {Builder::batch()}, DType::i32);
  const Tensor tgt_in = g.input("tgt_in", {Builder::batch(), kTarget}, DType::i32);
  const Tensor tgt_out = g.input("tgt_out", {Builder::batch(), kTarget}, DType::i32);
  const Tensor x = g.embedding("encoder.embed", src, {.rows = 9, .width = 3, .pad = 0});
  const Recurrent there = g.lstm("encoder.lstm", x, {.hidden = kHidden}, "_l0", lengths);
  const Recurrent back = g.lstm("encoder.lstm", x, {.hidden = kHidden, .reverse = true}, "_l0", lengths);
  const Recurrent top = g.lstm("encoder.lstm", g.concat({there.y, back.y}, 2), {.hidden = kHidden}, "_l1");
  const Tensor pads = g.reshape(g.affine(g.equals(src, 0), -1e4), {0, 1, -1});
  const Tensor targets = g.embedding("decoder.embed", tgt_in, {.rows = 7, .width = 3});
  State state = top.last;
  Tensor feed = g.affine(top.last.h, 0);
  std::vector<Tensor> out;
  for (int64_t t = 0; t < kTarget; ++t) {
    const Tensor word = g.reshape(g.slice(targets, {.begin = t, .end = t + 1}), {0, -1});
    state = g.lstm_cell("decoder.layers.0", g.concat({word, feed}), state, {.hidden = kHidden});
    const Tensor query = g.reshape(state.h, {0, 1, -1});
    const Tensor weights = g.softmax(g.add(g.matmul(query, top.y, {.transpose_b = true}), pads));
    feed = g.tanh(g.reshape(g.matmul(weights, top.y), {0, -1}));
    out.push_back(g.reshape(feed, {0, 1, -1}));
  }
  const Tensor logits = g.linear("fc", g.concat(out), {.out = 7});
  g.output("logits", logits);
  g.loss("ce", g.softmax_cross_entropy(logits, tgt_out, {.ignore = 0}));
  g.update({.optimizer = {.kind = Optimizer::Kind::adam},
            .schedule = {.kind = Schedule::Kind::exp_warmup_step,
                         .base = 2e-3,
                         .factor = 0.5,
                         .warmup = 4,
                         .total = 30,
                         .decay_from = 0.6,
                         .decays = 4},
            .clip_norm = 5});
  program.step = {{.phase = "train"}};
  return program;
}

// Positions from a matrix, losses on gathered rows with weights and on the first token; axes swapped and back.
inline Program mask_program() {
  constexpr int64_t kTime = 6, kMost = 8, kWidth = 4, kRows = 10;
  Program program = {.model = "toy", .config = "mask"};
  Builder g(program, "train");
  const Tensor ids = g.input("input_ids", {Builder::batch(), kTime}, DType::i32);
  const Tensor valid = g.input("attention_mask", {Builder::batch(), kTime}, DType::i32);
  const Tensor places = g.input("masked_positions", {Builder::batch(), 2}, DType::i32);
  const Tensor labels = g.input("masked_labels", {Builder::batch(), 2}, DType::i32);
  const Tensor weights = g.input("masked_weights", {Builder::batch(), 2});
  const Tensor next = g.input("next_label", {Builder::batch()}, DType::i32);
  const Tensor words = g.parameter("word.weight", {kRows, kWidth}, Init::normal(0.02));
  const Tensor positions = g.parameter("position.weight", {kMost, kWidth}, Init::normal(0.02));
  const Tensor here = g.reshape(g.slice(positions, {.axis = 0, .end = kTime}), {1, kTime, kWidth});
  Tensor x = g.layer_norm("LayerNorm", g.add(g.embedding(ids, words, 0), here), {.eps = 1e-12});
  x = g.add(x, g.attention(x, x, x, {.heads = 2, .dropout = 0.1}, g.affine(g.equals(valid, 1), 1e4, -1e4)));
  x = g.transpose(g.gelu(g.transpose(x, {0, 2, 1})), {0, 2, 1});
  const Tensor mlm = g.linear(g.gather(x, places), words, g.parameter("predictions.bias", {kRows}));
  const Tensor first = g.flatten(g.slice(x, {.end = 1}));
  const Tensor nsp = g.linear("seq_relationship", g.tanh(g.linear("pooler", first, {.out = kWidth})), {.out = 2});
  g.output("mlm_logits", mlm);
  g.output("nsp_logits", nsp);
  g.loss("mlm", g.softmax_cross_entropy(mlm, labels, {}, weights));
  g.loss("nsp", g.softmax_cross_entropy(nsp, next));
  g.update({.optimizer = {.kind = Optimizer::Kind::lamb, .epsilon = 1e-6},
            .groups = {{.weight_decay = 0.01}, {{"LayerNorm.weight", "LayerNorm.bias", "predictions.bias"}}},
            .schedule = {.kind = Schedule::Kind::poly, .base = 1e-3, .warmup = 0.25, .total = 20, .degree = 0.5}});
  program.step = {{.phase = "train"}};
  return program;
}

// These after others: the toys, which back-ends run too.
using NamedPrograms = std::vector<std::pair<std::string, Program>>;
inline NamedPrograms with_sequences(NamedPrograms out) {
  for (Program program : {translate_program(), decode_program(), recur_program(), mask_program()})
    out.emplace_back(program.config, std::move(program));
  return out;
}

}  // namespace tbd
