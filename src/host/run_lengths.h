// Binary masks as COCO run lengths: made of polygons, merged, measured, mirrored, resized, written as text.
// Source: Lin et al. 2014, arXiv:1405.0312, and the behaviour of pycocotools 2.0.11, which the results equal exactly.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tbd {

// Beyond these an Error(invalid) is thrown: the side of a mask (that of the largest JPEG), its pixels (those of the
// largest image that is decoded), and the magnitude of a polygon's coordinate.
constexpr int64_t kMostMaskSide = 65'535;
constexpr int64_t kMostMaskPixels = 178'956'970;
constexpr double kMostCoordinate = 1e8;

// A mask of height x width pixels. It is read column by column: pixel (y, x) has the number x * height + y. The runs
// alternate between pixels that are 0 and pixels that are 1; the first run is of 0 and may have length 0.
// The functions below take masks that `require_valid` accepts. Those that make a mask give it no other run of length 0.
struct RunLengths {
  int64_t height = 0, width = 0;
  std::vector<int32_t> runs;
  bool operator==(const RunLengths&) const = default;
};

// Throws Error(invalid) for extents below 1 or beyond the limits above, a negative run (its index is named) or
// runs that do not sum to height * width.
void require_valid(std::span<const int32_t> runs, int64_t height, int64_t width);
inline void require_valid(const RunLengths& mask) { require_valid(mask.runs, mask.height, mask.width); }

// `points` holds x, y of each corner in turn; the last corner is joined to the first. A pixel is set by the even-odd
// rule on a grid five times as fine. Time and memory grow with corners and columns, not with the magnitude of
// coordinates. Throws Error(invalid) for an odd count, fewer than three corners, or a coordinate that is not finite or
// beyond kMostCoordinate.
RunLengths polygon_mask(std::span<const double> points, int64_t height, int64_t width);
// The union of polygons; without any, an empty mask.
RunLengths polygons_mask(std::span<const std::vector<double>> polygons, int64_t height, int64_t width);

// Pixels of a bitmap (height, width), row by row; any value but 0 is 1. Throws Error(invalid) when the count of pixels
// is another one.
RunLengths bitmap_mask(std::span<const uint8_t> pixels, int64_t height, int64_t width);
std::vector<uint8_t> bitmap(const RunLengths& mask);  // 0 or 1, row by row

// Pixels that at least one of the masks sets. Throws Error(invalid) when there are none or their extents differ.
RunLengths unite(std::span<const RunLengths> masks);
int64_t area(const RunLengths& mask);  // pixels that are 1
// Pixels that are 1 in both. Throws Error(invalid) when their extents differ.
int64_t intersection(const RunLengths& a, const RunLengths& b);

struct PixelBox {
  int64_t x = 0, y = 0, width = 0, height = 0;
  bool operator==(const PixelBox&) const = default;
};
// The smallest box around the pixels that are 1; all 0 for an empty mask.
PixelBox tight_box(const RunLengths& mask);

RunLengths mirror(const RunLengths& mask);  // left and right exchanged
// Nearest neighbour: pixel i of a new axis is pixel min(floor(i * ratio), old - 1), with ratio = old / new and the
// product in float32, as torch's interpolate(mode="nearest") takes it.
RunLengths resize(const RunLengths& mask, int64_t height, int64_t width);

// COCO's compressed form: from the fourth run on each is written less the one two before, in groups of 5 bits plus 48.
std::string compress(const RunLengths& mask);
// Throws Error(invalid), with the position, for a character outside '0' to 'o', text that ends within a run, a run
// beyond 32 bits, or what require_valid refuses.
RunLengths decompress(std::string_view text, int64_t height, int64_t width);

}  // namespace tbd
