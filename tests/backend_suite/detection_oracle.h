// For tests: one step of EfficientDet as its public implementation takes it. Inputs by formula, labels by plain loops,
// and the numbers that effdet 0.4.1 gave for them in double.
#pragma once
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "backend_suite/support.h"

namespace tbd::oracle {

struct Object {
  float y1, x1, y2, x2;
  int32_t label;  // from 1
};

struct DetectionCase {
  std::string config;
  int64_t image;
  std::vector<std::vector<Object>> objects;          // of each image
  std::map<std::string, std::vector<double>> masks;  // of stochastic depth; none: it is off
  int64_t positives;                                 // anchors that are matched
  double class_sum, box_sum;                         // of the targets
  double cls, box, gradient_norm;
  std::map<std::string, double> gradients;  // norms, by parameter
  std::map<std::string, double> outputs;    // sums of magnitudes
  std::map<std::string, double> running;    // sums of buffers after the step
};

// ((3 x^2 + 5 y^2 + 7 x y + 41 c + 59 n) mod 256) / 128 - 1.
inline HostTensor image_by_formula(int64_t batch, int64_t extent) {
  std::vector<double> out;
  for (int64_t n = 0; n < batch; ++n)
    for (int64_t c = 0; c < 3; ++c)
      for (int64_t y = 0; y < extent; ++y)
        for (int64_t x = 0; x < extent; ++x)
          out.push_back(static_cast<double>((3 * x * x + 5 * y * y + 7 * x * y + 41 * c + 59 * n) % 256) / 128 - 1);
  return doubles({batch, 3, extent, extent}, out);
}

using Box = std::array<float, 4>;  // y1 x1 y2 x2

// Of levels 3 to 7, each by y, x, octave, aspect.
inline std::vector<std::vector<Box>> anchors_of(int64_t image) {
  std::vector<std::vector<Box>> levels;
  for (int64_t level = 3; level <= 7; ++level) {
    std::vector<Box>& boxes = levels.emplace_back();
    const int64_t extent = image >> level, stride = image / extent;
    for (int64_t i = 0; i < extent * extent; ++i)
      for (int octave = 0; octave < 3; ++octave)
        for (const auto& [ax, ay] : {std::pair{1.0, 1.0}, {1.4, 0.7}, {0.7, 1.4}}) {
          const double s = static_cast<double>(stride), side = 4 * s * std::exp2(octave / 3.0);
          const double y = (static_cast<double>(i / extent) + 0.5) * s, x = (static_cast<double>(i % extent) + 0.5) * s;
          const double h = side * ay / 2, w = side * ax / 2;
          boxes.push_back({static_cast<float>(y - h), static_cast<float>(x - w), static_cast<float>(y + h),
                           static_cast<float>(x + w)});
        }
  }
  return levels;
}

inline float overlap(const Object& object, const Box& anchor) {
  const float h = std::max(std::min(object.y2, anchor[2]) - std::max(object.y1, anchor[0]), 0.0F);
  const float w = std::max(std::min(object.x2, anchor[3]) - std::max(object.x1, anchor[1]), 0.0F);
  const float inter = h * w, of_object = (object.y2 - object.y1) * (object.x2 - object.x1);
  const float of_anchor = (anchor[2] - anchor[0]) * (anchor[3] - anchor[1]);
  const float either = (of_object + of_anchor) - inter;
  return inter / either;
}

inline std::array<double, 4> coded(const Object& object, const Box& anchor) {
  constexpr float kLeast = 1e-7F;
  const float ha = anchor[2] - anchor[0] + kLeast, wa = anchor[3] - anchor[1] + kLeast;
  const float h = object.y2 - object.y1 + kLeast, w = object.x2 - object.x1 + kLeast;
  const float ya = (anchor[0] + anchor[2]) / 2, xa = (anchor[1] + anchor[3]) / 2;
  const float y = (object.y1 + object.y2) / 2, x = (object.x1 + object.x2) / 2;
  return {(y - ya) / ha, (x - xa) / wa, std::log(h / ha), std::log(w / wa)};
}

// For each anchor the index of its object, or -1: its best from 0.5 on; then each object's best anchor, of two that
// want one the first.
inline std::vector<int> matches(const std::vector<Object>& objects, const std::vector<Box>& anchors) {
  std::vector<int> out(anchors.size(), -1);
  for (size_t a = 0; a < anchors.size(); ++a) {
    float best = 0.5F;
    for (size_t o = 0; o < objects.size(); ++o) {
      const float iou = overlap(objects[o], anchors[a]);
      if (iou > best || (iou == best && out[a] < 0)) {
        best = iou;
        out[a] = static_cast<int>(o);
      }
    }
  }
  for (size_t o = objects.size(); o-- > 0;) {
    size_t best = 0;
    for (size_t a = 1; a < anchors.size(); ++a)
      if (overlap(objects[o], anchors[a]) > overlap(objects[o], anchors[best])) best = a;
    out[best] = static_cast<int>(o);
  }
  return out;
}

struct DetectionTargets {
  TensorMap tensors;  // cls_t.l and box_t.l
  int64_t positives = 0;
  double class_sum = 0, box_sum = 0;
};

inline DetectionTargets targets_of(const DetectionCase& c) {
  const auto levels = anchors_of(c.image);
  std::vector<Box> all;
  for (const auto& level : levels) all.insert(all.end(), level.begin(), level.end());
  std::vector<std::vector<int>> matched;
  for (const auto& objects : c.objects) matched.push_back(matches(objects, all));
  DetectionTargets out;
  size_t first = 0;
  for (size_t l = 0; l < levels.size(); first += levels[l++].size()) {
    std::vector<double> classes, boxes;
    for (size_t n = 0; n < c.objects.size(); ++n)
      for (size_t a = first; a < first + levels[l].size(); ++a) {
        const int match = matched[n][a];
        const Object* object = match < 0 ? nullptr : &c.objects[n][static_cast<size_t>(match)];
        classes.push_back(object ? object->label - 1 : -1);
        const auto code = object ? coded(*object, all[a]) : std::array<double, 4>{};
        boxes.insert(boxes.end(), code.begin(), code.end());
        out.positives += object != nullptr;
        out.class_sum += object ? classes.back() : 0;
        for (const double each : code) out.box_sum += each;
      }
    const auto batch = static_cast<int64_t>(c.objects.size()), extent = c.image >> (3 + l);
    out.tensors[cat("cls_t.", 3 + l)] = converted(doubles({batch, extent, extent, 9}, classes), DType::i32);
    out.tensors[cat("box_t.", 3 + l)] = doubles({batch, extent, extent, 36}, boxes);
  }
  return out;
}

// Drawn in double and rounded to single precision, as the oracle's.
inline TensorMap rounded_weights(const Program& program) {
  TensorMap out;
  const auto rounded = [](Parameter p) {
    p.dtype = DType::f32;
    return converted(initial_value(p, /*seed=*/0, /*threads=*/1), DType::f64);
  };
  for (const Parameter& p : program.parameters) out["param/" + p.name] = rounded(p);
  for (const Parameter& b : program.buffers) out["buffer/" + b.name] = rounded(b);
  return out;
}

}  // namespace tbd::oracle
