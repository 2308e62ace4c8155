// Layers of every form.
#include "toy_parts.h"

namespace tbd::toys {

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

}  // namespace tbd::toys
