// Transformer. Vaswani et al. 2017, arXiv:1706.03762, with the layer norms before the sub-layers, in the form and with
// the names of fairseq's `transformer` with one shared embedding.
#include <cmath>

#include "graph/builder.h"
#include "models/model.h"

namespace tbd {
namespace {

constexpr int64_t kPad = 1;

struct Sizes {
  int64_t layers = 6, width = 512, hidden = 2048, heads = 8;
  int64_t vocabulary = 33'708, source = 25, target = 25;
  bool post_norm = false;
  double beta2 = 0.98, noam = 1, warmup = 16'000;
  int64_t accumulate = 1;
};

class Translator {
 public:
  Translator(Builder& g, const Sizes& sizes)
      : g_(g),
        sizes_(sizes),
        table_(g.parameter("encoder.embed_tokens.weight", {sizes.vocabulary, sizes.width},
                           Init::normal(1 / std::sqrt(static_cast<double>(sizes.width))))) {}

  // src (N, S), tgt_in (N, T) -> logits (N, T, V)
  Tensor logits(const Tensor& src, const Tensor& tgt_in) {
    const Tensor mask = g_.affine(g_.equals(src, kPad), -1e4);
    const Tensor memory = encoded(src, mask);
    return g_.linear(decoded(tgt_in, memory, mask), table_);
  }

 private:
  // sqrt(d) E[token] + positions, which start at 2 and are 0 on padding; then dropout.
  Tensor embedded(const Tensor& ids) {
    const Tensor x = g_.affine(g_.embedding(ids, table_, kPad), std::sqrt(static_cast<double>(sizes_.width)));
    const Tensor valid = g_.affine(g_.equals(ids, kPad), -1, 1);
    return g_.dropout(g_.add(x, g_.sinusoid(valid, {.first = kPad + 1, .width = sizes_.width})), 0.1);
  }

  Tensor encoded(const Tensor& src, const Tensor& mask) {
    const auto scope = g_.scope("encoder");
    Tensor x = embedded(src);
    for (int64_t i = 0; i < sizes_.layers; ++i) {
      const auto layer = g_.scope(cat("layers.", i));
      x = residual("self_attn_layer_norm", x,
                   [&](const Tensor& y) { return attention("self_attn", y, y, mask, false); });
      x = residual("final_layer_norm", x, [&](const Tensor& y) { return feed_forward(y); });
    }
    return sizes_.post_norm ? x : g_.layer_norm("layer_norm", x);
  }

  Tensor decoded(const Tensor& tgt, const Tensor& memory, const Tensor& mask) {
    const auto scope = g_.scope("decoder");
    Tensor x = embedded(tgt);
    for (int64_t i = 0; i < sizes_.layers; ++i) {
      const auto layer = g_.scope(cat("layers.", i));
      x = residual("self_attn_layer_norm", x,
                   [&](const Tensor& y) { return attention("self_attn", y, y, std::nullopt, true); });
      x = residual("encoder_attn_layer_norm", x,
                   [&](const Tensor& y) { return attention("encoder_attn", y, memory, mask, false); });
      x = residual("final_layer_norm", x, [&](const Tensor& y) { return feed_forward(y); });
    }
    return sizes_.post_norm ? x : g_.layer_norm("layer_norm", x);
  }

  // x + dropout(f(norm(x))), or norm(x + dropout(f(x))).
  template <class F>
  Tensor residual(std::string_view norm, const Tensor& x, const F& f) {
    if (sizes_.post_norm) return g_.layer_norm(norm, g_.add(x, g_.dropout(f(x), 0.1)));
    return g_.add(x, g_.dropout(f(g_.layer_norm(norm, x)), 0.1));
  }

  Tensor projected(const char* name, const Tensor& x) {
    const double gain = std::string_view(name) == "out_proj" ? 1 : std::sqrt(0.5);
    const Tensor y = g_.linear(name, x, {.out = sizes_.width});
    g_.init(cat(name, ".weight"), Init::uniform(gain * std::sqrt(3.0 / static_cast<double>(sizes_.width))));
    if (gain == 1) g_.init(cat(name, ".bias"), {});
    return y;
  }
  Tensor attention(std::string_view name, const Tensor& x, const Tensor& memory, const std::optional<Tensor>& mask,
                   bool causal) {
    const auto scope = g_.scope(name);
    const Tensor q = projected("q_proj", x);
    const Tensor k = projected("k_proj", memory);
    const Tensor v = projected("v_proj", memory);
    return projected("out_proj",
                     g_.attention(q, k, v, {.heads = sizes_.heads, .causal = causal, .dropout = 0.1}, mask));
  }

