// Mask R-CNN and Faster R-CNN with a feature pyramid. He et al. 2017, arXiv:1703.06870; Ren et al. 2015,
// arXiv:1506.01497; Lin et al. 2017, arXiv:1612.03144; parameter names of torchvision 0.29. Faster R-CNN on one map,
// faster_c4, as Zhu et al. 2018, arXiv:1803.06905, train it.
// Decisions on data are two host calls on values without gradients; everything with a gradient is in the graph, with
// fixed numbers of rows: a row that is not used has weight 0. All weights of rows carry N / count, so that each term
// over the global batch is the reference's mean.
#include <cmath>
#include <numeric>

#include "graph/builder.h"
#include "models/model.h"

namespace tbd {
namespace {

constexpr double kSmooth = 1.0 / 9;  // beta of both smooth-L1 terms, which are huber over beta
constexpr double kPerBeta = 9;

struct Sizes {
  std::vector<int64_t> blocks = {3, 4, 6, 3};
  int64_t width = 64;                    // of the stem and the first stage; doubled by each later stage
  int64_t height = 800, columns = 1344;  // of the padded pictures
  int64_t pyramid = 256;                 // channels; 0: no pyramid, heads on the last map
  std::vector<double> anchor_sizes = {32, 64, 128, 256, 512};
  int64_t region_width = 256;           // of the proposal head's 3 x 3 convolution
  int64_t slots = 91;                   // classes, 0 being the background
  int64_t before = 2000, after = 2000;  // proposals a level and a picture
  int64_t before_evaluated = 1000, after_evaluated = 1000;
  int64_t anchors = 256;                   // that the proposal head learns from, half of them positive at most
  int64_t regions = 512, positives = 128;  // of a picture, for the box and mask heads
  int64_t box_width = 1024;
  std::vector<int64_t> mask_widths = {256, 256, 256, 256};  // none: no mask head
  int64_t mask_up = 256;
  int64_t objects = 100, mask_runs = 131'072;
  int64_t detections = 100;  // of a picture, when it is evaluated
  double canonical = 224;    // side of a region on pyramid level 4

