// BERT. Devlin et al. 2019, arXiv:1810.04805; pre-training by LAMB, You et al. 2020, arXiv:1904.00962. Names of
// transformers' BertForPreTraining and BertForQuestionAnswering.
#include "graph/builder.h"
#include "models/model.h"

namespace tbd {
namespace {

struct Sizes {
  int64_t layers = 24, width = 1024, heads = 16, hidden = 4096;
  int64_t vocabulary = 30'522, positions = 512, types = 2;
  int64_t length = 128, masked = 20;
};

class Bert {
 public:
  Bert(Builder& g, const Sizes& sizes) : g_(g), sizes_(sizes) {}

  // ids, types, mask (N, S) -> (N, S, width)
  Tensor encoded(const Tensor& ids, const Tensor& types, const Tensor& mask) {
    const auto scope = g_.scope("bert");
    Tensor x = embedded(ids, types);
    const Tensor hidden_keys = g_.affine(g_.equals(mask, 0), -1e4);
    for (int64_t i = 0; i < sizes_.layers; ++i) {
      const auto layer = g_.scope(cat("encoder.layer.", i));
      x = norm("attention.output.LayerNorm", g_.add(x, attention(x, hidden_keys)));
      x = norm("output.LayerNorm", g_.add(x, feed_forward(x)));
    }
    return x;
  }

  // The first token's state, through a layer of its own.
  Tensor pooled(const Tensor& x) {
    const Tensor first = g_.reshape(g_.slice(x, {.axis = 1, .begin = 0, .end = 1}), {0, sizes_.width});
    return g_.tanh(g_.linear("bert.pooler.dense", first, {.out = sizes_.width}));
  }

  // Logits of the masked positions (N, P, V), by the word embedding's own table.
  Tensor masked_words(const Tensor& x, const Tensor& positions) {
    const auto scope = g_.scope("cls.predictions");
    Tensor y = g_.gelu(g_.linear("transform.dense", g_.gather(x, positions), {.out = sizes_.width}));
    y = norm("transform.LayerNorm", y);
    const Tensor bias = g_.parameter("bias", {sizes_.vocabulary});
    return g_.linear(y, *words_, bias);
  }

 private:
  Tensor norm(std::string_view name, const Tensor& x) { return g_.layer_norm(name, x, {.eps = 1e-12}); }

  Tensor embedded(const Tensor& ids, const Tensor& types) {
    const auto scope = g_.scope("embeddings");
    words_ = g_.parameter("word_embeddings.weight", {sizes_.vocabulary, sizes_.width});
    const Tensor word = g_.embedding(ids, *words_, 0);
    const Tensor table = g_.parameter("position_embeddings.weight", {sizes_.positions, sizes_.width});
    const Tensor used = g_.slice(table, {.axis = 0, .begin = 0, .end = sizes_.length});
    const Tensor position = g_.reshape(used, {1, sizes_.length, sizes_.width});
    const Tensor type = g_.embedding("token_type_embeddings", types, {.rows = sizes_.types, .width = sizes_.width});
    return g_.dropout(norm("LayerNorm", g_.add(g_.add(word, type), position)), 0.1);
  }

  Tensor attention(const Tensor& x, const Tensor& mask) {
    const auto scope = g_.scope("attention");
    const Tensor q = g_.linear("self.query", x, {.out = sizes_.width});
    const Tensor k = g_.linear("self.key", x, {.out = sizes_.width});
    const Tensor v = g_.linear("self.value", x, {.out = sizes_.width});
    const Tensor y = g_.attention(q, k, v, {.heads = sizes_.heads, .dropout = 0.1}, mask);
    return g_.dropout(g_.linear("output.dense", y, {.out = sizes_.width}), 0.1);
  }

  Tensor feed_forward(const Tensor& x) {
    const Tensor y = g_.gelu(g_.linear("intermediate.dense", x, {.out = sizes_.hidden}));
    return g_.dropout(g_.linear("output.dense", y, {.out = sizes_.width}), 0.1);
  }

