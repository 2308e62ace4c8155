// Wasserstein GAN with gradient penalty. Gulrajani et al. 2017, arXiv:1704.00028: the 64 x 64 residual pair, with the
// names of the authors' igul222/improved_wgan_training, gan_64x64.py (GoodGenerator, GoodDiscriminator).
#include <cmath>

#include "graph/builder.h"
#include "models/model.h"

namespace tbd {
namespace {

struct Sizes {
  int64_t dim = 64, noise = 128;
  std::vector<int64_t> widths = {8, 8, 4, 2, 1};  // of the generator, in dim, from 4 x 4 up; the critic's the other way
  int64_t critic_steps = 5;
  int64_t image() const { return int64_t{4} << (widths.size() - 1); }
};

// U(+-sqrt(3) sigma), sigma = sqrt(gain / (fan in + fan out)): 4 before a relu, else 2.
Init spread(const Shape& weight, double gain) {
  const int64_t taps = weight.elements() / (weight[0] * weight[1]);
  return Init::uniform(std::sqrt(3 * gain / static_cast<double>(taps * (weight[0] + weight[1]))));
}

class Pair {
 public:
  Pair(Builder& g, const Sizes& sizes) : g_(g), sizes_(sizes) {}

  // z (N, noise) -> (N, 3, image, image) in (-1, 1). Batch statistics, also when it only samples.
  Tensor generated(const Tensor& z) {
    const auto scope = g_.scope("Generator");
    const auto& widths = sizes_.widths;
    Tensor x = linear("Input", z, 16 * widths[0] * sizes_.dim);
    x = g_.reshape(x, {0, widths[0] * sizes_.dim, 4, 4});
    for (size_t i = 1; i < widths.size(); ++i) x = up(cat("Res", i), x, widths[i] * sizes_.dim);
    return g_.tanh(conv("Output", g_.relu(batch_norm("OutputN", x)), 3, 3, true, 4));
  }

  // (N, 3, image, image) -> (N, 1)
  Tensor judged(const Tensor& image) {
    const auto scope = g_.scope("Discriminator");
    const auto& widths = sizes_.widths;
    Tensor x = conv("Input", image, widths.back() * sizes_.dim, 3, true, 2);
    for (size_t i = 1; i < widths.size(); ++i) x = down(cat("Res", i), x, widths[widths.size() - 1 - i] * sizes_.dim);
    return linear("Output", g_.flatten(x), 1);
  }

 private:
  Tensor linear(std::string_view name, const Tensor& x, int64_t out) {
    const Tensor y = g_.linear(name, x, {.out = out});
    g_.init(cat(name, ".weight"), spread({out, x.shape()[1]}, 2));
    g_.init(cat(name, ".bias"), {});
    return y;
  }
  Tensor conv(std::string_view name, const Tensor& x, int64_t out, int64_t kernel, bool bias, double gain) {
    const int64_t pad = kernel / 2;
    const Tensor y = g_.conv2d(name, x, {.out = out, .kernel = kernel, .pads = {pad, pad, pad, pad}, .bias = bias});
    g_.init(cat(name, ".weight"), spread({out, x.channels(), kernel, kernel}, gain));
    return y;
  }
  Tensor batch_norm(std::string_view name, const Tensor& x) {
    return g_.batch_norm(name, x, {.stats = BatchNorm::Stats::batch});
  }
  Tensor layer_norm(std::string_view name, const Tensor& x) { return g_.group_norm(name, x, {.groups = 1}); }
  Tensor halved(const Tensor& x) { return g_.avg_pool(x, {.kernel = 2, .stride = 2}); }

  Tensor up(std::string_view name, const Tensor& x, int64_t out) {
    const auto scope = g_.scope(name);
    const Tensor shortcut = conv("Shortcut", g_.upsample_nearest(x, 2), out, 1, true, 2);
    Tensor y = g_.upsample_nearest(g_.relu(batch_norm("BN1", x)), 2);
    y = conv("Conv1", y, out, 3, false, 4);
    return g_.add(shortcut, conv("Conv2", g_.relu(batch_norm("BN2", y)), out, 3, true, 4));
  }
  Tensor down(std::string_view name, const Tensor& x, int64_t out) {
    const auto scope = g_.scope(name);
    const Tensor shortcut = conv("Shortcut", halved(x), out, 1, true, 2);
    const Tensor y = conv("Conv1", g_.relu(layer_norm("BN1", x)), x.channels(), 3, false, 4);
    return g_.add(shortcut, halved(conv("Conv2", g_.relu(layer_norm("BN2", y)), out, 3, true, 4)));
  }

