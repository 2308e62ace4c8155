// Sequence to sequence with attention. Sutskever et al. 2014, arXiv:1409.3215; attention and input feeding of Luong et
// al. 2015, arXiv:1508.04025. `canonical` has the form and names of fairseq's `lstm` architecture; `gnmt_v2` those of
// NVIDIA's GNMT, with the normalised additive attention of Bahdanau et al. 2015, arXiv:1409.0473.
#include <cmath>

#include "graph/builder.h"
#include "models/model.h"

namespace tbd {
namespace {

struct Sizes {
  int64_t width = 512, source_words = 17'191, target_words = 7'709;
  int64_t source = 25, target = 25;
  double dropout = 0.2;
};

struct Inputs {
  Tensor src, lengths, tgt_in, tgt_out;
};
Inputs inputs(Builder& g, const Sizes& sizes) {
  return {g.input("src", {Builder::batch(), sizes.source}, DType::i32),
          g.input("src_len", {Builder::batch()}, DType::i32),
          g.input("tgt_in", {Builder::batch(), sizes.target}, DType::i32),
          g.input("tgt_out", {Builder::batch(), sizes.target}, DType::i32)};
}

Tensor dropped(Builder& g, const Tensor& x, double p) { return p == 0 ? x : g.dropout(x, p); }

// Padding is 1: bos 0, pad 1, eos 2, unk 3.
class Luong {
 public:
  static constexpr int64_t kPad = 1;
  Luong(Builder& g, const Sizes& sizes) : g_(g), sizes_(sizes) {}

  Tensor logits(const Inputs& in) {
    const Tensor mask = g_.affine(g_.equals(in.src, kPad), -1e4);
    std::vector<State> state;
    const Tensor memory = encoded(in, state);
    return decoded(in.tgt_in, memory, mask, state);
  }

 private:
  // (N, S) -> (N, S, width), and the last state of both layers.
  Tensor encoded(const Inputs& in, std::vector<State>& state) {
    const auto scope = g_.scope("encoder");
    Tensor x = g_.embedding("embed_tokens", in.src, {.rows = sizes_.source_words, .width = sizes_.width, .pad = kPad});
    for (const char* suffix : {"_l0", "_l1"}) {
      const Recurrent layer =
          g_.lstm("lstm", dropped(g_, x, sizes_.dropout), {.hidden = sizes_.width}, suffix, in.lengths);
      x = layer.y;
      state.push_back(layer.last);
    }
    return dropped(g_, x, sizes_.dropout);
  }

  // One word after the other: what attention found is fed back.
  Tensor decoded(const Tensor& tgt, const Tensor& memory, const Tensor& mask, std::vector<State> state) {
    const auto scope = g_.scope("decoder");
    const int64_t width = sizes_.width;
    const Tensor words =
        dropped(g_, g_.embedding("embed_tokens", tgt, {.rows = sizes_.target_words, .width = width, .pad = kPad}),
                sizes_.dropout);
    std::vector<Tensor> outputs;
    std::optional<Tensor> feed;
    for (int64_t t = 0; t < sizes_.target; ++t) {
      const Tensor word = g_.reshape(g_.slice(words, {.axis = 1, .begin = t, .end = t + 1}), {0, width});
      if (!feed) feed = g_.affine(word, 0);  // nothing was found before the first word
      state[0] = g_.lstm_cell("layers.0", g_.concat({word, *feed}, 1), state[0], {.hidden = width});
      state[1] = g_.lstm_cell("layers.1", dropped(g_, state[0].h, sizes_.dropout), state[1], {.hidden = width});
      feed = attended(state[1].h, memory, mask);
      outputs.push_back(g_.reshape(*feed, {0, 1, width}));
    }
    const Tensor all = outputs.size() == 1 ? outputs[0] : g_.concat(outputs, 1);
    return g_.linear("fc_out", all, {.out = sizes_.target_words});
  }

  // dropout(tanh(W [context ; q])), context = sum_s softmax(M W_in q)_s M_s
  Tensor attended(const Tensor& q, const Tensor& memory, const Tensor& mask) {
    const auto scope = g_.scope("attention");
    const int64_t width = sizes_.width, length = sizes_.source;
    const Tensor key = g_.linear("input_proj", q, {.out = width, .bias = false});
    const Tensor scores = g_.reshape(g_.matmul(memory, g_.reshape(key, {0, width, 1})), {0, length});
    const Tensor shares = g_.reshape(g_.softmax(g_.add(scores, mask)), {0, 1, length});
    const Tensor context = g_.reshape(g_.matmul(shares, memory), {0, width});
    const Tensor y = g_.linear("output_proj", g_.concat({context, q}, 1), {.out = width, .bias = false});
    return dropped(g_, g_.tanh(y), sizes_.dropout);
  }

