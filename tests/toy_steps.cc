// Steps of every form: shared and frozen weights, host functions, two phases.
#include "toy_parts.h"

namespace tbd::toys {

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

namespace {

constexpr int64_t kImage = 8;

// (N, 4) -> (N, 3, 8, 8)
Tensor generate(Builder& g, const Tensor& z) {
  const auto scope = g.scope("Generator");
  const Tensor h = g.reshape(g.linear("input", z, {.out = kImage * kImage}), {0, 4, kImage / 2, kImage / 2});
  const Tensor n = g.relu(g.batch_norm("norm", g.upsample_nearest(h, 2), {.stats = BatchNorm::Stats::batch}));
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

}  // namespace

Program penalty() {
  Program program = named("penalty");
  generator_phase(program);
  critic_phase(program);
  program.step = {{.phase = "generator", .from_step = 2}, {.phase = "critic", .repeat = 3}};
  return program;
}

}  // namespace tbd::toys
