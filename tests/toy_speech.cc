// Steps on sound and on images that grow.
#include "toy_parts.h"

namespace tbd::toys {

namespace {

// Directions of gated units over (N, T, in), one after the other: (N, T, 2 hidden).
Tensor both_ways(Builder& g, std::string_view name, const Tensor& x, int64_t hidden, const Tensor& lengths) {
  const Tensor ahead = g.gru(name, x, {.hidden = hidden}, "_l0", lengths).y;
  const Tensor back = g.gru(name, x, {.hidden = hidden, .reverse = true}, "_l0", lengths).y;
  return g.concat({ahead, back}, 2);
}

}  // namespace

// (N, 1, 7, 12) -> (N, 6, 5)
Program speech() {
  Program program = named("speech");
  Builder g(program, "train");
  const Tensor sound = g.input("spect", {Builder::batch(), 1, 7, 12});
  const Tensor frames = g.input("frames", {Builder::batch()}, DType::i32);
  const Tensor text = g.input("labels", {Builder::batch(), 2}, DType::i32);
  const Tensor letters = g.input("label_len", {Builder::batch()}, DType::i32);
  const Tensor lengths = g.strided_length(frames, 2);
  Tensor x = g.conv2d("conv", sound, {.out = 3, .kernel = {5, 3}, .stride = 2, .pads = {2, 2, 1, 1}, .bias = true});
  x = g.sequence_mask(x, lengths, 3);
  x = g.sequence_mask(g.clamp(g.batch_norm("norm", x), {.low = -0.5, .high = 2}), lengths, 3);
  const Tensor rows = g.reshape(g.transpose(x, {0, 3, 1, 2}), {0, 6, -1});
  const Tensor y = both_ways(g, "rnn", rows, 3, lengths);
  const Tensor level = g.reshape(g.batch_norm("rows", g.reshape(y, {-1, 6})), {-1, 6, 6});
  const Tensor logits = g.linear("fc", level, {.out = 5, .bias = false});
  g.output("logits", logits);
  g.loss("ctc", g.ctc_loss(logits, lengths, text, letters));
  g.update({.optimizer = {.momentum = 0.9, .nesterov = true},
            .groups = {{.weight_decay = 1e-5}},
            .schedule = {.kind = Schedule::Kind::exp_decay,
                         .base = 0.01,
                         .unit = Schedule::Unit::epoch,
                         .epoch_samples = 20,
                         .factor = 0.9},
            .clip_norm = 400});
  program.step = {{.phase = "train"}};
  return program;
}

// (N, 3, 3, 3) -> (N, 7) shares and (N) values
Program growing() {
  Program program = named("growing");
  Builder g(program, "train");
  const Tensor x = g.input("x", {Builder::batch(), 3, 3, 3});
  const Tensor shares = g.input("shares", {Builder::batch(), 7});
  const Tensor value = g.input("value", {Builder::batch()});
  Tensor y = g.upsample_nearest(g.relu(g.conv2d("conv", x, {.out = 4, .kernel = 3, .pads = {1, 1, 1, 1}})), 2);
  y = g.conv_transpose2d("grow", y, {.out = 2, .kernel = 3, .stride = 2, .pads = {1, 1, 1, 1}});
  y = g.mul(y, g.greater(y, 0.1));
  const Tensor flat = g.flatten(y);
  const Tensor logits = g.linear("head", flat, {.out = 7});
  const Tensor guess = g.reshape(g.tanh(g.linear("guess", flat, {.out = 1})), {-1});
  g.output("logits", logits);
  g.output("guess", guess);
  g.loss("policy", g.soft_cross_entropy(logits, shares));
  g.loss("value", g.squared_error(guess, value));
  g.update({.optimizer = {.momentum = 0.9}, .schedule = {.base = 0.01}});
  program.step = {{.phase = "train"}};
  return program;
}

// (N, 3, 8, 8) -> boxes (N, 16, 4), logits of 3 classes (N, 16, 3) and of masks (N, 2, 8, 8)
Program boxes() {
  Program program = named("boxes");
  Builder g(program, "train");
  const Tensor image = g.input("image", {Builder::batch(), 3, 8, 8});
  const Tensor target = g.input("target", {Builder::batch(), 16, 4});
  const Tensor weight = g.input("weight", {Builder::batch(), 16});
  const Conv2d same = {.out = 6, .kernel = 3, .pads = {1, 1, 1, 1}};
  const Tensor x = g.relu(g.conv2d("stem", image, {.out = 6, .kernel = 3, .stride = 2, .pads = {1, 1, 1, 1}}));
  const Tensor edges = g.parameter("edge_weights", {2}, {.kind = Init::Kind::ones});
  const Tensor head = g.dropout_of_samples("drop_path", g.conv2d("head", x, same), 0.25);
  const Tensor both = g.node(Fusion{}, {x, head, edges});
  const Tensor y = g.conv2d("box", g.node(Fusion{.plain = true}, {both, x}), {.out = 4, .kernel = 1, .bias = true});
  const Tensor boxes = g.reshape(g.transpose(y, {0, 2, 3, 1}), {0, 16, 4});
  g.output("boxes", boxes);
  g.loss("box", g.node(Huber{.delta = 0.1}, {boxes, target, weight}), 0.1);
  const Tensor z = g.conv2d("class", both, {.out = 3, .kernel = 1, .bias = true});
  const Tensor classes = g.reshape(g.transpose(z, {0, 2, 3, 1}), {0, 16, 3});
  g.output("classes", classes);
  g.loss("class", g.node(SigmoidFocal{.gamma = 1.5}, {classes, g.input("label", {Builder::batch(), 16}, DType::i32)}));
  const Tensor mask = g.conv_transpose2d("mask", both, {.out = 2, .kernel = 2, .stride = 2, .bias = true});
  const Tensor mask_target = g.input("mask_target", {Builder::batch(), 2, 8, 8});
  const Tensor mask_weight = g.input("mask_weight", {Builder::batch(), 2});
  g.output("mask", mask);
  g.loss("mask", g.node(BceWithLogits{}, {mask, mask_target, mask_weight}), 1.0 / 64);
  g.update({.schedule = {.base = 0.01}});
  program.step = {{.phase = "train"}};
  return program;
}

// (N, 3, 8, 8) -> (6, 4): patches of two maps at boxes within them and across their borders.
Program regions() {
  Program program = named("regions");
  Builder g(program, "train");
  const Tensor image = g.input("image", {Builder::batch(), 3, 8, 8});
  const Tensor noise = g.input("noise", {6, 4});
  const Tensor level = g.input("level", {6}, DType::i32);
  const Tensor label = g.input("label", {6}, DType::i32);
  const Tensor fine = g.relu(g.conv2d("fine", image, {.out = 4, .kernel = 3, .pads = {1, 1, 1, 1}}));
  const Tensor coarse = g.relu(g.conv2d("coarse", fine, {.out = 4, .kernel = 2, .stride = 2}));
  const Tensor first = g.affine(g.slice(noise, {.begin = 0, .end = 1}), 0);
  const Tensor low = g.affine(g.sigmoid(g.slice(noise, {.begin = 0, .end = 2})), 14, -3);
  const Tensor side = g.affine(g.sigmoid(g.slice(noise, {.begin = 2})), 12, 0.5);
  const Tensor rois = g.concat({first, low, g.add(low, side)});
  const Tensor patches = g.node(RoiAlign{.out = 2, .scales = {0.5, 0.25}}, {fine, coarse, rois, level});
  const Tensor logits = g.linear("head", g.flatten(patches), {.out = 4});
  g.output("logits", logits);
  g.loss("class", g.softmax_cross_entropy(logits, label));
  g.update({.schedule = {.base = 0.01}});
  program.step = {{.phase = "train"}};
  return program;
}

}  // namespace tbd::toys
