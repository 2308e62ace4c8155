#include "host/detection/inference.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "host/detection/largest.h"
#include "host/detection/suppression.h"

namespace tbd::detection {
namespace {

constexpr double kMostPixels = 1e9;  // of a corner

std::vector<double> softmax(std::span<const double> logits) {
  const double most = *std::max_element(logits.begin(), logits.end());
  std::vector<double> out;
  double sum = 0;
  for (const double logit : logits) {
    out.push_back(std::exp(logit - most));
    sum += out.back();
  }
  for (double& value : out) value /= sum;
  return out;
}

double sigmoid(double logit) { return 1 / (1 + std::exp(-logit)); }

// The first `most` of those that survive suppression within their class.
std::vector<Detection> strongest(const std::vector<Detection>& found, double most_overlap, int64_t most) {
  std::vector<Box> boxes;
  std::vector<double> scores;
  std::vector<int32_t> labels;
  for (const Detection& detection : found) {
    boxes.push_back(detection.box);
    scores.push_back(detection.score);
    labels.push_back(detection.label);
  }
  std::vector<int32_t> kept = suppress_by_class(boxes, scores, labels, most_overlap);
  kept.resize(std::min(kept.size(), static_cast<size_t>(most)));
  std::vector<Detection> out;
  for (const int32_t i : kept) out.push_back(found[i]);
  return out;
}

Box decode_efficientdet(std::span<const double> code, const YxBox& anchor) {
  const double y1 = anchor.y1, x1 = anchor.x1, y2 = anchor.y2, x2 = anchor.x2;
  const double y = code[0] * (y2 - y1) + (y1 + y2) / 2;
  const double x = code[1] * (x2 - x1) + (x1 + x2) / 2;
  const double half_height = std::exp(code[2]) * (y2 - y1) / 2;
  const double half_width = std::exp(code[3]) * (x2 - x1) / 2;
  return {x - half_width, y - half_height, x + half_width, y + half_height};
}

// Corners to 0 ... width and 0 ... height of an image of which a pixel of the box is `scale` pixels.
Box clip_scaled(const Box& box, const Extent& image, double scale) {
  const double width = static_cast<double>(image.width) / scale;
  const double height = static_cast<double>(image.height) / scale;
  return {std::clamp(box.x1, 0.0, width), std::clamp(box.y1, 0.0, height), std::clamp(box.x2, 0.0, width),
          std::clamp(box.y2, 0.0, height)};
}

Box times(const Box& box, double x, double y) { return {box.x1 * x, box.y1 * y, box.x2 * x, box.y2 * y}; }

// Whole pixels, both ends included.
struct Pixels {
  int64_t first, last;
};

Pixels grown(double low, double high, double factor) {
  const double half = (high - low) * 0.5 * factor;
  const double centre = (high + low) * 0.5;
  return {.first = static_cast<int64_t>(centre - half), .last = static_cast<int64_t>(centre + half)};
}

// A pixel of the resized mask between two of the padded one.
struct Between {
  int64_t low, high;
  double part;  // of the higher
};

// Pixel i of `to` pixels that are made of `from`.
Between resized(int64_t from, int64_t to, int64_t i) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  const double at = std::max(scale * (static_cast<double>(i) + 0.5) - 0.5, 0.0);
  const int64_t low = std::min(static_cast<int64_t>(at), from - 1);
  return {.low = low, .high = std::min(low + 1, from - 1), .part = at - static_cast<double>(low)};
}

std::vector<double> padded_probabilities(std::span<const double> logits, int64_t side) {
  const int64_t padded = side + 2;
  std::vector<double> out(static_cast<size_t>(padded * padded));
  for (int64_t y = 0; y < side; ++y)
    for (int64_t x = 0; x < side; ++x) out[(y + 1) * padded + x + 1] = sigmoid(logits[y * side + x]);
  return out;
}

class PastedRuns {
 public:
  void add(bool is_set, int64_t pixels) {
    if (pixels == 0) return;
    if (is_set != is_set_) runs_.push_back(0);
    is_set_ = is_set;
    runs_.back() += static_cast<int32_t>(pixels);
  }
  std::vector<int32_t> runs() && { return std::move(runs_); }

 private:
  std::vector<int32_t> runs_ = {0};
  bool is_set_ = false;
};

}  // namespace

