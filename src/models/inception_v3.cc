// Inception-v3. Szegedy et al. 2016, arXiv:1512.00567, Table 1, in the form and with the names of torchvision's
// inception_v3(transform_input=False): the input is 299 x 299, padded average pools count their padding.
#include "graph/builder.h"
#include "models/model.h"

namespace tbd {
namespace {

constexpr int64_t kImageNetTrainingImages = 1'281'167;

struct Sizes {
  int64_t divisor = 1;  // of every channel count
  int64_t image = 299;
  int64_t classes = 1000;
  bool aux = false;
  int64_t aux_kernel = 5;
};

// The blocks of one network: their channel counts are the paper's over the divisor.
class Inception {
 public:
  Inception(Builder& g, const Sizes& sizes) : g_(g), sizes_(sizes) {}

  // Logits (N, classes), and those of the auxiliary head where it is asked for.
  std::vector<Tensor> logits(const Tensor& image) {
    Tensor x = stem(image);
    x = mixed_5("Mixed_5b", x, 32);
    x = mixed_5("Mixed_5c", x, 64);
    x = mixed_5("Mixed_5d", x, 64);
    x = mixed_6a(x);
    x = mixed_6("Mixed_6b", x, 128);
    x = mixed_6("Mixed_6c", x, 160);
    x = mixed_6("Mixed_6d", x, 160);
    x = mixed_6("Mixed_6e", x, 192);
    std::vector<Tensor> aux;
    if (sizes_.aux) aux.push_back(aux_head(x));
    x = mixed_7a(x);
    x = mixed_7("Mixed_7b", x);
    x = mixed_7("Mixed_7c", x);
    x = g_.dropout(g_.global_mean(x), 0.5);
    std::vector<Tensor> all = {g_.linear("fc", x, {.out = sizes_.classes})};
    all.insert(all.end(), aux.begin(), aux.end());
    return all;
  }

 private:
  // Convolution without bias, batch norm, relu.
  Tensor conv(std::string_view name, const Tensor& x, Conv2d attributes) {
    const auto scope = g_.scope(name);
    attributes.out /= sizes_.divisor;
    const Tensor y = g_.conv2d("conv", x, attributes);
    return g_.relu(g_.batch_norm("bn", y, {.eps = 1e-3}));
  }
  Tensor conv(std::string_view name, const Tensor& x, int64_t out) { return conv(name, x, {.out = out}); }
  // A window that keeps the size: its pads are (k - 1) / 2.
  Tensor same(std::string_view name, const Tensor& x, int64_t out, Extent2 kernel) {
    const int64_t h = (kernel.h - 1) / 2, w = (kernel.w - 1) / 2;
    return conv(name, x, {.out = out, .kernel = kernel, .pads = {h, h, w, w}});
  }
  Tensor halved(std::string_view name, const Tensor& x, int64_t out) {
    return conv(name, x, {.out = out, .kernel = 3, .stride = 2});
  }
  Tensor max_pool(const Tensor& x) { return g_.max_pool(x, {.kernel = 3, .stride = 2}); }
  Tensor pooled(const Tensor& x, int64_t out) {
    return conv("branch_pool", g_.avg_pool(x, {.kernel = 3, .stride = 1, .pads = {1, 1, 1, 1}}), out);
  }

  Tensor stem(const Tensor& image) {
    Tensor x = halved("Conv2d_1a_3x3", image, 32);
    x = conv("Conv2d_2a_3x3", x, {.out = 32, .kernel = 3});
    x = max_pool(same("Conv2d_2b_3x3", x, 64, 3));
    x = conv("Conv2d_3b_1x1", x, 80);
    return max_pool(conv("Conv2d_4a_3x3", x, {.out = 192, .kernel = 3}));
  }

  // 35 x 35: figure 5 with its 5x5 kept.
  Tensor mixed_5(std::string_view name, const Tensor& x, int64_t pool) {
    const auto scope = g_.scope(name);
    const Tensor one = conv("branch1x1", x, 64);
    const Tensor five = same("branch5x5_2", conv("branch5x5_1", x, 48), 64, 5);
    Tensor three = same("branch3x3dbl_2", conv("branch3x3dbl_1", x, 64), 96, 3);
    three = same("branch3x3dbl_3", three, 96, 3);
    return g_.concat({one, five, three, pooled(x, pool)}, 1);
  }

  Tensor mixed_6a(const Tensor& x) {
    const auto scope = g_.scope("Mixed_6a");
    const Tensor three = halved("branch3x3", x, 384);
    const Tensor twice = same("branch3x3dbl_2", conv("branch3x3dbl_1", x, 64), 96, 3);
    return g_.concat({three, halved("branch3x3dbl_3", twice, 96), max_pool(x)}, 1);
  }

  // 17 x 17: figure 6, 7x7 as 1x7 and 7x1.
  Tensor mixed_6(std::string_view name, const Tensor& x, int64_t c) {
    const auto scope = g_.scope(name);
    const Extent2 wide = {1, 7}, tall = {7, 1};
    const Tensor one = conv("branch1x1", x, 192);
    Tensor seven = same("branch7x7_2", conv("branch7x7_1", x, c), c, wide);
    seven = same("branch7x7_3", seven, 192, tall);
    Tensor twice = same("branch7x7dbl_2", conv("branch7x7dbl_1", x, c), c, tall);
    twice = same("branch7x7dbl_3", twice, c, wide);
    twice = same("branch7x7dbl_4", twice, c, tall);
    twice = same("branch7x7dbl_5", twice, 192, wide);
    return g_.concat({one, seven, twice, pooled(x, 192)}, 1);
  }