  Builder& g_;
  const Sizes& sizes_;
};

// Padding is 0: pad 0, unk 1, bos 2, eos 3. Attention is not fed back, so each layer runs over all words at once.
class Gnmt {
 public:
  static constexpr int64_t kPad = 0;
  Gnmt(Builder& g, const Sizes& sizes) : g_(g), sizes_(sizes) {}

  Tensor logits(const Inputs& in) {
    table_ = g_.parameter("encoder.embedder.weight", {sizes_.source_words, sizes_.width});
    const Tensor mask = g_.affine(g_.equals(in.src, kPad), -1e4);
    const Tensor memory = encoded(in);
    return decoded(in.tgt_in, memory, mask);
  }

 private:
  Tensor layer(std::string_view name, const Tensor& x, const std::optional<Tensor>& lengths = std::nullopt,
               bool reverse = false) {
    return g_.lstm(name, x, {.hidden = sizes_.width, .reverse = reverse}, "_l0", lengths).y;
  }
  Tensor drop(const Tensor& x) { return dropped(g_, x, sizes_.dropout); }

  Tensor encoded(const Inputs& in) {
    const auto scope = g_.scope("encoder.rnn_layers");
    Tensor x = drop(g_.embedding(in.src, *table_, kPad));
    const Tensor forward = layer("0", x, in.lengths);
    x = g_.concat({forward, layer("0", x, in.lengths, true)}, 2);
    x = layer("1", drop(x));
    for (const char* name : {"2", "3"}) x = g_.add(layer(name, drop(x)), x);
    return x;
  }

  Tensor decoded(const Tensor& tgt, const Tensor& memory, const Tensor& mask) {
    const auto scope = g_.scope("decoder");
    const Tensor words = drop(g_.embedding(tgt, *table_, kPad));
    const Tensor first = layer("att_rnn.rnn", words);
    const Tensor context = attended(first, memory, mask);
    const auto with_context = [&](const Tensor& x) { return g_.concat({drop(x), drop(context)}, 2); };
    Tensor x = layer("rnn_layers.0", with_context(first));
    for (const char* name : {"rnn_layers.1", "rnn_layers.2"}) x = g_.add(layer(name, with_context(x)), x);
    return g_.linear("classifier.classifier", x, {.out = sizes_.target_words});
  }

  // score = g v / |v| tanh(W_q q + W_k m + b), of all words at once: (N, T, S, width) lies in between.
  Tensor attended(const Tensor& q, const Tensor& memory, const Tensor& mask) {
    const auto scope = g_.scope("att_rnn.attn");
    const int64_t width = sizes_.width, from = sizes_.source, to = sizes_.target;
    const Tensor query = g_.reshape(g_.linear("linear_q", q, {.out = width, .bias = false}), {0, to, 1, width});
    const Tensor key = g_.reshape(g_.linear("linear_k", memory, {.out = width, .bias = false}), {0, 1, from, width});
    const Tensor bias = g_.parameter("normalize_bias", {width});
    const Tensor sum = g_.tanh(g_.add(g_.add(query, key), g_.reshape(bias, {1, 1, 1, width})));
    const Tensor v = g_.parameter("linear_att", {width}, Init::uniform(0.1));
    const Tensor scale = g_.parameter("normalize_scalar", {1},
                                      {.kind = Init::Kind::constant, .a = 1 / std::sqrt(static_cast<double>(width))});
    const Tensor unit = g_.mul(g_.div(v, g_.sqrt(g_.sum(g_.square(v), {0}, true))), scale);
    const Tensor scores = g_.reshape(g_.linear(sum, g_.reshape(unit, {1, width})), {0, to, from});
    const Tensor shares = g_.softmax(g_.add(scores, g_.reshape(mask, {0, 1, from})));
    return g_.matmul(shares, memory);
  }

