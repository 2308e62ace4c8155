// The boxes that a detector's head starts from: those of torchvision's region proposal network and those of
// EfficientDet.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "host/detection/boxes.h"

namespace tbd::detection {

// One map of a pyramid and its anchors.
struct Level {
  Extent extent;              // cells
  Extent stride;              // pixels of the image from cell to cell
  std::vector<double> sizes;  // the square roots of the anchors' areas
};

// The maps that share a head, finest first.
struct Pyramid {
  std::vector<Level> levels;
  std::vector<double> ratios;  // height over width
};

// Level i has extents[i], the stride image / extents[i] in whole numbers per axis and, of the sizes, as many as there
// are for each level. At 800 rows a level of 13 has a stride of 61. Throws Error(invalid) where the sizes do not share
// out or an extent is below 1 or above the image's.
Pyramid pyramid(const Extent& image, std::span<const Extent> extents, std::span<const double> sizes,
                std::span<const double> ratios);

// Around (0, 0), by ratio and then size: h = s sqrt(r), w = s / sqrt(r), corners (-w/2, -h/2, w/2, h/2) in float32,
// rounded half to even.
std::vector<Box> base_anchors(std::span<const double> sizes, std::span<const double> ratios);

// `base` at a cell of the level.
Box shifted(const Box& base, const Level& level, int64_t y, int64_t x);

int64_t anchor_count(const Level& level, const Pyramid& pyramid);
int64_t anchor_count(const Pyramid& pyramid);
// Those of all levels, rows by level, y, x, ratio, size; none is dropped at the border.
std::vector<Box> anchors(const Pyramid& pyramid);
Box anchor_at(const Pyramid& pyramid, int64_t row);  // one of them

// A box of EfficientDet's labels, in float32 and with y first.
struct YxBox {
  float y1 = 0, x1 = 0, y2 = 0, x2 = 0;
  bool operator==(const YxBox&) const = default;
};

struct EfficientDetAnchors {
  int64_t image = 512;           // the side of the square input
  std::vector<int64_t> extents;  // cells along a side of each level, finest first
  double scale = 4;              // 5 in d7
};

// Nine a cell: octaves 0, 1, 2 by aspects (1, 1), (1.4, 0.7), (0.7, 1.4) of (x, y). With stride s = image / extent half
// the sides are scale s 2^(octave/3) a / 2 about ((i + 1/2) s, (j + 1/2) s), in double, rounded to float32.
// Rows by level, y, x, octave, aspect. Throws Error(invalid) where an extent does not divide the image.
std::vector<YxBox> efficientdet_anchors(const EfficientDetAnchors& settings);

}  // namespace tbd::detection
