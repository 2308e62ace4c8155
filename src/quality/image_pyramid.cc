// The kernel is a product of two lines: rows are smoothed, then columns.
#include "quality/image_pyramid.h"

#include <array>
#include <cstdlib>
#include <utility>

#include "base/error.h"

namespace tbd {
namespace {

constexpr int64_t kReach = 2;
constexpr std::array<double, 2 * kReach + 1> kKernel = {1. / 16, 4. / 16, 6. / 16, 4. / 16, 1. / 16};

// The place in [0, size) that an index up to kReach beyond the edge mirrors.
int64_t mirrored(int64_t index, int64_t size) {
  if (size == 1) return 0;
  const int64_t inside = std::abs(index);
  return inside < size ? inside : 2 * (size - 1) - inside;
}
size_t place(const ImagePlane& plane, int64_t row, int64_t column) {
  return static_cast<size_t>(row * plane.width + column);
}

ImagePlane smooth_rows(const ImagePlane& plane) {
  ImagePlane smooth = plane;
  for (int64_t row = 0; row < plane.height; ++row)
    for (int64_t column = 0; column < plane.width; ++column) {
      double sum = 0;
      for (int64_t k = -kReach; k <= kReach; ++k)
        sum += kKernel[static_cast<size_t>(k + kReach)] *
               plane.values[place(plane, row, mirrored(column + k, plane.width))];
      smooth.values[place(plane, row, column)] = sum;
    }
  return smooth;
}
ImagePlane transpose(const ImagePlane& plane) {
  ImagePlane turned{.height = plane.width, .width = plane.height, .values = std::vector<double>(plane.values.size())};
  for (int64_t row = 0; row < plane.height; ++row)
    for (int64_t column = 0; column < plane.width; ++column)
      turned.values[place(turned, column, row)] = plane.values[place(plane, row, column)];
  return turned;
}
ImagePlane smooth(const ImagePlane& plane) { return transpose(smooth_rows(transpose(smooth_rows(plane)))); }

}  // namespace

ImagePlane pyramid_down(const ImagePlane& plane) {
  require(plane.height % 2 == 0 && plane.width % 2 == 0, "an image of ", plane.height, " x ", plane.width,
          " cannot be halved");
  const ImagePlane whole = smooth(plane);
  ImagePlane half{.height = plane.height / 2, .width = plane.width / 2};
  for (int64_t row = 0; row < half.height; ++row)
    for (int64_t column = 0; column < half.width; ++column)
      half.values.push_back(whole.values[place(whole, 2 * row, 2 * column)]);
  return half;
}

ImagePlane pyramid_up(const ImagePlane& plane) {
  ImagePlane spread{.height = 2 * plane.height, .width = 2 * plane.width};
  spread.values.assign(4 * plane.values.size(), 0);
  for (int64_t row = 0; row < plane.height; ++row)
    for (int64_t column = 0; column < plane.width; ++column)
      spread.values[place(spread, 2 * row, 2 * column)] = 4 * plane.values[place(plane, row, column)];
  return smooth(spread);
}

std::vector<ImagePlane> laplacian_pyramid(ImagePlane plane, int64_t levels) {
  require(levels >= 1, "a pyramid of ", levels, " levels");
  std::vector<ImagePlane> pyramid;
  for (int64_t level = 1; level < levels; ++level) {
    ImagePlane half = pyramid_down(plane);
    const ImagePlane up = pyramid_up(half);
    for (size_t i = 0; i < plane.values.size(); ++i) plane.values[i] -= up.values[i];
    pyramid.push_back(std::exchange(plane, std::move(half)));
  }
  pyramid.push_back(std::move(plane));
  return pyramid;
}

}  // namespace tbd