  Tensor feed_forward(const Tensor& x) {
    const Tensor y = g_.dropout(g_.relu(g_.linear("fc1", x, {.out = sizes_.hidden})), 0.1);
    return g_.linear("fc2", y, {.out = sizes_.width});
  }

  Builder& g_;
  const Sizes& sizes_;
  Tensor table_;
};

Program program(std::string config, const Sizes& sizes) {
  Program program = {.model = "transformer", .config = std::move(config), .unit = "target tokens"};
  Builder g(program, "train");
  const Tensor src = g.input("src", {Builder::batch(), sizes.source}, DType::i32);
  const Tensor tgt_in = g.input("tgt_in", {Builder::batch(), sizes.target}, DType::i32);
  const Tensor tgt_out = g.input("tgt_out", {Builder::batch(), sizes.target}, DType::i32);
  const Tensor z = Translator(g, sizes).logits(src, tgt_in);
  g.output("logits", z);
  using Loss = SoftmaxCrossEntropy;
  g.loss("ce",
         g.softmax_cross_entropy(z, tgt_out, Loss{.smoothing = 0.1, .spread = Loss::Spread::others, .ignore = kPad}));
  if (sizes.accumulate > 1) g.accumulate(sizes.accumulate);
  g.update({.optimizer = {.kind = Optimizer::Kind::adam, .beta1 = 0.9, .beta2 = sizes.beta2, .epsilon = 1e-9},
            .schedule = {.kind = Schedule::Kind::noam,
                         .base = sizes.noam,
                         .warmup = sizes.warmup,
                         .width = static_cast<double>(sizes.width)}});
  program.step = {{.phase = "train"}};
  return program;
}

Config config(std::string name, std::string note, Expected expected, Sizes sizes = {}) {
  return {.name = name,
          .note = std::move(note),
          .expected = expected,
          .layers = 2 * sizes.layers,
          .program = [name, sizes] { return program(name, sizes); },
          .text = "fairseq-shared",
          .judge = "translation"};
}

// train_flops = 6 forward MACs: the first layers are fed by embeddings, which are trained.
constexpr Expected kBase = {61'399'040, 61'399'040, 0, 1'543'987'200, 9'263'923'200};
constexpr Expected kSmall = {1'182'208, 1'182'208, 0, 29'048'832, 174'292'992};
constexpr Expected kBig = {210'878'464, 210'878'464, 0, 5'289'984'000, 31'739'904'000};
constexpr Expected kPostNorm = {61'396'992, 61'396'992, 0, 1'543'987'200, 9'263'923'200};

}  // namespace

Model transformer() {
  const Sizes big = {.width = 1024, .hidden = 4096, .heads = 16};
  const Sizes tiny = {.layers = 2, .width = 32, .hidden = 64, .heads = 4, .vocabulary = 96, .source = 8, .target = 7};
  const Sizes small = {
      .layers = 2, .width = 128, .hidden = 512, .heads = 4, .vocabulary = 2'000, .source = 24, .target = 24};
  return {
      .name = "transformer",
      .title = "Transformer",
      .domain = "translation",
      .dominant_layer = "linear",
      .dataset = "WMT English-German",
      .unit = "target tokens",
      .sweep = {2, 5, 10, 20, 40, 81, 163},  // 64 to 4096 target token slots at 25 a sentence
      .configs = {config("canonical", "base: 6 + 6 layers of 512, norms before the sub-layers", kBase),
                  config("base", "another name of canonical", kBase), config("big", "6 + 6 layers of 1024", kBig, big),
                  config("postnorm", "norms after the sub-layers, as first published", kPostNorm, {.post_norm = true}),
                  config("onmt", "OpenNMT's recipe: two micro-batches, noam 2, 8000 steps of warm-up", kBase,
                         {.beta2 = 0.998, .noam = 2, .warmup = 8'000, .accumulate = 2}),
                  config("tiny", "2 + 2 layers of 32, 8 and 7 tokens: for tests",
                         {45'952, 45'952, 0, 350'336, 2'102'016}, tiny),
                  config("small", "2 + 2 layers of 128, 24 tokens: learns the small set messages-de in minutes", kSmall,
                         small)},
  };
}

}  // namespace tbd
