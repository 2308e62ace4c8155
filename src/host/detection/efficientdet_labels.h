// The label of each anchor of EfficientDet, in float32 with effdet's order of operations: equal overlaps are common,
// and in double one to three of a hundred positives would move to another anchor.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "host/detection/anchors.h"

namespace tbd::detection {

// Rows are the anchors, so the rows of a level are that level's cls_t (h, w, 9) and box_t (h, w, 36).
struct EfficientDetLabels {
  std::vector<int32_t> class_target;             // the class, -1 for background
  std::vector<std::array<float, 4>> box_target;  // (ty, tx, th, tw); 0 on background
  int64_t matched = 0;                           // num_pos: anchors with a class
};

// An anchor takes its best box (of equals the first) from overlap 0.5 on; then each box takes its best anchor (of
// equals the first) whatever the overlap, and where two boxes want one anchor the lower box gets it. Targets with 1e-7
// added to all sides: (cy - ya) / ha, (cx - xa) / wa, log(h / ha), log(w / wa). classes: 0 ... slots - 1, one a box.
// Throws Error(invalid) "box I: ..." on boxes without area, classes outside.
EfficientDetLabels efficientdet_labels(std::span<const YxBox> anchors, std::span<const YxBox> boxes,
                                       std::span<const int32_t> classes, int32_t slots);

}  // namespace tbd::detection
