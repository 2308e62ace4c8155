// ResNet-50 v1.5 and its deeper sisters. He et al. 2016, arXiv:1512.03385, Table 1.
// v1.5 puts the stride of a down-sampling block on its 3x3 convolution, not on its first 1x1.
#include <numeric>

#include "graph/builder.h"
#include "models/model.h"

namespace tbd {
namespace {

constexpr int64_t kImageNetTrainingImages = 1'281'167;

struct Sizes {
  std::array<int64_t, 4> blocks = {3, 4, 6, 3};
  int64_t width = 64;  // of the stem and the first stage; doubled by each later stage
  int64_t image = 224;
  int64_t classes = 1000;
  double smoothing = 0;
  double warmup_epochs = 0;
};

Tensor conv_bn(Builder& g, std::string_view conv, std::string_view norm, const Tensor& x, Conv2d attributes) {
  return g.batch_norm(norm, g.conv2d(conv, x, attributes));
}

// (N, C, H, W) -> (N, 4 * width, H / stride, W / stride)
Tensor bottleneck(Builder& g, Tensor x, int64_t width, int64_t stride) {
  Tensor y = g.relu(conv_bn(g, "conv1", "bn1", x, {.out = width, .kernel = 1}));
  y = g.relu(conv_bn(g, "conv2", "bn2", y, {.out = width, .kernel = 3, .stride = stride, .pads = {1, 1, 1, 1}}));
  y = conv_bn(g, "conv3", "bn3", y, {.out = 4 * width, .kernel = 1});
  const bool reshaped = stride != 1 || x.channels() != 4 * width;
  if (reshaped) x = conv_bn(g, "downsample.0", "downsample.1", x, {.out = 4 * width, .kernel = 1, .stride = stride});
  return g.relu(g.add(y, x));
}

// (N, 3, image, image) -> (N, classes)
Tensor logits(Builder& g, const Tensor& image, const Sizes& sizes) {
  Tensor x = conv_bn(g, "conv1", "bn1", image, {.out = sizes.width, .kernel = 7, .stride = 2, .pads = {3, 3, 3, 3}});
  x = g.max_pool(g.relu(x), {.kernel = 3, .stride = 2, .pads = {1, 1, 1, 1}});
  for (int64_t stage = 0; stage < 4; ++stage)
    for (int64_t i = 0; i < sizes.blocks[static_cast<size_t>(stage)]; ++i) {
      const auto scope = g.scope(cat("layer", stage + 1, ".", i));  // names become state_dict keys
      x = bottleneck(g, x, sizes.width << stage, stage > 0 && i == 0 ? 2 : 1);
    }
  return g.linear("fc", g.global_mean(x), {.out = sizes.classes});
}

// Goyal et al. 2017, arXiv:1706.02677: the rate grows with the batch, falls at epochs 30, 60 and 80; decay on all.
Update update(const Sizes& sizes) {
  return {.optimizer = {.kind = Optimizer::Kind::sgd, .momentum = 0.9},
          .groups = {{.weight_decay = 1e-4}},
          .schedule = {.kind = Schedule::Kind::step,
                       .base = 0.1,
                       .batch_reference = 256,
                       .unit = Schedule::Unit::epoch,
                       .epoch_samples = kImageNetTrainingImages,
                       .milestones = {30, 60, 80},
                       .factor = 0.1,
                       .warmup = sizes.warmup_epochs}};
}

Program program(std::string config, const Sizes& sizes) {
  Program program = {.model = "resnet50", .config = std::move(config), .unit = "images"};
  Builder g(program, "train");
  const Tensor image = g.input("image", {Builder::batch(), 3, sizes.image, sizes.image});
  const Tensor label = g.input("label", {Builder::batch()}, DType::i32);
  const Tensor z = logits(g, image, sizes);
  g.output("logits", z);
  g.loss("ce", g.softmax_cross_entropy(z, label, sizes.smoothing));
  g.update(update(sizes));
  program.step = {{.phase = "train"}};
  return program;
}

Config config(std::string name, std::string note, Expected expected, Sizes sizes = {}) {
  const int64_t blocks = std::accumulate(sizes.blocks.begin(), sizes.blocks.end(), int64_t{0});
  return {name, std::move(note), expected, 3 * blocks + 2, [name, sizes] { return program(name, sizes); }};
}

// Float buffers: mean and variance of every batch norm. train_flops = 2 (3 F - F1), F1 of the first convolution.
constexpr Expected kCanonical = {25'557'032, 25'557'032, 53'120, 4'089'184'256, 24'299'077'632};
constexpr Expected k101 = {44'549'160, 44'549'160, 105'344, 7'801'405'440, 46'572'404'736};
constexpr Expected k152 = {60'192'808, 60'192'808, 151'424, 11'513'626'624, 68'845'731'840};
constexpr Expected kTiny = {130'962, 130'962, 2'416, 2'927'104, 15'154'176};
constexpr Expected kSmall = {131'476, 131'476, 2'416, 2'927'616, 15'157'248};

}  // namespace

Model resnet50() {
  return {
      .name = "resnet50",
      .title = "ResNet-50 v1.5",
      .domain = "image classification",
      .dominant_layer = "convolution",
      .dataset = "ImageNet-1k",
      .unit = "images",
      .mlperf = "resnet",
      .sweep = {1, 2, 4, 8, 16, 32, 64, 96, 128, 256},
      .configs = {config("canonical", "50 layers, 224 x 224", kCanonical),
                  config("101", "101 layers", k101, {.blocks = {3, 4, 23, 3}}),
                  config("152", "152 layers", k152, {.blocks = {3, 8, 36, 3}}),
                  config("warmup", "linear warm-up over 5 epochs", kCanonical, {.warmup_epochs = 5}),
                  config("ls", "label smoothing 0.1", kCanonical, {.smoothing = 0.1}),
                  config("tiny", "one block a stage, width 8, 64 x 64, 10 classes: for tests", kTiny,
                         {.blocks = {1, 1, 1, 1}, .width = 8, .image = 64, .classes = 10}),
                  config("small", "tiny with 12 classes: learns the small set photos in a minute", kSmall,
                         {.blocks = {1, 1, 1, 1}, .width = 8, .image = 64, .classes = 12})},
  };
}

}  // namespace tbd