  bool masks() const { return !mask_widths.empty(); }
  int64_t all_blocks() const { return std::accumulate(blocks.begin(), blocks.end(), int64_t{0}); }
};

Conv2d pointwise(int64_t out, int64_t stride = 1) { return {.out = out, .kernel = 1, .stride = stride}; }
Conv2d with_bias(int64_t out, int64_t kernel) {
  const int64_t pad = kernel / 2;
  return {.out = out, .kernel = kernel, .pads = {pad, pad, pad, pad}, .bias = true};
}

Tensor frozen_norm(Builder& g, std::string_view name, const Tensor& x) {
  return g.batch_norm(name, x, {.stats = BatchNorm::Stats::frozen});
}

// A residual sum of many blocks keeps its size where each block's last norm starts small: 1 / sqrt(blocks).
// (N, C, H, W) -> (N, 4 * width, H / stride, W / stride)
Tensor bottleneck(Builder& g, Tensor x, int64_t width, int64_t stride, int64_t all_blocks) {
  Tensor y = g.relu(frozen_norm(g, "bn1", g.conv2d("conv1", x, pointwise(width))));
  const Conv2d spatial = {.out = width, .kernel = 3, .stride = stride, .pads = {1, 1, 1, 1}};
  y = g.relu(frozen_norm(g, "bn2", g.conv2d("conv2", y, spatial)));
  y = frozen_norm(g, "bn3", g.conv2d("conv3", y, pointwise(4 * width)));
  g.init("bn3.weight", {.kind = Init::Kind::constant, .a = 1 / std::sqrt(static_cast<double>(all_blocks))});
  if (stride != 1 || x.channels() != 4 * width)
    x = frozen_norm(g, "downsample.1", g.conv2d("downsample.0", x, pointwise(4 * width, stride)));
  return g.relu(g.add(y, x));
}

Tensor stage(Builder& g, Tensor x, size_t index, const Sizes& sizes) {
  for (int64_t i = 0; i < sizes.blocks[index]; ++i) {
    const auto scope = g.scope(cat("layer", index + 1, ".", i));
    x = bottleneck(g, x, sizes.width << index, index > 0 && i == 0 ? 2 : 1, sizes.all_blocks());
  }
  return x;
}

// (N, 3, H, W) -> C2, C3, ...: the results of the first `stages` stages.
std::vector<Tensor> body(Builder& g, const Tensor& image, const Sizes& sizes, size_t stages) {
  const auto scope = g.scope("backbone.body");
  Tensor x = g.conv2d("conv1", image, {.out = sizes.width, .kernel = 7, .stride = 2, .pads = {3, 3, 3, 3}});
  x = g.max_pool(g.relu(frozen_norm(g, "bn1", x)), {.kernel = 3, .stride = 2, .pads = {1, 1, 1, 1}});
  std::vector<Tensor> maps;
  for (size_t index = 0; index < stages; ++index) maps.push_back(x = stage(g, x, index, sizes));
  return maps;
}

Tensor pyramid_conv(Builder& g, const std::string& name, const Tensor& x, int64_t channels, int64_t kernel) {
  const Tensor y = g.conv2d(name, x, with_bias(channels, kernel));
  const auto fan_in = static_cast<double>(x.channels() * kernel * kernel);
  g.init(name + ".weight", Init::uniform(std::sqrt(3 / fan_in)));
  return y;
}

// C2 ... C5 -> P2 ... P6
std::vector<Tensor> pyramid(Builder& g, const std::vector<Tensor>& maps, const Sizes& sizes) {
  const auto scope = g.scope("backbone.fpn");
  std::vector<Tensor> levels;
  std::optional<Tensor> above;
  for (size_t i = maps.size(); i-- > 0;) {
    Tensor inner = pyramid_conv(g, cat("inner_blocks.", i, ".0"), maps[i], sizes.pyramid, 1);
    if (above) inner = g.add(inner, g.upsample_nearest(*above, 2));
    levels.insert(levels.begin(), pyramid_conv(g, cat("layer_blocks.", i, ".0"), inner, sizes.pyramid, 3));
    above = inner;
  }
  levels.push_back(g.max_pool(levels.back(), {.kernel = 1, .stride = 2}));
  return levels;
}

Tensor proposal_conv(Builder& g, const std::string& name, const Tensor& x, int64_t out, int64_t kernel) {
  const Tensor y = g.conv2d(name, x, with_bias(out, kernel));
  g.init(name + ".weight", Init::normal(0.01));
  return y;
}

struct ProposalHead {
  Tensor objectness;                          // (N, anchors)
  Tensor deltas;                              // (N, anchors, 4)
  std::vector<Tensor> by_level, level_codes;  // the same in parts
};

int64_t anchors_a_cell(const Sizes& sizes, size_t levels) {
  return 3 * static_cast<int64_t>(sizes.anchor_sizes.size() / levels);
}

// One head for all levels; rows by level, y, x, anchor.
ProposalHead proposal_head(Builder& g, const std::vector<Tensor>& levels, const Sizes& sizes) {
  const auto scope = g.scope("rpn.head");
  const int64_t anchors = anchors_a_cell(sizes, levels.size());
  std::vector<Tensor> objectness, deltas;
  for (size_t i = 0; i < levels.size(); ++i) {
    const Tensor t = g.relu(proposal_conv(g, "conv.0.0", levels[i], sizes.region_width, 3));
    const Tensor logits = proposal_conv(g, "cls_logits", t, anchors, 1);
    objectness.push_back(g.reshape(g.transpose(logits, {0, 2, 3, 1}), {0, -1}));
    const Tensor codes = proposal_conv(g, "bbox_pred", t, 4 * anchors, 1);
    deltas.push_back(g.reshape(g.transpose(codes, {0, 2, 3, 1}), {0, -1, 4}));
  }
  if (levels.size() == 1) return {objectness[0], deltas[0], objectness, deltas};
  const Tensor all = g.concat(objectness);
  return {all, g.concat(deltas), objectness, deltas};
}

void proposal_losses(Builder& g, const ProposalHead& head, const Sizes& sizes) {
  const Dim n = Builder::batch();
  const int64_t all = sizes.anchors, half = sizes.anchors / 2;
  const Tensor index = g.input("rpn_index", {n, all}, DType::i32);
  const Tensor label = g.input("rpn_label", {n, all});
  const Tensor weight = g.input("rpn_weight", {n, all});
  const Tensor box_target = g.input("rpn_box_target", {n, half, 4});
  const Tensor box_weight = g.input("rpn_box_weight", {n, half});
  g.loss("rpn_cls", g.node(BceWithLogits{}, {g.gather(head.objectness, index), label, weight}));
  const Tensor codes = g.gather(head.deltas, g.slice(index, {.begin = 0, .end = half}));
  g.loss("rpn_box", g.node(Huber{.delta = kSmooth}, {codes, box_target, box_weight}), kPerBeta);
}

HostNumbers proposal_numbers(const std::vector<Tensor>& levels, const Sizes& sizes, int64_t before) {
  HostNumbers numbers = {{"sizes", sizes.anchor_sizes},
                         {"ratios", {0.5, 1, 2}},
                         {"before", {static_cast<double>(before)}},
                         {"overlap", {0.7}},
                         {"least", {1e-3}}};
  for (const Tensor& level : levels) {
    const int64_t h = level.shape()[2], w = level.shape()[3];
    for (const int64_t extent : {h, w}) numbers["extents"].push_back(static_cast<double>(extent));
    for (const int64_t stride : {sizes.height / h, sizes.columns / w})  // whole: 61 where 800 rows have 13 cells
      numbers["strides"].push_back(static_cast<double>(stride));
  }
  return numbers;
}

// Proposals (N, `after`, 4) and how many of them there are (N), of the `before` best of each level.
std::vector<Tensor> propose(Builder& g, const ProposalHead& head, const Tensor& image_size, const HostNumbers& numbers,
                            int64_t after) {
  const HostCall call = {
      .function = "select_proposals", .results = {{{0, after, 4}}, {{0}, DType::i32}}, .numbers = numbers};
  const std::vector<Tensor> in = {head.objectness, head.deltas, image_size};
  return g.host_call("select_proposals", in, call);
}

struct Regions {
  Tensor rois, level, label, weight, box_target, box_weight;
};
struct MaskRegions {
  Tensor rois, level, label, target, weight;
};
struct Sampled {
  Regions box;
  std::optional<MaskRegions> mask;
};

// The results of sample_rois that describe masks, and how many of their rows are valid.
void declare_masks(const Sizes& sizes, HostCall& call) {
  const auto rows = ResultExtent::each_sample(sizes.positives);
  const int64_t side = 28;
  call.results.push_back({{rows, 5}, DType::f32, true});
  call.results.push_back({{rows}, DType::i32, true});
  call.results.push_back({{rows, 1}, DType::i32, true});
  call.results.push_back({{rows, 1, side, side}, DType::f32, true});
  call.results.push_back({{rows}, DType::f32, true});
  call.rows = static_cast<int64_t>(call.results.size());
  call.results.push_back({{}, DType::i32});
}

HostNumbers level_numbers(const Sizes& sizes) {
  return {{"canonical", {sizes.canonical}}, {"levels", {2, sizes.pyramid > 0 ? 5.0 : 2.0}}};
}

HostCall sampling_call(const Sizes& sizes) {
  const auto rows = ResultExtent::each_sample(sizes.regions);
  HostCall call = {
      .function = "sample_rois",
      .results = {{{rows, 5}}, {{rows}, DType::i32}, {{rows}, DType::i32}, {{rows}}, {{rows, 1, 4}}, {{rows}}}};
  call.numbers = level_numbers(sizes);
  call.numbers["overlap"] = {0.5};
  call.numbers["positive_share"] = {static_cast<double>(sizes.positives) / static_cast<double>(sizes.regions)};
  call.numbers["slots"] = {static_cast<double>(sizes.slots)};
  if (sizes.masks()) declare_masks(sizes, call);
  return call;
}

Sampled sample(Builder& g, const std::vector<Tensor>& proposals, const Tensor& image_size, const Sizes& sizes) {
  const Dim n = Builder::batch();
  const int64_t objects = sizes.objects;
  std::vector<Tensor> in = {proposals[0], proposals[1]};
  in.push_back(g.input("gt_box", {n, objects, 4}));
  in.push_back(g.input("gt_label", {n, objects}, DType::i32));
  in.push_back(g.input("roi_key", {n, sizes.after + objects}, DType::i32));
  in.push_back(image_size);
  if (sizes.masks()) {
    in.push_back(g.input("mask_runs", {n, sizes.mask_runs}, DType::i32));
    in.push_back(g.input("mask_start", {n, objects + 1}, DType::i32));
  }
  const std::vector<Tensor> out = g.host_call("sample_rois", in, sampling_call(sizes));
  Sampled sampled = {.box = {out[0], out[1], out[2], out[3], out[4], out[5]}, .mask = std::nullopt};
  if (sizes.masks()) sampled.mask = MaskRegions{out[6], out[7], out[8], out[9], out[10]};
  return sampled;
}

Tensor aligned(Builder& g, std::vector<Tensor> maps, const Tensor& rois, const Tensor& level, RoiAlign op) {
  maps.push_back(rois);
  maps.push_back(level);
  return g.node(std::move(op), maps);
}

RoiAlign pyramid_align(int64_t out) { return {.out = out, .scales = {1.0 / 4, 1.0 / 8, 1.0 / 16, 1.0 / 32}}; }

Tensor dense(Builder& g, const std::string& name, const Tensor& x, int64_t out) {
  const Tensor y = g.linear(name, x, {.out = out});
  const Init init = Init::uniform(1 / std::sqrt(static_cast<double>(x.shape().back())));
  g.init(name + ".weight", init);
  g.init(name + ".bias", init);
  return y;
}

struct BoxOutputs {
  Tensor logits, deltas;  // (R, slots), (R, 4 slots)
};
// features (R, F) of regions.
BoxOutputs box_outputs(Builder& g, const Tensor& features, const Sizes& sizes) {
  const Tensor logits = dense(g, "roi_heads.box_predictor.cls_score", features, sizes.slots);
  return {logits, dense(g, "roi_heads.box_predictor.bbox_pred", features, 4 * sizes.slots)};
}

void box_losses(Builder& g, const BoxOutputs& outputs, const Regions& regions, const Sizes& sizes) {
  g.output("class_logits", outputs.logits);
  g.output("box_deltas", outputs.deltas);
  g.loss("roi_cls", g.softmax_cross_entropy(outputs.logits, regions.label, SoftmaxCrossEntropy{}, regions.weight));
  const Tensor by_class = g.reshape(outputs.deltas, {0, sizes.slots, 4});
  const Tensor own = g.gather(by_class, g.reshape(regions.label, {0, 1}));
  const Tensor term = g.node(Huber{.delta = kSmooth}, {own, regions.box_target, regions.box_weight});
  g.loss("roi_box", term, kPerBeta);
}

// What regions are read from, and where each lies.
struct Places {
  Tensor rois, level;
};

BoxOutputs box_head(Builder& g, const std::vector<Tensor>& maps, const Places& places, const Sizes& sizes) {
  Tensor x = g.flatten(aligned(g, maps, places.rois, places.level, pyramid_align(7)));
  x = g.relu(dense(g, "roi_heads.box_head.fc6", x, sizes.box_width));
  x = g.relu(dense(g, "roi_heads.box_head.fc7", x, sizes.box_width));
  return box_outputs(g, x, sizes);
}

// The map of each region's class: (R, 1, 28, 28).
Tensor mask_head(Builder& g, const std::vector<Tensor>& maps, const Places& places, const Tensor& label,
                 const Sizes& sizes) {
  Tensor x = aligned(g, maps, places.rois, places.level, pyramid_align(14));
  for (size_t i = 0; i < sizes.mask_widths.size(); ++i)
    x = g.relu(g.conv2d(cat("roi_heads.mask_head.", i, ".0"), x, with_bias(sizes.mask_widths[i], 3)));
  const std::string up = "roi_heads.mask_predictor.conv5_mask";
  const auto fan_out = static_cast<double>(4 * x.channels());  // as torchvision reads the weight (in, out, 2, 2)
  x = g.conv_transpose2d(up, x, {.out = sizes.mask_up, .kernel = 2, .stride = 2, .bias = true});
  g.init(up + ".weight", Init::normal(std::sqrt(2 / fan_out)));
  x = g.conv2d("roi_heads.mask_predictor.mask_fcn_logits", g.relu(x), with_bias(sizes.slots, 1));
  return g.gather(x, label);
}

// The paper's first detector: what ResNet-101 has behind its third stage reads each region.
BoxOutputs last_stage_head(Builder& g, const std::vector<Tensor>& maps, const Places& places, const Sizes& sizes) {
  Tensor x = aligned(g, maps, places.rois, places.level, {.out = 14, .scales = {1.0 / 16}});
  {
    const auto scope = g.scope("roi_heads.box_head");
    x = stage(g, x, 3, sizes);
  }
  return box_outputs(g, g.global_mean(x), sizes);
}

BoxOutputs region_head(Builder& g, const std::vector<Tensor>& maps, const Places& places, const Sizes& sizes) {
  return sizes.pyramid > 0 ? box_head(g, maps, places, sizes) : last_stage_head(g, maps, places, sizes);
}

// All but the stem and the first stage, which stay as they were loaded. He et al. 2017, arXiv:1703.06870, section 3.1;
// the rate falls at 60,000 and 80,000 of 90,000 steps.
Update pyramid_update(std::vector<std::string> trained) {
  return {.optimizer = {.kind = Optimizer::Kind::sgd, .momentum = 0.9},
          .groups = {{.parameters = std::move(trained), .weight_decay = 1e-4}},
          .schedule = {.kind = Schedule::Kind::step,
                       .base = 0.02,
                       .batch_reference = 16,
                       .milestones = {60'000, 80'000},
                       .factor = 0.1,
                       .warmup = 1'000,
                       .warmup_from = 0.02 / 1'000}};
}
Update c4_update(std::vector<std::string> trained) {
  return {.optimizer = {.kind = Optimizer::Kind::sgd, .momentum = 0.9},
          .groups = {{.parameters = std::move(trained), .weight_decay = 1e-4}},
          .schedule = {
              .kind = Schedule::Kind::step, .base = 1e-3, .batch_reference = 1, .milestones = {50'000}, .factor = 0.1}};
}

std::vector<std::string> without_frozen(std::vector<std::string> parameters) {
  std::erase_if(parameters, [](const std::string& name) {
    return name == "backbone.body.conv1.weight" || name.starts_with("backbone.body.layer1.");
  });
  return parameters;
}

// Of a picture: the levels that propose, and the maps that regions are read from.
struct Features {
  std::vector<Tensor> levels, maps;
};
Features features(Builder& g, const Sizes& sizes) {
  const Tensor image = g.input("image", {Builder::batch(), 3, sizes.height, sizes.columns});
  if (sizes.pyramid == 0) {
    const Tensor map = body(g, image, sizes, 3).back();
    return {{map}, {map}};
  }
  const std::vector<Tensor> levels = pyramid(g, body(g, image, sizes, 4), sizes);
  return {levels, {levels.begin(), levels.end() - 1}};
}

Sampled sampled_regions(Builder& g, const std::vector<Tensor>& levels, const Sizes& sizes) {
  const Tensor image_size = g.input("image_size", {Builder::batch(), 2}, DType::i32);
  const ProposalHead head = proposal_head(g, levels, sizes);
  for (size_t i = 0; i < levels.size(); ++i) {
    g.output(cat("objectness.P", i + 2), head.by_level[i]);
    g.output(cat("rpn_deltas.P", i + 2), head.level_codes[i]);
  }
  proposal_losses(g, head, sizes);
  const HostNumbers numbers = proposal_numbers(levels, sizes, sizes.before);
  return sample(g, propose(g, head, image_size, numbers, sizes.after), image_size, sizes);
}

Program named(const std::string& config) { return {.model = "mask_rcnn", .config = config, .unit = "images"}; }

Program program(const std::string& config, const Sizes& sizes) {
  Program program = named(config);
  Builder g(program, "train");
  const auto [levels, maps] = features(g, sizes);
  for (size_t i = 0; sizes.pyramid > 0 && i < levels.size(); ++i) g.output(cat("feature.P", i + 2), levels[i]);
  const Sampled sampled = sampled_regions(g, levels, sizes);
  box_losses(g, region_head(g, maps, {sampled.box.rois, sampled.box.level}, sizes), sampled.box, sizes);
  if (sampled.mask) {
    const MaskRegions& regions = *sampled.mask;
    const Tensor own = mask_head(g, maps, {regions.rois, regions.level}, regions.label, sizes);
    g.loss("mask", g.node(BceWithLogits{}, {own, regions.target, regions.weight}));
  }
  std::vector<std::string> trained = without_frozen(g.parameters());
  g.update(sizes.pyramid > 0 ? pyramid_update(std::move(trained)) : c4_update(std::move(trained)));
  program.step = {{.phase = "train"}};
  return program;
}

struct Detections {
  Places places;
  Tensor label;
};
Detections detections(Builder& g, const std::vector<Tensor>& proposals, const BoxOutputs& outputs,
                      const Tensor& image_size, const Sizes& sizes) {
  const auto rows = ResultExtent::each_sample(sizes.detections);
  HostCall call = {.function = "select_detections",
                   .results = {{{rows, 5}}, {{rows}, DType::i32}, {{rows, 1}, DType::i32}, {{rows}}, {{0}, DType::i32}},
                   .numbers = level_numbers(sizes)};
  call.numbers["most"] = {static_cast<double>(sizes.detections)};
  const std::vector<Tensor> in = {proposals[0], proposals[1], outputs.logits, outputs.deltas, image_size};
  const std::vector<Tensor> out = g.host_call("select_detections", in, call);
  const char* const names[] = {"rois", "level", "label", "score", "count"};
  for (size_t i = 0; i < out.size(); ++i) g.output(cat("detection.", names[i]), out[i]);
  return {{out[0], out[1]}, out[2]};
}

// The box head reads every proposal; the mask head what is left of them.
Program evaluation(const std::string& config, const Sizes& sizes) {
  Program program = named(config);
  Builder g(program, "evaluation");
  const auto [levels, maps] = features(g, sizes);
  const Tensor image_size = g.input("image_size", {Builder::batch(), 2}, DType::i32);
  const ProposalHead head = proposal_head(g, levels, sizes);
  const HostNumbers numbers = proposal_numbers(levels, sizes, sizes.before_evaluated);
  const std::vector<Tensor> proposals = propose(g, head, image_size, numbers, sizes.after_evaluated);
  const auto rows = ResultExtent::each_sample(sizes.after_evaluated);
  const std::vector<Tensor> places = g.host_call(
      "proposal_rois", proposals,
      {.function = "proposal_rois", .results = {{{rows, 5}}, {{rows}, DType::i32}}, .numbers = level_numbers(sizes)});
  const BoxOutputs outputs = region_head(g, maps, {places[0], places[1]}, sizes);
  const Detections found = detections(g, proposals, outputs, image_size, sizes);
  if (sizes.masks()) g.output("detection.mask", mask_head(g, maps, found.places, found.label, sizes));
  return program;
}

Config config(std::string name, std::string note, Expected expected, const Sizes& sizes = {}, std::string tiny = "tiny",
              std::string detection = "torchvision") {
  const int64_t layers = 3 * sizes.all_blocks() + 2;  // of the body, as its paper counts them
  const auto made = [name, sizes] { return program(name, sizes); };
  return {.name = name,
          .note = std::move(note),
          .expected = expected,
          .layers = layers,
          .program = made,
          .tiny = std::move(tiny),
          .detection = std::move(detection),
          .evaluation = [name, sizes] { return evaluation(name, sizes); },
          .judge = "regions"};
}

const Sizes kTiny = {.blocks = {1, 1, 1, 1},
                     .width = 8,
                     .height = 128,
                     .columns = 128,
                     .pyramid = 16,
                     .anchor_sizes = {8, 16, 32, 64, 128},
                     .region_width = 16,
                     .slots = 4,
                     .before = 32,
                     .after = 128,
                     .before_evaluated = 16,
                     .after_evaluated = 64,
                     .anchors = 32,
                     .regions = 32,
                     .positives = 8,
                     .box_width = 32,
                     .mask_widths = {16, 16},
                     .mask_up = 16,
                     .objects = 4,
                     .mask_runs = 4'096,
                     .canonical = 32};

const Sizes kC4 = {.blocks = {3, 4, 23, 3},
                   .height = 608,
                   .columns = 1008,
                   .pyramid = 0,
                   .anchor_sizes = {128, 256, 512},
                   .region_width = 512,
                   .slots = 21,
                   .regions = 128,
                   .positives = 32,
                   .mask_widths = {}};

Sizes without_masks(Sizes sizes) {
  sizes.mask_widths.clear();
  return sizes;
}

// Files of torchvision from before its convolutions had blocks of their own (version 1 of its modules).
std::string current_name(const std::string& name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos) return name;
  const std::string layer = name.substr(0, dot), tensor = name.substr(dot);
  if (layer == "rpn.head.conv") return cat(layer, ".0.0", tensor);
  for (const char* blocks : {"inner_blocks.", "layer_blocks."})
    for (int level = 0; level < 4; ++level)
      if (layer == cat("backbone.fpn.", blocks, level)) return cat(layer, ".0", tensor);
  for (int i = 0; i < 4; ++i)
    if (layer == cat("roi_heads.mask_head.mask_fcn", i + 1)) return cat("roi_heads.mask_head.", i, ".0", tensor);
  return name;
}

// Forward: body + pyramid + proposal head + 512 boxes + 128 masks. Train FLOPs: 2 (3 F - 2 frozen - no data gradient),
// frozen being the stem and the first stage, and without a data gradient what reads these.
constexpr Expected kCanonical = {44'401'393, 44'178'993, 106'240, 277'083'979'008, 1'577'520'066'048};
constexpr Expected k1216 = {44'401'393, 44'178'993, 106'240, 257'881'369'344, 1'470'398'104'064};
constexpr Expected k512 = {44'401'393, 44'178'993, 106'240, 124'613'738'496, 726'962'569'216};
constexpr Expected k101 = {63'341'297, 63'118'897, 210'688, 356'631'575'808, 2'054'805'646'848};
constexpr Expected k81 = {44'347'573, 44'125'173, 106'240, 276'800'863'488, 1'575'821'372'928};
constexpr Expected kFaster = {41'755'286, 41'532'886, 106'240, 208'979'492'096, 1'168'893'144'576};
constexpr Expected kTinyExpected = {178'159, 175'831, 4'832, 29'373'120, 149'106'816};
constexpr Expected kFasterTiny = {172'411, 170'083, 4'832, 20'140'736, 93'712'512};
constexpr Expected kC4Expected = {47'352'150, 47'129'750, 210'688, 200'340'833'280, 1'158'624'811'008};

}  // namespace

Model mask_rcnn() {
  return {
      .name = "mask_rcnn",
      .title = "Mask R-CNN",
      .domain = "object detection",
      .dominant_layer = "convolution",
      .dataset = "COCO 2017",
      .unit = "images",
      .sweep = {1, 2, 4, 8, 16},
      .configs = {config("canonical", "ResNet-50 with feature pyramid, 800 x 1344", kCanonical),
                  config("800x1216", "800 x 1216: pictures of 4 : 3", k1216, {.columns = 1216}),
                  config("512x512", "512 x 512", k512, {.height = 512, .columns = 512}),
                  config("r101", "ResNet-101", k101, {.blocks = {3, 4, 23, 3}}),
                  config("slots81", "80 categories without gaps", k81, {.slots = 81}, "tiny", "torchvision-81"),
                  config("faster", "Faster R-CNN: no masks", kFaster, without_masks({}), "faster_tiny"),
                  config("faster_c4", "Faster R-CNN on one map of ResNet-101, VOC 2007, 608 x 1008", kC4Expected, kC4,
                         "faster_tiny", "faster-c4"),
                  config("tiny", "one block a stage, width 8, 128 x 128, 4 slots: for tests", kTinyExpected, kTiny,
                         "tiny", "torchvision-tiny"),
                  config("faster_tiny", "tiny without masks: for tests", kFasterTiny, without_masks(kTiny),
                         "faster_tiny", "torchvision-tiny")},
      .current_name = current_name,
  };
}

}  // namespace tbd
