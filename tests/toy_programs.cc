#include "toy_programs.h"

#include <algorithm>
#include <cmath>

#include "graph/builder.h"

namespace tbd {
namespace {

Program named(std::string config) { return {.model = "toy", .config = std::move(config)}; }

Tensor features(Builder& g, int64_t width) { return g.input("x", {Builder::batch(), width}); }
Tensor labels(Builder& g) { return g.input("label", {Builder::batch()}, DType::i32); }

void classify(Builder& g, const Tensor& logits, const Tensor& label) {
  g.output("logits", logits);
  g.loss("ce", g.softmax_cross_entropy(logits, label));
}

// (N, 32) -> (N, 10)
Program mlp20() {
  Program program = named("mlp20");
  Builder g(program, "train");
  Tensor x = features(g, 32);
  const Tensor label = labels(g);
  for (int layer = 0; layer < 19; ++layer) x = g.relu(g.linear(cat("layers.", layer), x, {.out = 32}));
  classify(g, g.linear("layers.19", x, {.out = 10}), label);
  g.update({.optimizer = {.momentum = 0.9}, .schedule = {.base = 0.01}});
  program.step = {{.phase = "train"}};
  return program;
}

// (N, 4, 9, 10) -> (N, 5)
Program conv_forms() {
  Program program = named("conv_forms");
  Builder g(program, "train");
  Tensor x = g.input("image", {Builder::batch(), 4, 9, 10});
  const Tensor label = labels(g);
  x = g.relu(g.conv2d("grouped", x, {.out = 8, .kernel = 3, .pads = {1, 1, 1, 1}, .groups = 2, .bias = true}));
  x = g.relu(g.conv2d("same", x, {.out = 8, .kernel = 3, .stride = 2, .pads = {0, 1, 0, 1}}));
  x = g.tanh(
      g.conv2d("depthwise", x, {.out = 8, .kernel = {3, 2}, .pads = {2, 2, 1, 0}, .dilation = {2, 1}, .groups = 8}));
  x = g.conv2d("wide", x, {.out = 6, .kernel = {1, 3}, .stride = {1, 2}, .pads = {0, 0, 2, 1}, .bias = true});
  classify(g, g.linear("head", g.global_mean(x), {.out = 5}), label);
  g.accumulate(2);
  g.update({.optimizer = {.kind = Optimizer::Kind::adamw, .beta2 = 0.95},
            .groups = {{.weight_decay = 0.1}, {{"grouped.bias", "wide.bias", "head.bias"}, 0, 0.5}},
            .schedule = {.kind = Schedule::Kind::cosine, .base = 0.01, .warmup = 3, .total = 20},
            .clip_norm = 1,
            .ema = 0.99});
  program.step = {{.phase = "train"}};
  return program;
}

// (N, 6, 8, 8) -> (N, 3)
Program norms() {
  Program program = named("norms");
  Builder g(program, "train");
  Tensor x = g.input("image", {Builder::batch(), 6, 8, 8});
  const Tensor label = labels(g);
  x = g.relu(g.batch_norm("running", x));
  x = g.max_pool(x, {.kernel = 3, .stride = 2, .pads = {0, 1, 0, 1}});
  x = g.batch_norm("batch", g.conv2d("conv1", x, {.out = 6, .kernel = 1}), {.stats = BatchNorm::Stats::batch});
  x = g.avg_pool(x, {.kernel = 2, .pads = {1, 0, 0, 1}, .include_pad = false});
  x = g.relu(
      g.batch_norm("frozen", g.conv2d("conv2", x, {.out = 6, .kernel = 1}), {.stats = BatchNorm::Stats::frozen}));
  x = g.batch_norm("plain", x, {.eps = 1e-3, .momentum = 0.05, .affine = false});
  x = g.avg_pool(g.group_norm("group", x, {.groups = 3}), {.kernel = 2, .stride = 2});
  x = g.layer_norm("layer", g.flatten(x), {.eps = 1e-6});
  classify(g, g.linear("head", x, {.out = 3}), label);
  g.update({.optimizer = {.momentum = 0.9, .nesterov = true},
            .groups = {{.weight_decay = 1e-3}},
            .schedule = {.kind = Schedule::Kind::step,
                         .base = 0.05,
                         .batch_reference = 8,
                         .unit = Schedule::Unit::epoch,
                         .epoch_samples = 16,
                         .milestones = {1, 2}}});
  program.step = {{.phase = "train"}};
  return program;
}

// (N, 6) -> (N, 6); every elementwise function once.
Program elementwise() {
  using F = Unary::Function;
  Program program = named("elementwise");
  Builder g(program, "train");
  const Tensor x = features(g, 6);
  const Tensor target = g.input("target", {Builder::batch(), 6});
  Tensor y = g.unary(g.linear("fc1", x, {.out = 6}), F::leaky_relu, 0.2);
  const Tensor scale = g.mean(g.sigmoid(y), {1}, true);  // (N, 1)
  const Tensor positive = g.affine(g.unary(y, F::exp), 0.5, 1);
  const Tensor root = g.sqrt(positive), log = g.unary(positive, F::log);
  y = g.mul(g.sub(root, log), scale);
  const Tensor size = g.affine(g.unary(y, F::abs), 1, 1);
  y = g.div(g.add(y, g.unary(x, F::neg)), size);
  y = g.linear("fc2", y, {.out = 6, .bias = false});
  g.output("y", y);
  g.loss("error", g.squared_error(y, target), 0.5);
  g.loss("size", g.sum(g.square(y)), 0.01);
  g.update({.optimizer = {.kind = Optimizer::Kind::adam, .epsilon = 1e-6},
            .groups = {{.weight_decay = 0.01}},
            .schedule = {.kind = Schedule::Kind::exp_decay, .base = 0.01, .epoch_samples = 8, .factor = 0.9}});
  program.step = {{.phase = "train"}};
  return program;
}

// (N, 5, 8): one self-attention without softmax between two uses of one weight.
Program tied() {
  Program program = named("tied");
  Builder g(program, "train");
  const Tensor x = g.input("x", {Builder::batch(), 5, 8});
  const Tensor target = g.input("target", {Builder::batch(), 5, 8});
  const Tensor h = g.dropout(g.linear("shared", x, {.out = 8}), 0.25);
  const Tensor scores = g.affine(g.matmul(h, h, {.transpose_b = true}), 1.0 / 8);
  const Tensor mixed = g.dropout(g.matmul(g.tanh(scores), h), 0.1);
  const Tensor y = g.linear("shared", g.layer_norm("norm", g.add(mixed, x)), {.out = 8});
  g.output("y", y);
  g.loss("error", g.squared_error(y, target));
  g.update({.optimizer = {.kind = Optimizer::Kind::lamb, .epsilon = 1e-6},
            .groups = {{.weight_decay = 0.01}, {{"shared.bias", "norm.weight", "norm.bias"}}},
            .schedule = {.kind = Schedule::Kind::linear_decay, .base = 0.01, .warmup = 0.2, .total = 10}});
  program.step = {{.phase = "train"}};
  return program;
}

// (N, 8) -> (N, 3)
Program frozen() {
  Program program = named("frozen");
  Builder g(program, "train");
  const Tensor x = features(g, 8);
  const Tensor label = labels(g);
  const Tensor trunk = g.stop_gradient(g.relu(g.linear("trunk", x, {.out = 8})));
  const Tensor fixed = g.relu(g.linear("fixed", g.linear("adapter", trunk, {.out = 8}), {.out = 8}));
  classify(g, g.linear("head", fixed, {.out = 3}), label);
  g.update({.groups = {{{"adapter.weight", "adapter.bias", "head.weight", "head.bias"}}}, .schedule = {.base = 0.1}});
  program.step = {{.phase = "train"}};
  return program;
}

// (N, 8): a student learns the class that a fixed teacher ranks first.
Program host_labels() {
  Program program = named("host_labels");
  Builder g(program, "train");
  const Tensor x = features(g, 8);
  const Tensor teacher = g.linear("teacher", x, {.out = 4});
  const Tensor top = g.host_call("top", {teacher}, {.function = "top_rows", .results = {{{0, 1}, DType::i32}}}).front();
  const Tensor label = g.reshape(top, {0});
  classify(g, g.linear("student", g.tanh(g.linear("hidden", x, {.out = 8})), {.out = 4}), label);
  g.update({.optimizer = {.momentum = 0.5},
            .groups = {{{"hidden.weight", "hidden.bias", "student.weight", "student.bias"}}},
            .schedule = {.kind = Schedule::Kind::poly, .base = 0.1, .warmup = 0.1, .total = 20, .degree = 0.5}});
  program.step = {{.phase = "train"}};
  return program;
}

constexpr int64_t kImage = 8;

// (N, 4) -> (N, 3, 8, 8)
Tensor generate(Builder& g, const Tensor& z) {
  const auto scope = g.scope("Generator");
  const Tensor h = g.reshape(g.linear("input", z, {.out = 4 * kImage * kImage}), {0, 4, kImage, kImage});
  const Tensor n = g.relu(g.batch_norm("norm", h, {.stats = BatchNorm::Stats::batch}));
  return g.tanh(g.conv2d("output", n, {.out = 3, .kernel = 3, .pads = {1, 1, 1, 1}, .bias = true}));
}

// (N, 3, 8, 8) -> (N, 1)
Tensor criticise(Builder& g, const Tensor& image) {
  const auto scope = g.scope("Discriminator");
  const Tensor x = g.conv2d("input", image, {.out = 4, .kernel = 3, .pads = {1, 1, 1, 1}, .bias = true});
  const Tensor y = g.conv2d("conv", g.relu(g.group_norm("norm", x)), {.out = 4, .kernel = 3, .pads = {1, 1, 1, 1}});
  const Tensor z = g.avg_pool(g.add(x, y), {.kernel = 2, .stride = 2});
  return g.linear("output", g.flatten(g.relu(z)), {.out = 1});
}

Update adam_of(const std::vector<std::string>& all, std::string_view prefix) {
  Update update = {.optimizer = {.kind = Optimizer::Kind::adam, .beta1 = 0, .beta2 = 0.9},
                   .groups = {{}},
                   .schedule = {.base = 1e-3}};
  for (const std::string& name : all)
    if (name.starts_with(prefix)) update.groups[0].parameters.push_back(name);
  return update;
}

void generator_phase(Program& program) {
  Builder g(program, "generator");
  const Tensor fake = generate(g, g.input("z", {Builder::batch(), 4}));
  g.output("fake", fake);
  g.loss("generator", g.affine(g.sum(criticise(g, fake)), -1));
  g.update(adam_of(g.parameters(), "Generator"));
}

// Gulrajani et al. 2017, arXiv:1704.00028, Algorithm 1.
void critic_phase(Program& program) {
  Builder g(program, "critic");
  const Tensor real = g.input("real", {Builder::batch(), 3, kImage, kImage});
  const Tensor z = g.input("z", {Builder::batch(), 4});
  const Tensor alpha = g.input("alpha", {Builder::batch(), 1, 1, 1});
  const Tensor fake = g.stop_gradient(generate(g, z));
  const Tensor d_real = criticise(g, real), d_fake = criticise(g, fake);
  const Tensor between = g.add(real, g.mul(alpha, g.sub(fake, real)));
  const Tensor slope = g.input_gradient(criticise(g, between), between);
  const Tensor norm = g.sqrt(g.affine(g.sum(g.square(slope), {1, 2, 3}), 1, 1e-12));
  g.output("d_real", d_real);
  g.output("d_fake", d_fake);
  g.output("gradient_norm", norm);
  const Tensor fake_sum = g.sum(d_fake), real_sum = g.sum(d_real);
  g.loss("wasserstein", g.sub(fake_sum, real_sum));
  g.loss("penalty", g.sum(g.square(g.affine(norm, 1, -1))), 10);
  g.update(adam_of(g.parameters(), "Discriminator"));
}

Program penalty() {
  Program program = named("penalty");
  generator_phase(program);
  critic_phase(program);
  program.step = {{.phase = "generator", .from_step = 2}, {.phase = "critic", .repeat = 3}};
  return program;
}

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

}  // namespace

std::vector<std::pair<std::string, Program>> toy_programs() {
  std::vector<std::pair<std::string, Program>> out;
  for (Program program : {mlp20(), conv_forms(), norms(), elementwise(), tied(), frozen(), host_labels(), penalty(),
                          tokens(), recurrent()})
    out.emplace_back(program.config, std::move(program));
  return out;
}

Program toy_program(std::string_view name) {
  std::vector<std::string> known;
  for (auto& [each, program] : toy_programs()) {
    if (each == name) return program;
    known.push_back(each);
  }
  fail(ErrorKind::not_found, unknown_name("toy program", name, known));
}

}  // namespace tbd
