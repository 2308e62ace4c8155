// The arithmetic is torchvision's (ops/boxes.py, models/detection/_utils.py), operation by operation.
#include "host/detection/boxes.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace tbd::detection {
namespace {

const double kMostLogScale = std::log(1000.0 / 16);

struct Centred {
  double x, y, width, height;
};

Centred centred(const Box& box) {
  const double width = box.x2 - box.x1;
  const double height = box.y2 - box.y1;
  return {.x = box.x1 + 0.5 * width, .y = box.y1 + 0.5 * height, .width = width, .height = height};
}

}  // namespace

double area(const Box& box) { return (box.x2 - box.x1) * (box.y2 - box.y1); }

double overlap(const Box& a, const Box& b) {
  const double width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1);
  const double height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1);
  if (width <= 0 || height <= 0) return 0;
  const double shared = width * height;
  return shared / (area(a) + area(b) - shared);
}

BoxCode encode(const Box& box, const Box& anchor, const CodeWeights& weights) {
  const Centred from = centred(anchor);
  const Centred to = centred(box);
  return {weights[0] * (to.x - from.x) / from.width, weights[1] * (to.y - from.y) / from.height,
          weights[2] * std::log(to.width / from.width), weights[3] * std::log(to.height / from.height)};
}

Box decode(const BoxCode& code, const Box& anchor, const CodeWeights& weights) {
  const Centred from = centred(anchor);
  const double x = code[0] / weights[0] * from.width + from.x;
  const double y = code[1] / weights[1] * from.height + from.y;
  const double half_width = 0.5 * (std::exp(std::min(code[2] / weights[2], kMostLogScale)) * from.width);
  const double half_height = 0.5 * (std::exp(std::min(code[3] / weights[3], kMostLogScale)) * from.height);
  return {x - half_width, y - half_height, x + half_width, y + half_height};
}

Box clip(const Box& box, const Extent& image) {
  const auto width = static_cast<double>(image.width);
  const auto height = static_cast<double>(image.height);
  return {std::clamp(box.x1, 0.0, width), std::clamp(box.y1, 0.0, height), std::clamp(box.x2, 0.0, width),
          std::clamp(box.y2, 0.0, height)};
}

void require_area(std::span<const Box> boxes) {
  for (size_t i = 0; i < boxes.size(); ++i) {
    const Box& box = boxes[i];
    const bool finite =
        std::isfinite(box.x1) && std::isfinite(box.y1) && std::isfinite(box.x2) && std::isfinite(box.y2);
    require(finite && box.x2 > box.x1 && box.y2 > box.y1, "box ", i, ": expected x1 < x2 and y1 < y2, got (", box.x1,
            ", ", box.y1, ", ", box.x2, ", ", box.y2, ")");
  }
}

}  // namespace tbd::detection
