// A decoder-only language model of today: LLaMA. Touvron et al. 2023, arXiv:2302.13971; grouped heads as in
// arXiv:2307.09288. Names of transformers' LlamaForCausalLM with tied embeddings; sizes are this project's.
#include "graph/builder.h"
#include "models/model.h"

namespace tbd {
namespace {

struct Sizes {
  int64_t layers = 12, width = 768, heads = 12, kv_heads = 4, hidden = 2048;
  int64_t vocabulary = 32'000, length = 512;
  int64_t head() const { return width / heads; }
};

class Decoder {
 public:
  Decoder(Builder& g, const Sizes& sizes) : g_(g), sizes_(sizes) {}

  // ids (N, T) -> logits (N, T, V), by the embedding's own table.
  Tensor logits(const Tensor& ids) {
    const auto scope = g_.scope("model");
    const Tensor table = g_.parameter("embed_tokens.weight", {sizes_.vocabulary, sizes_.width});
    Tensor x = g_.embedding(ids, table);
    for (int64_t i = 0; i < sizes_.layers; ++i) x = layer(cat("layers.", i), x);
    return g_.linear(norm("norm", x), table);
  }

 private:
  Tensor norm(std::string_view name, const Tensor& x) { return g_.rms_norm(name, x, {.eps = 1e-5}); }
  Tensor linear(std::string_view name, const Tensor& x, int64_t out) {
    return g_.linear(name, x, {.out = out, .bias = false});
  }

  // x += o(attention(norm(x))); x += down(silu(gate(y)) up(y)), y = norm(x)
  Tensor layer(std::string_view name, Tensor x) {
    const auto scope = g_.scope(name);
    x = g_.add(x, attention(norm("input_layernorm", x)));
    return g_.add(x, feed_forward(norm("post_attention_layernorm", x)));
  }

  Tensor rotated(std::string_view name, const Tensor& x, int64_t heads) {
    const Tensor y = linear(name, x, heads * sizes_.head());
    const Tensor split = g_.reshape(y, {0, 0, heads, sizes_.head()});
    return g_.reshape(g_.rotary(split), {0, 0, heads * sizes_.head()});
  }
  Tensor attention(const Tensor& x) {
    const auto scope = g_.scope("self_attn");
    const Tensor q = rotated("q_proj", x, sizes_.heads);
    const Tensor k = rotated("k_proj", x, sizes_.kv_heads);
    const Tensor v = linear("v_proj", x, sizes_.kv_heads * sizes_.head());
    const Tensor y = g_.attention(q, k, v, {.heads = sizes_.heads, .kv_heads = sizes_.kv_heads, .causal = true});
    return linear("o_proj", y, sizes_.width);
  }

  Tensor feed_forward(const Tensor& x) {
    const auto scope = g_.scope("mlp");
    const Tensor gate = g_.silu(linear("gate_proj", x, sizes_.hidden));
    return linear("down_proj", g_.mul(gate, linear("up_proj", x, sizes_.hidden)), sizes_.width);
  }

  Builder& g_;
  const Sizes& sizes_;
};

// Decay on matrices alone; the groups name the parameters in the order of the phase.
Update update(const Builder& g) {
  ParameterGroup norms;
  for (const std::string& name : g.parameters())
    if (name.find("norm") != std::string::npos) norms.parameters.push_back(name);
  return {.optimizer = {.kind = Optimizer::Kind::adamw, .beta1 = 0.9, .beta2 = 0.95, .epsilon = 1e-8},
          .groups = {{.weight_decay = 0.1}, norms},
          .schedule = {.kind = Schedule::Kind::cosine, .base = 3e-4, .warmup = 1'000, .total = 50'000},
          .clip_norm = 1.0};
}

Program program(std::string config, const Sizes& sizes) {
  Program program = {.model = "llama", .config = std::move(config), .unit = "tokens"};
  Builder g(program, "train");
  const Tensor ids = g.input("ids", {Builder::batch(), sizes.length}, DType::i32);
  const Tensor labels = g.input("labels", {Builder::batch(), sizes.length}, DType::i32);
  const Tensor z = Decoder(g, sizes).logits(ids);
  g.output("logits", z);
  g.loss("ce", g.softmax_cross_entropy(z, labels), 1.0 / static_cast<double>(sizes.length));
  g.update(update(g));
  for (Parameter& p : program.parameters)
    if (p.shape.rank() == 2) p.init = Init::normal(0.02);
  program.step = {{.phase = "train"}};
  return program;
}

}  // namespace

Model llama() {
  const Sizes tiny = {
      .layers = 2, .width = 32, .heads = 4, .kv_heads = 2, .hidden = 64, .vocabulary = 258, .length = 16};
  return {
      .name = "llama",
      .title = "LLaMA, 100 million parameters",
      .domain = "language modelling",
      .dominant_layer = "linear",
      .dataset = "English text",
      .unit = "tokens",
      .sweep = {1, 2, 4, 8, 16, 32, 64},
      .configs = {{"canonical",
                   "12 layers of 768, 12 query and 4 key heads, 512 tokens",
                   {100'092'672, 100'092'672, 0, 56'069'455'872, 336'416'735'232},
                   12,
                   [] { return program("canonical", {}); }},
                  {"tiny",
                   "2 layers of 32, 16 tokens: for tests",
                   {26'848, 26'848, 0, 459'776, 2'758'656},
                   2,
                   [tiny] { return program("tiny", tiny); }}},
  };
}

}  // namespace tbd