  Builder& g_;
  const Sizes& sizes_;
  std::optional<Tensor> words_;
};

struct Tokens {
  Tensor ids, types, mask;
};
Tokens tokens(Builder& g, const Sizes& sizes) {
  const std::vector<Dim> shape = {Builder::batch(), sizes.length};
  return {g.input("input_ids", shape, DType::i32), g.input("token_type_ids", shape, DType::i32),
          g.input("attention_mask", shape, DType::i32)};
}

// Decay on matrices; `trained` is what a parameter's name must begin with.
std::vector<ParameterGroup> groups(const Builder& g, std::string_view trained = "") {
  ParameterGroup decayed = {.weight_decay = 0.01}, plain;
  for (const std::string& name : g.parameters()) {
    if (!name.starts_with(trained)) continue;
    const bool excluded = name.find("bias") != std::string::npos || name.find("LayerNorm") != std::string::npos;
    (excluded ? plain : decayed).parameters.push_back(name);
  }
  return {decayed, plain};
}

// N(0, 0.02) for matrices, biases 0, norms as they are.
void set_initial(Program& program) {
  for (Parameter& p : program.parameters) {
    const int64_t zero_row = p.init.zero_row;
    if (p.shape.rank() == 2) {
      p.init = Init::normal(0.02);
      p.init.zero_row = zero_row;
    }
    if (p.name.ends_with(".bias") && p.name.find("LayerNorm") == std::string::npos) p.init = {};
  }
}

// lr 6e-3 at 65,536 sequences, by the root of the batch; phase 2 continues at length 512.
Program pretraining(std::string config, const Sizes& sizes, bool second = false) {
  Program program = {.model = "bert", .config = std::move(config), .unit = "sequences"};
  Builder g(program, "train");
  const Tokens in = tokens(g, sizes);
  const Tensor positions = g.input("masked_positions", {Builder::batch(), sizes.masked}, DType::i32);
  const Tensor labels = g.input("masked_labels", {Builder::batch(), sizes.masked}, DType::i32);
  const Tensor weights = g.input("masked_weights", {Builder::batch(), sizes.masked});
  const Tensor next = g.input("next_label", {Builder::batch()}, DType::i32);
  Bert bert(g, sizes);
  const Tensor x = bert.encoded(in.ids, in.types, in.mask);
  const Tensor words = bert.masked_words(x, positions);
  const Tensor is_next = g.linear("cls.seq_relationship", bert.pooled(x), {.out = 2});
  g.output("mlm_logits", words);
  g.output("nsp_logits", is_next);
  g.loss("mlm", g.softmax_cross_entropy(words, labels, SoftmaxCrossEntropy{}, weights));
  g.loss("nsp", g.softmax_cross_entropy(is_next, next));
  g.update({.optimizer = {.kind = Optimizer::Kind::lamb, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-6},
            .groups = groups(g),
            .schedule = {.kind = Schedule::Kind::poly,
                         .base = second ? 4e-3 : 6e-3,
                         .batch_reference = second ? 32'768 : 65'536,
                         .batch_power = 0.5,
                         .warmup = second ? 0.128 : 0.2843,
                         .total = second ? 1'563.0 : 7'038.0,
                         .degree = 0.5}});
  set_initial(program);
  program.step = {{.phase = "train"}};
  return program;
}

// SQuAD v1.1: windows of 384 tokens; 3 epochs over the 88,524 of its training set. frozen: the added layer alone.
Program question_answering(std::string config, const Sizes& sizes, bool frozen) {
  Program program = {.model = "bert", .config = std::move(config), .unit = "sequences"};
  Builder g(program, "train");
  const Tokens in = tokens(g, sizes);
  const Tensor start = g.input("start", {Builder::batch()}, DType::i32);
  const Tensor end = g.input("end", {Builder::batch()}, DType::i32);
  Tensor x = Bert(g, sizes).encoded(in.ids, in.types, in.mask);
  if (frozen) x = g.stop_gradient(x);
  const Tensor both = g.linear("qa_outputs", x, {.out = 2});
  const auto part = [&](int64_t i) {
    return g.reshape(g.slice(both, {.axis = 2, .begin = i, .end = i + 1}), {0, sizes.length});
  };
  const Tensor start_logits = part(0);
  const Tensor end_logits = part(1);
  g.output("start_logits", start_logits);
  g.output("end_logits", end_logits);
  const Tensor first = g.softmax_cross_entropy(start_logits, start);
  g.loss("span", g.add(first, g.softmax_cross_entropy(end_logits, end)), 0.5);
  g.update({.optimizer = {.kind = Optimizer::Kind::adamw, .epsilon = 1e-8, .bias_correction = false},
            .groups = groups(g, frozen ? "qa_outputs." : ""),
            .schedule = {.kind = Schedule::Kind::linear_decay,
                         .base = 3e-5,
                         .unit = Schedule::Unit::sample,
                         .warmup = 0.1,
                         .total = 3 * 88'524.0},
            .clip_norm = 1.0});
  set_initial(program);
  program.step = {{.phase = "train"}};
  return program;
}

constexpr Sizes kLarge = {}, kBase = {.layers = 12, .width = 768, .heads = 12, .hidden = 3072};
constexpr Sizes kTiny = {
    .layers = 2, .width = 32, .heads = 2, .hidden = 64, .vocabulary = 128, .positions = 64, .length = 16, .masked = 3};
constexpr Sizes kSmall = {.layers = 2,
                          .width = 128,
                          .heads = 2,
                          .hidden = 512,
                          .vocabulary = 2'000,
                          .positions = 64,
                          .length = 64,
                          .masked = 10};

Config pretraining(std::string name, std::string note, Expected expected, const Sizes& sizes, bool second = false) {
  return {name, std::move(note), expected, sizes.layers, [=] { return pretraining(name, sizes, second); }};
}
Config answering(std::string name, std::string note, Expected expected, Sizes sizes, bool frozen,
                 int64_t length = 384) {
  sizes.length = length;
  return {.name = name,
          .note = std::move(note),
          .expected = expected,
          .layers = sizes.layers,
          .program = [=] { return question_answering(name, sizes, frozen); },
          .tiny = frozen ? "squad_frozen_tiny" : "squad_tiny",
          .judge = "spans"};
}

constexpr Expected kLargeNumbers = {336'226'108, 336'226'108, 0, 40'107'124'736, 240'642'748'416};
constexpr Expected kPhase2Numbers = {336'226'108, 336'226'108, 0, 170'089'023'488, 1'020'534'140'928};
constexpr Expected kSmallNumbers = {696'786, 696'786, 0, 30'003'456, 180'020'736};
constexpr Expected kBaseNumbers = {110'106'428, 110'106'428, 0, 11'654'831'616, 69'928'989'696};

}  // namespace

Model bert() {
  Sizes second = kLarge, eights = kLarge;
  second.length = 512;
  second.masked = 80;
  eights.vocabulary = 30'528;
  return {
      .name = "bert",
      .title = "BERT",
      .domain = "language modelling",
      .dominant_layer = "linear",
      .dataset = "English text; SQuAD v1.1",
      .unit = "sequences",
      .mlperf = "bert",
      .sweep = {1, 2, 4, 8, 16, 24, 32, 64},
      .configs =
          {pretraining("canonical", "large, pre-training at 128 tokens, 20 of them masked", kLargeNumbers, kLarge),
           pretraining("large", "another name of canonical", kLargeNumbers, kLarge),
           pretraining("phase2", "large, pre-training at 512 tokens, 80 of them masked", kPhase2Numbers, second, true),
           pretraining("base", "12 layers of 768, pre-training at 128 tokens", kBaseNumbers, kBase),
           answering("squad", "large, questions on paragraphs of 384 tokens",
                     {334'094'338, 334'094'338, 0, 123'212'660'736, 739'275'964'416}, kLarge, false),
           answering("squad_base", "base, questions on paragraphs",
                     {108'893'186, 108'893'186, 0, 35'333'406'720, 212'000'440'320}, kBase, false),
           answering("squad_frozen", "large, the encoder frozen, the added layer trained",
                     {334'094'338, 2'050, 0, 123'212'660'736, 246'426'894'336}, kLarge, true),
           answering("squad_frozen_base", "base, the encoder frozen",
                     {108'893'186, 1'538, 0, 35'333'406'720, 70'667'993'088}, kBase, true),
           pretraining("v8", "large, the vocabulary padded to a multiple of 8",
                       {336'232'258, 336'232'258, 0, 40'107'247'616, 240'643'485'696}, eights),
           pretraining("tiny", "2 layers of 32, 16 tokens: for tests", {25'730, 25'730, 0, 311'360, 1'868'160}, kTiny),
           answering("squad_tiny", "tiny, questions on paragraphs", {23'426, 23'426, 0, 295'936, 1'775'616}, kTiny,
                     false, 16),
           answering("squad_frozen_tiny", "tiny, the encoder frozen", {23'426, 66, 0, 295'936, 593'920}, kTiny, true,
                     16),
           pretraining("small", "2 layers of 128, 64 tokens of 2,000: learns the small set prose in minutes",
                       kSmallNumbers, kSmall)},
  };
}

}  // namespace tbd
