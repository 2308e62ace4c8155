// Boxes in an image and the arithmetic on them, in double and in the order written: src/host is compiled without
// contraction into fused multiply-adds, so that every machine makes the same decision of the same values.
#pragma once
#include <array>
#include <cstdint>
#include <span>

namespace tbd::detection {

// Corners in pixels; the box covers [x1, x2) x [y1, y2), and its sides are x2 - x1 and y2 - y1 without "+1".
struct Box {
  double x1 = 0, y1 = 0, x2 = 0, y2 = 0;
  bool operator==(const Box&) const = default;
};

// Of an image, a map or a stride, in pixels or cells.
struct Extent {
  int64_t height = 0, width = 0;
  bool operator==(const Extent&) const = default;
};

double area(const Box& box);
// Intersection over union, inter / ((area a + area b) - inter); 0 where the boxes do not overlap.
double overlap(const Box& a, const Box& b);

// What a box is to an anchor: (dx, dy, dw, dh). Girshick et al. 2014, arXiv:1311.2524, appendix C.
using BoxCode = std::array<double, 4>;
// Each difference is multiplied by its weight; (1, 1, 1, 1) for proposals, (10, 10, 5, 5) for detections.
using CodeWeights = std::array<double, 4>;
inline constexpr CodeWeights kProposalWeights = {1, 1, 1, 1};
inline constexpr CodeWeights kDetectionWeights = {10, 10, 5, 5};

// dx = wx (gcx - acx) / aw, dw = ww log(gw / aw), with centres x1 + w / 2. Both boxes have sides above 0.
BoxCode encode(const Box& box, const Box& anchor, const CodeWeights& weights);
// The inverse; dw / ww and dh / wh are at most log(1000 / 16), so that a wild code stays finite.
Box decode(const BoxCode& code, const Box& anchor, const CodeWeights& weights);
// x to [0, width], y to [0, height].
Box clip(const Box& box, const Extent& image);

// Throws Error(invalid) "box I: ..." for the first that has a coordinate that is not finite, x2 <= x1 or y2 <= y1.
void require_area(std::span<const Box> boxes);

}  // namespace tbd::detection