  Builder& g_;
  const Sizes& sizes_;
  std::optional<Tensor> table_;
};

Program luong(std::string config, const Sizes& sizes) {
  Program program = {.model = "seq2seq", .config = std::move(config), .unit = "sentences"};
  Builder g(program, "train");
  const Inputs in = inputs(g, sizes);
  const Tensor z = Luong(g, sizes).logits(in);
  g.output("logits", z);
  g.loss("ce", g.softmax_cross_entropy(z, in.tgt_out, SoftmaxCrossEntropy{.ignore = Luong::kPad}));
  g.update({.optimizer = {.kind = Optimizer::Kind::adam},
            .schedule = {.kind = Schedule::Kind::constant, .base = 3e-4},
            .clip_norm = 1.0});
  for (Parameter& p : program.parameters) {
    const int64_t zero_row = p.init.zero_row;
    p.init = Init::uniform(0.1);
    p.init.zero_row = zero_row;
  }
  program.step = {{.phase = "train"}};
  return program;
}

Program gnmt(std::string config, const Sizes& sizes) {
  Program program = {.model = "seq2seq", .config = std::move(config), .unit = "sentences"};
  Builder g(program, "train");
  const Inputs in = inputs(g, sizes);
  const Tensor z = Gnmt(g, sizes).logits(in);
  g.output("logits", z);
  g.loss("ce", g.softmax_cross_entropy(z, in.tgt_out, SoftmaxCrossEntropy{.smoothing = 0.1, .ignore = Gnmt::kPad}));
  // 4.5 million pairs, six epochs of 1,024: 26,368 steps.
  g.update({.optimizer = {.kind = Optimizer::Kind::adam},
            .schedule = {.kind = Schedule::Kind::exp_warmup_step,
                         .base = 2e-3,
                         .factor = 0.5,
                         .warmup = 200,
                         .total = 26'368,
                         .decay_from = 2.0 / 3.0,
                         .decays = 4},
            .clip_norm = 5.0});
  for (Parameter& p : program.parameters) {
    if (p.name.find("normalize_") != std::string::npos) continue;
    const int64_t zero_row = p.init.zero_row;
    p.init = p.name.find("bias_hh") != std::string::npos ? Init{} : Init::uniform(0.1);
    p.init.zero_row = zero_row;
  }
  program.step = {{.phase = "train"}};
  return program;
}

constexpr Expected kCanonical = {26'943'517, 26'943'517, 0, 354'905'600, 2'129'433'600};
constexpr Expected kSmall = {547'792, 547'792, 0, 5'806'080, 34'836'480};
constexpr Expected kGnmt = {160'671'297, 160'671'297, 0, 3'187'968'000, 19'127'808'000};

Config luong(std::string name, std::string note, Expected expected, const Sizes& sizes) {
  return {.name = name,
          .note = std::move(note),
          .expected = expected,
          .layers = 4,
          .program = [=] { return luong(name, sizes); },
          .judge = "translation"};
}
Config gnmt(std::string name, std::string note, Expected expected, const Sizes& sizes) {
  return {.name = name,
          .note = std::move(note),
          .expected = expected,
          .layers = 8,
          .program = [=] { return gnmt(name, sizes); },
          .tiny = "gnmt_v2_tiny",
          .text = "gnmt",
          .judge = "translation"};
}

}  // namespace

Model seq2seq() {
  const Sizes tiny = {.width = 16, .source_words = 67, .target_words = 61, .source = 7, .target = 6};
  const Sizes small = {.width = 64, .source_words = 2'000, .target_words = 2'000, .source = 20, .target = 20};
  const Sizes large = {.width = 1024, .source_words = 32'320, .target_words = 32'320};
  const Sizes gnmt_tiny = {.width = 16, .source_words = 64, .target_words = 64, .source = 7, .target = 6};
  Sizes plain;
  plain.dropout = 0;
  return {
      .name = "seq2seq",
      .title = "Seq2Seq",
      .domain = "translation",
      .dominant_layer = "lstm",
      .dataset = "IWSLT15 English-Vietnamese",
      .unit = "sentences",
      .sweep = {4, 8, 16, 32, 64, 128},
      .configs = {luong("canonical", "2 + 2 LSTM layers of 512, attention fed back, 25 words", kCanonical, {}),
                  luong("nodrop", "canonical without dropout", kCanonical, plain),
                  gnmt("gnmt_v2", "GNMT: 4 + 4 LSTM layers of 1024, additive attention", kGnmt, large),
                  luong("tiny", "width 16, 7 and 6 words: for tests", {13'581, 13'581, 0, 71'200, 427'200}, tiny),
                  gnmt("gnmt_v2_tiny", "GNMT of width 16: for tests", {26'337, 26'337, 0, 157'248, 943'488}, gnmt_tiny),
                  luong("small", "width 64, 20 words of 2,000: learns the small set messages-vi in minutes", kSmall,
                        small)},
  };
}

}  // namespace tbd