  Builder& g_;
  const Sizes& sizes_;
};

Update adam() {
  return {.optimizer = {.kind = Optimizer::Kind::adam, .beta1 = 0, .beta2 = 0.9, .epsilon = 1e-8},
          .schedule = {.kind = Schedule::Kind::constant, .base = 1e-4}};
}
// Only those of this network are trained: the other one's are read.
Update adam_of(const Builder& g, std::string_view prefix) {
  Update update = adam();
  ParameterGroup own;
  for (const std::string& name : g.parameters())
    if (name.starts_with(prefix)) own.parameters.push_back(name);
  update.groups = {own};
  return update;
}

void generator_phase(Program& program, const Sizes& sizes) {
  Builder g(program, "generator");
  Pair pair(g, sizes);
  const Tensor fake = pair.generated(g.input("z", {Builder::batch(), sizes.noise}));
  g.output("fake", fake);
  g.loss("generator", g.affine(g.sum(pair.judged(fake)), -1));
  g.update(adam_of(g, "Generator."));
}

// |d D(x) / d x| of each sample at a random point between a real and a generated image.
Tensor gradient_norm(Builder& g, Pair& pair, const Tensor& real, const Tensor& fake, const Tensor& alpha) {
  const Tensor point = g.add(real, g.mul(g.sub(fake, real), alpha));
  const Tensor gradient = g.input_gradient(pair.judged(point), point);
  return g.sqrt(g.affine(g.sum(g.square(gradient), {1, 2, 3}), 1, 1e-12));  // never 0: a root's slope
}

void critic_phase(Program& program, const Sizes& sizes) {
  Builder g(program, "critic");
  Pair pair(g, sizes);
  const Dim batch = Builder::batch();
  const Tensor real = g.input("real", {batch, 3, sizes.image(), sizes.image()});
  const Tensor z = g.input("z", {batch, sizes.noise});
  const Tensor alpha = g.input("alpha", {batch, 1, 1, 1});
  const Tensor fake = g.stop_gradient(pair.generated(z));
  const Tensor d_real = pair.judged(real), d_fake = pair.judged(fake);
  const Tensor norm = gradient_norm(g, pair, real, fake, alpha);
  g.output("d_real", d_real);
  g.output("d_fake", d_fake);
  g.output("gradient_norm", norm);
  const Tensor sum_fake = g.sum(d_fake);
  g.loss("wasserstein", g.sub(sum_fake, g.sum(d_real)));
  g.loss("penalty", g.sum(g.square(g.affine(norm, 1, -1))), 10);
  g.update(adam_of(g, "Discriminator."));
}

Program program(std::string config, const Sizes& sizes) {
  Program program = {.model = "wgan_gp", .config = std::move(config), .unit = "critic images"};
  generator_phase(program, sizes);
  critic_phase(program, sizes);
  program.step = {{.phase = "generator", .from_step = 2}, {.phase = "critic", .repeat = sizes.critic_steps}};
  return program;
}

// Made images, and what the critic says of them and of real ones.
Program evaluation(std::string config, const Sizes& sizes) {
  Program program = {.model = "wgan_gp", .config = std::move(config), .unit = "critic images"};
  Builder g(program, "evaluation");
  Pair pair(g, sizes);
  const Tensor real = g.input("real", {Builder::batch(), 3, sizes.image(), sizes.image()});
  const Tensor fake = pair.generated(g.input("z", {Builder::batch(), sizes.noise}));
  g.output("fake", fake);
  g.output("d_real", pair.judged(real));
  g.output("d_fake", pair.judged(fake));
  return program;
}

// Of both networks, as residual networks are counted: the first and last layer, two a block, no shortcuts. The paper
// gives no number.
Config config(std::string name, std::string note, Expected expected, const Sizes& sizes) {
  const auto blocks = static_cast<int64_t>(sizes.widths.size()) - 1;
  return {.name = name,
          .note = std::move(note),
          .expected = expected,
          .layers = 2 * (2 * blocks + 2),
          .program = [=] { return program(name, sizes); },
          .evaluation = [=] { return evaluation(name, sizes); },
          .judge = "images"};
}

// One iteration: five critic steps of G, D on real, fake and between, and D's gradient; then G and D.
constexpr Expected kCanonical = {16'032'324, 16'032'324, 0, 46'364'270'592, 238'846'181'376};
constexpr Expected kTiny = {28'620, 28'620, 0, 11'653'632, 59'217'920};  // two critic steps

}  // namespace

Model wgan_gp() {
  const Sizes tiny = {.dim = 8, .noise = 16, .widths = {4, 2, 1}, .critic_steps = 2};
  return {
      .name = "wgan_gp",
      .title = "WGAN-GP",
      .domain = "adversarial learning",
      .dominant_layer = "convolution",
      .dataset = "Downsampled ImageNet, 64 x 64",
      .unit = "critic images",
      .sweep = {4, 8, 16, 32, 64, 128},
      .configs = {config("canonical", "residual pair of 64 x 64, five critic steps", kCanonical, {}),
                  config("tiny", "two blocks of width 8, 16 x 16, two critic steps: for tests", kTiny, tiny)},
  };
}

}  // namespace tbd
