#include "op_image_cases.h"

namespace tbd {
namespace {

using Cases = std::vector<OpCase>;

const Shape kUpsampledImage = {2, 4, 5, 6};

Cases conv_transpose2d_cases() {
  const ConvTranspose2d ops[] = {{.out = 3, .kernel = 3},
                                 {.out = 2, .kernel = 1},
                                 {.out = 3, .kernel = 3, .pads = {1, 1, 1, 1}},
                                 {.out = 2, .kernel = 2, .stride = 2},
                                 {.out = 3, .kernel = 3, .stride = 2, .pads = {1, 1, 1, 1}},
                                 {.out = 3, .kernel = {3, 2}, .stride = {1, 3}, .pads = {0, 0, 1, 1}},
                                 {.out = 1, .kernel = 3, .stride = 2, .pads = {0, 1, 0, 1}},
                                 {.out = 2, .kernel = {1, 5}, .pads = {0, 0, 3, 1}},
                                 {.out = 3, .kernel = 2, .stride = 2, .bias = true},
                                 {.out = 3, .kernel = 3, .stride = 2, .pads = {0, 1, 0, 1}, .bias = true}};
  Cases cases;
  for (const ConvTranspose2d& op : ops) cases.push_back({.op = op, .operands = {kUpsampledImage}});
  return cases;
}

Cases upsample_cases() {
  return {{.op = UpsampleNearest{}, .operands = {kUpsampledImage}},
          {.op = UpsampleNearest{3}, .operands = {{1, 2, 3, 1}}},
          {.op = UpsampleNearest{1}, .operands = {{2, 3, 2, 2}}}};
}

// No value lies on a bound.
Cases clamp_cases() {
  return {{.op = Clamp{}, .operands = {{3, 7}}, .values = OpCase::Values::distinct},
          {.op = Clamp{-0.53, 1.27}, .operands = {kUpsampledImage}, .values = OpCase::Values::distinct},
          {.op = Clamp{0.01, 20}, .operands = {kUpsampledImage}, .values = OpCase::Values::distinct}};
}

Cases greater_cases() {
  return {{.op = Greater{}, .operands = {{3, 7}}, .fixed = {0}, .values = OpCase::Values::distinct},
          {.op = Greater{0.75}, .operands = {kUpsampledImage}, .fixed = {0}, .values = OpCase::Values::distinct}};
}

// Differences on both sides of delta; weights of rows, of more axes, of elements.
Cases huber_cases() {
  const auto with = [](Huber op, const Shape& shape, const Shape& weights) -> OpCase {
    return {.op = op, .operands = {shape, shape, weights}, .fixed = {1, 2}};
  };
  return {with({}, {3, 7}, {3}), with({0.1}, {2, 3, 1, 4}, {2, 3}), with({1.0 / 9}, kUpsampledImage, kUpsampledImage),
          with({2.5}, {6}, {6})};
}

// Targets between 0 and 1; weights of rows, of more axes, of elements.
Cases bce_cases() {
  const auto with = [](const Shape& shape, const Shape& weights) -> OpCase {
    return {.op = BceWithLogits{}, .operands = {shape, shape, weights}, .fixed = {1, 2}, .given = {{1, {0, 1, 0.25}}}};
  };
  return {with({3, 7}, {3}), with({2, 3, 1, 4}, {2, 3}), with(kUpsampledImage, kUpsampledImage)};
}

// Rows with a class, with none and left out; a logit of 0, where maximum and size have a kink that the loss has not.
Cases focal_cases() {
  const auto with = [](SigmoidFocal op, const Shape& shape, std::vector<double> classes) -> OpCase {
    const auto all = shape.extents();
    const Shape rows(std::vector<int64_t>(all.begin(), all.end() - 1));
    return {.op = op, .operands = {shape, rows}, .integers = {1}, .given = {{1, std::move(classes)}}};
  };
  OpCase flat = with({.gamma = 1.5}, {4, 3}, {2, -1, 0, -2});
  flat.given[0] = {-6, 2, 0.5, 0, -1, 9};
  return {with({}, {3, 7}, {6, -1, 0}), with({.alpha = 0.5, .gamma = 0}, {2, 3, 2, 5}, {4, -1, -1, 0, -2}), flat,
          with({.gamma = 1.5}, {6, 1}, {0, -1, -1, -2, 0, 0})};
}

// Of two tensors, three and one; a share near 1, whose gradient cancels, has a large epsilon.
Cases fusion_cases() {
  const Shape &x = kUpsampledImage, y = {3, 7};
  return {{.op = Fusion{}, .operands = {x, x, {2}}},
          {.op = Fusion{0.5}, .operands = {y, y, y, {3}}},
          {.op = Fusion{0.25}, .operands = {y, {1}}},
          {.op = Fusion{.plain = true}, .operands = {x, x, x}}};
}

// Boxes of two images on two maps: across the border, beyond it, smaller than a cell, wider than the map. No sample
// lies on a cell's middle or a border, where rounding would choose the branch.
Cases roi_align_cases() {
  const std::vector<double> rois = {0,    1.53,  2.21,  9.17, 7.39, 1,    -4.13, -3.29, 5.37, 4.61, 0,    10.23,
                                    6.31, 20.47, 15.19, 1,    3.13, 3.29, 3.13,  3.29,  1,    0.17, 0.23, 14.41,
                                    10.9, 0,     2.37,  0.61, 4.83, 9.41, 1,     40.3,  30.7, 50.1, 41.9};
  const Shape fine = {2, 3, 6, 8}, coarse = {2, 3, 3, 4}, boxes = {7, 5}, level = {7};
  return {{.op = RoiAlign{.out = 3, .scales = {0.5}},
           .operands = {fine, boxes, level},
           .fixed = {1},
           .integers = {2},
           .given = {{1, rois}}},
          {.op = RoiAlign{.out = 2, .sampling = 1, .scales = {0.5, 0.25}},
           .operands = {fine, coarse, boxes, level},
           .fixed = {2},
           .integers = {3},
           .given = {{2, rois}}},
          {.op = RoiAlign{.out = 4, .sampling = 3, .scales = {0.25, 0.5}},
           .operands = {coarse, fine, boxes, level},
           .fixed = {2},
           .integers = {3},
           .given = {{2, rois}, {3, {0, 1, 1, 0, 1, 0, 1}}}}};
}

}  // namespace

std::vector<OpCase> image_cases(const std::string& kind) {
  if (kind == "conv_transpose2d") return conv_transpose2d_cases();
  if (kind == "upsample_nearest") return upsample_cases();
  if (kind == "clamp") return clamp_cases();
  if (kind == "greater") return greater_cases();
  if (kind == "huber") return huber_cases();
  if (kind == "bce_with_logits") return bce_cases();
  if (kind == "sigmoid_focal") return focal_cases();
  if (kind == "fusion") return fusion_cases();
  if (kind == "roi_align") return roi_align_cases();
  return {};
}

std::vector<OpCase> large_image_cases() {
  return {{.op = ConvTranspose2d{.out = 48, .kernel = 3, .pads = {1, 1, 1, 1}}, .operands = {{3, 32, 13, 11}}},
          {.op = UpsampleNearest{}, .operands = {{3, 32, 13, 11}}},
          {.op = Fusion{}, .operands = {{3, 32, 13, 11}, {3, 32, 13, 11}, {3, 32, 13, 11}, {3}}},
          {.op = Huber{0.1}, .operands = {{64, 9, 4}, {64, 9, 4}, {64}}, .fixed = {1, 2}},
          {.op = BceWithLogits{}, .operands = {{33, 130}, {33, 130}, {33}}, .fixed = {1, 2}},
          {.op = SigmoidFocal{.gamma = 1.5}, .operands = {{64, 9, 90}, {64, 9}}, .integers = {1}}};
}

}  // namespace tbd
