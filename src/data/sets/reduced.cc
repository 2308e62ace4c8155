#include "data/sets/reduced.h"

#include <algorithm>
#include <cmath>

#include "data/resampler.h"

namespace tbd {

RgbImage reduced(const RgbImage& source, const Window& window, const PixelRect& readable, ImageSize output) {
  const AxisFilter vertical = triangle_filter(window.top, window.height, output.height, readable.top, readable.bottom);
  const AxisFilter horizontal = triangle_filter(window.left, window.width, output.width, readable.left, readable.right);
  const int64_t plane = output.width * output.height, stride = 3 * source.size.width;
  std::vector<float> planes(static_cast<size_t>(3 * plane));
  int64_t row = vertical.begin;
  const auto read_row = [&](uint8_t* rgb) { std::copy_n(source.pixels.data() + row++ * stride, stride, rgb); };
  const Normalisation as_levels{{0, 0, 0}, {1 / 255.f, 1 / 255.f, 1 / 255.f}};
  Resampler().run(vertical, horizontal, source.size.width, read_row, as_levels, planes);
  RgbImage image{.size = output};
  for (int64_t i = 0; i < plane; ++i)
    for (int64_t c = 0; c < 3; ++c)
      image.pixels.push_back(
          static_cast<uint8_t>(std::clamp(std::lround(planes[static_cast<size_t>(c * plane + i)]), 0l, 255l)));
  return image;
}

}  // namespace tbd