std::vector<Detection> box_head_detections(const BoxHeadSettings& settings, const Extent& image,
                                           std::span<const Box> rois, std::span<const double> class_logits,
                                           std::span<const double> box_deltas) {
  const size_t slots = rois.empty() ? 0 : class_logits.size() / rois.size();
  require(class_logits.size() == rois.size() * slots && box_deltas.size() == 4 * class_logits.size(),
          "detections: ", rois.size(), " rois, ", class_logits.size(), " logits and ", box_deltas.size(),
          " deltas do not fit");
  std::vector<Detection> found;
  for (size_t r = 0; r < rois.size(); ++r) {
    const std::span<const double> logits = class_logits.subspan(r * slots, slots);
    for (const double logit : logits) require(!std::isnan(logit), "roi ", r, ": a class logit is NaN");
    const std::vector<double> scores = softmax(logits);
    for (size_t k = 1; k < slots; ++k) {
      if (!(scores[k] > settings.score)) continue;
      const double* delta = box_deltas.data() + 4 * (r * slots + k);
      const Box box = clip(decode({delta[0], delta[1], delta[2], delta[3]}, rois[r], kDetectionWeights), image);
      const bool large_enough = box.x2 - box.x1 >= settings.least && box.y2 - box.y1 >= settings.least;
      if (large_enough) found.push_back({box, scores[k], static_cast<int32_t>(k), static_cast<int32_t>(r)});
    }
  }
  return strongest(found, settings.overlap, settings.most);
}

std::vector<Detection> efficientdet_detections(const EfficientDetInference& settings, std::span<const YxBox> anchors,
                                               std::span<const double> class_logits,
                                               std::span<const double> box_codes) {
  const size_t classes = anchors.empty() ? 0 : class_logits.size() / anchors.size();
  require(class_logits.size() == anchors.size() * classes && box_codes.size() == 4 * anchors.size(),
          "detections: ", anchors.size(), " anchors, ", class_logits.size(), " logits and ", box_codes.size(),
          " codes do not fit");
  for (size_t i = 0; i < class_logits.size(); ++i)
    require(!std::isnan(class_logits[i]), "anchor ", i / classes, ": a class logit is NaN");
  std::vector<Detection> found;
  for (const int32_t i : largest(class_logits, settings.candidates)) {
    const auto anchor = static_cast<int32_t>(i / classes);
    Box box = decode_efficientdet(box_codes.subspan(4 * anchor, 4), anchors[anchor]);
    if (settings.original) box = clip_scaled(box, *settings.original, settings.image_scale);
    found.push_back({box, sigmoid(class_logits[i]), static_cast<int32_t>(i % classes) + 1, anchor});
  }
  std::vector<Detection> out = strongest(found, settings.overlap, settings.most);
  for (Detection& detection : out) detection.box = times(detection.box, settings.image_scale, settings.image_scale);
  return out;
}

Box in_original(const Box& box, const Extent& resized, const Extent& original) {
  const float x = static_cast<float>(original.width) / static_cast<float>(resized.width);
  const float y = static_cast<float>(original.height) / static_cast<float>(resized.height);
  return times(box, x, y);
}

std::vector<int32_t> paste_mask(std::span<const double> logits, int64_t side, const Box& box, const Extent& image) {
  require(side >= 1 && std::ssize(logits) == side * side, "paste_mask: ", logits.size(), " logits for a side of ",
          side);
  const bool is_sane = std::ranges::all_of(std::array{box.x1, box.y1, box.x2, box.y2},
                                           [](double corner) { return std::abs(corner) < kMostPixels; });
  require(is_sane, "paste_mask: a corner of the box is not finite or beyond ", kMostPixels, " pixels");
  const int64_t padded = side + 2;
  const std::vector<double> probabilities = padded_probabilities(logits, side);
  const double factor = static_cast<double>(padded) / static_cast<double>(side);
  const auto [left, right] = grown(box.x1, box.x2, factor);
  const auto [top, bottom] = grown(box.y1, box.y2, factor);
  const int64_t width = std::max<int64_t>(right - left + 1, 1);
  const int64_t height = std::max<int64_t>(bottom - top + 1, 1);
  const auto is_set = [&](const Between& y, const Between& x) {
    const auto row = [&](int64_t at) {
      const double* values = probabilities.data() + at * padded;
      return (1 - x.part) * values[x.low] + x.part * values[x.high];
    };
    return (1 - y.part) * row(y.low) + y.part * row(y.high) > 0.5;
  };
  const int64_t first_x = std::max<int64_t>(left, 0), last_x = std::min(right + 1, image.width);
  const int64_t first_y = std::max<int64_t>(top, 0), last_y = std::min(bottom + 1, image.height);
  PastedRuns runs;
  int64_t written = 0;  // pixels
  for (int64_t x = first_x; x < last_x; ++x) {
    const Between across = resized(padded, width, x - left);
    for (int64_t y = first_y; y < last_y; ++y) {
      const int64_t pixel = x * image.height + y;
      runs.add(false, pixel - written);
      runs.add(is_set(resized(padded, height, y - top), across), 1);
      written = pixel + 1;
    }
  }
  runs.add(false, image.height * image.width - written);
  return std::move(runs).runs();
}

}  // namespace tbd::detection
