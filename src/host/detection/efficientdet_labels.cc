// Every operation is rounded to float32, as effdet's are
// (object_detection/{region_similarity_calculator,argmax_matcher, box_coder}.py): that decides which of nearly equal
// overlaps is the largest.
#include "host/detection/efficientdet_labels.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace tbd::detection {
namespace {

constexpr float kLeastOverlap = 0.5F;
constexpr float kEpsilon = 1e-7F;
constexpr int32_t kBackground = -1;

float area_of(const YxBox& box) { return (box.y2 - box.y1) * (box.x2 - box.x1); }

float overlap_of(const YxBox& box, float box_area, const YxBox& anchor) {
  const float height = std::max(std::min(box.y2, anchor.y2) - std::max(box.y1, anchor.y1), 0.0F);
  const float width = std::max(std::min(box.x2, anchor.x2) - std::max(box.x1, anchor.x1), 0.0F);
  const float shared = height * width;
  if (shared == 0) return 0;
  const float either = (box_area + area_of(anchor)) - shared;
  return shared / either;
}

std::array<float, 4> target_of(const YxBox& box, const YxBox& anchor) {
  const float anchor_height = anchor.y2 - anchor.y1, anchor_width = anchor.x2 - anchor.x1;
  const float height = box.y2 - box.y1, width = box.x2 - box.x1;
  const float anchor_y = anchor.y1 + anchor_height / 2, anchor_x = anchor.x1 + anchor_width / 2;
  const float y = box.y1 + height / 2, x = box.x1 + width / 2;
  const float per_height = anchor_height + kEpsilon, per_width = anchor_width + kEpsilon;
  return {(y - anchor_y) / per_height, (x - anchor_x) / per_width, std::log((height + kEpsilon) / per_height),
          std::log((width + kEpsilon) / per_width)};
}

void require_boxes(std::span<const YxBox> boxes, std::span<const int32_t> classes, int32_t slots) {
  require(boxes.size() == classes.size(), "efficientdet_labels: ", boxes.size(), " boxes, ", classes.size(),
          " classes");
  for (size_t i = 0; i < boxes.size(); ++i) {
    const YxBox& box = boxes[i];
    const bool finite =
        std::isfinite(box.y1) && std::isfinite(box.x1) && std::isfinite(box.y2) && std::isfinite(box.x2);
    require(finite && box.y2 > box.y1 && box.x2 > box.x1, "box ", i, ": expected y1 < y2 and x1 < x2, got (", box.y1,
            ", ", box.x1, ", ", box.y2, ", ", box.x2, ")");
    require(classes[i] >= 0 && classes[i] < slots, "box ", i, ": class ", classes[i], " of ", slots);
  }
}

// The box of each anchor, -1 for none.
std::vector<int32_t> match(std::span<const YxBox> anchors, std::span<const YxBox> boxes) {
  std::vector<int32_t> matched(anchors.size(), -1);
  std::vector<float> best(anchors.size(), 0.0F);
  std::vector<size_t> first_best(boxes.size());  // each box's anchor
  for (size_t b = 0; b < boxes.size(); ++b) {
    const float box_area = area_of(boxes[b]);
    float most = -1;
    for (size_t a = 0; a < anchors.size(); ++a) {
      const float shared = overlap_of(boxes[b], box_area, anchors[a]);
      if (shared > most) {
        most = shared;
        first_best[b] = a;
      }
      if (shared > best[a]) {
        best[a] = shared;
        if (shared >= kLeastOverlap) matched[a] = static_cast<int32_t>(b);
      }
    }
  }
  for (size_t b = boxes.size(); b-- > 0;)
    if (!anchors.empty()) matched[first_best[b]] = static_cast<int32_t>(b);
  return matched;
}

}  // namespace

EfficientDetLabels efficientdet_labels(std::span<const YxBox> anchors, std::span<const YxBox> boxes,
                                       std::span<const int32_t> classes, int32_t slots) {
  require_boxes(boxes, classes, slots);
  const std::vector<int32_t> matched = match(anchors, boxes);
  EfficientDetLabels out = {.class_target = std::vector<int32_t>(anchors.size(), kBackground),
                            .box_target = std::vector<std::array<float, 4>>(anchors.size())};
  for (size_t a = 0; a < anchors.size(); ++a) {
    if (matched[a] < 0) continue;
    out.class_target[a] = classes[matched[a]];
    out.box_target[a] = target_of(boxes[matched[a]], anchors[a]);
    ++out.matched;
  }
  return out;
}

}  // namespace tbd::detection