  Tensor aux_head(const Tensor& x) {
    const auto scope = g_.scope("AuxLogits");
    Tensor y = conv("conv0", g_.avg_pool(x, {.kernel = 5, .stride = 3}), 128);
    y = conv("conv1", y, {.out = 768, .kernel = sizes_.aux_kernel});
    return g_.linear("fc", g_.global_mean(y), {.out = sizes_.classes});
  }

  Tensor mixed_7a(const Tensor& x) {
    const auto scope = g_.scope("Mixed_7a");
    const Tensor three = halved("branch3x3_2", conv("branch3x3_1", x, 192), 320);
    Tensor seven = same("branch7x7x3_2", conv("branch7x7x3_1", x, 192), 192, {1, 7});
    seven = same("branch7x7x3_3", seven, 192, {7, 1});
    return g_.concat({three, halved("branch7x7x3_4", seven, 192), max_pool(x)}, 1);
  }

  // 8 x 8: figure 7, both halves of a 3x3 side by side.
  Tensor mixed_7(std::string_view name, const Tensor& x) {
    const auto scope = g_.scope(name);
    const Tensor one = conv("branch1x1", x, 320);
    const Tensor three = both("branch3x3_2", conv("branch3x3_1", x, 384));
    const Tensor twice = both("branch3x3dbl_3", same("branch3x3dbl_2", conv("branch3x3dbl_1", x, 448), 384, 3));
    return g_.concat({one, three, twice, pooled(x, 192)}, 1);
  }
  Tensor both(std::string_view name, const Tensor& x) {
    const Tensor wide = same(cat(name, "a"), x, 384, {1, 3});
    return g_.concat({wide, same(cat(name, "b"), x, 384, {3, 1})}, 1);
  }

  Builder& g_;
  const Sizes& sizes_;
};

// Of the reference: N(0, 0.1), in the auxiliary head 0.01 and 0.001, all truncated to [-2, 2].
void set_initial(Program& program) {
  for (Parameter& p : program.parameters) {
    if (p.shape.rank() < 2) continue;  // biases of linear layers and norms start as their ops have it
    const double sigma = p.name == "AuxLogits.conv1.conv.weight" ? 0.01 : p.name == "AuxLogits.fc.weight" ? 0.001 : 0.1;
    p.init = {.kind = Init::Kind::truncated_normal, .a = sigma, .low = -2, .high = 2};
  }
}

Update update() {
  return {.optimizer = {.kind = Optimizer::Kind::sgd, .momentum = 0.9},
          .groups = {{.weight_decay = 1e-4}},
          .schedule = {.kind = Schedule::Kind::step,
                       .base = 0.1,
                       .batch_reference = 256,
                       .unit = Schedule::Unit::epoch,
                       .epoch_samples = kImageNetTrainingImages,
                       .milestones = {30, 60},
                       .factor = 0.1}};
}

Program program(std::string config, const Sizes& sizes) {
  Program program = {.model = "inception_v3", .config = std::move(config), .unit = "images"};
  Builder g(program, "train");
  const Tensor image = g.input("image", {Builder::batch(), 3, sizes.image, sizes.image});
  const Tensor label = g.input("label", {Builder::batch()}, DType::i32);
  const std::vector<Tensor> logits = Inception(g, sizes).logits(image);
  g.output("logits", logits[0]);
  g.loss("ce", g.softmax_cross_entropy(logits[0], label));
  if (sizes.aux) {
    g.output("aux_logits", logits[1]);
    g.loss("aux", g.softmax_cross_entropy(logits[1], label), 0.4);
  }
  g.update(update());
  set_initial(program);
  program.step = {{.phase = "train"}};
  return program;
}

Config config(std::string name, std::string note, Expected expected, Sizes sizes = {}) {
  return {name,
          std::move(note),
          expected,
          42,
          [name, sizes] { return program(name, sizes); },
          sizes.aux ? "aux_tiny" : "tiny"};
}

// train_flops = 2 (3 F - F1), F1 of the first convolution.
constexpr Expected kCanonical = {23'834'568, 23'834'568, 34'432, 5'713'216'096, 34'240'933'248};
constexpr Expected kAux = {27'161'264, 27'161'264, 36'224, 5'718'899'296, 34'275'032'448};

}  // namespace

Model inception_v3() {
  const Sizes tiny = {.divisor = 8, .image = 139, .classes = 10};
  Sizes aux_tiny = tiny;
  aux_tiny.aux = true;
  aux_tiny.aux_kernel = 1;
  Sizes small = tiny;
  small.classes = 12;
  return {
      .name = "inception_v3",
      .title = "Inception-v3",
      .domain = "image classification",
      .dominant_layer = "convolution",
      .dataset = "ImageNet-1k",
      .unit = "images",
      .sweep = {1, 2, 4, 8, 16, 32, 64, 96, 128},
      .configs = {config("canonical", "without the auxiliary head, 299 x 299", kCanonical),
                  config("aux", "with the auxiliary head, whose loss counts 0.4", kAux, {.aux = true}),
                  config("tiny", "channels over 8, 139 x 139, 10 classes: for tests",
                         {346'830, 346'830, 4'304, 16'090'516, 95'514'720}, tiny),
                  config("aux_tiny", "tiny with the auxiliary head", {351'096, 351'096, 4'528, 16'094'548, 95'538'912},
                         aux_tiny),
                  config("small", "tiny with 12 classes: learns the small set photos in minutes",
                         {347'344, 347'344, 4'304, 16'091'028, 95'517'792}, small)},
  };
}

}  // namespace tbd
