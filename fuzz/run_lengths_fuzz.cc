// Any bytes as a compressed mask or as polygons: run lengths that fill their extents and on which all functions agree,
// or one Error. The first byte picks: 'p' polygons, else text; then come height and width, a byte each. Polygons: 16
// bits a coordinate in eighths of a pixel; 0x8000 ends one.
#include <cstdlib>
#include <string>
#include <vector>

#include "base/error.h"
#include "host/run_lengths.h"

namespace {

using Polygons = std::vector<std::vector<double>>;

Polygons polygons_of(const uint8_t* data, size_t size) {
  Polygons polygons(1);
  for (size_t i = 0; i + 1 < size; i += 2) {
    const auto value = static_cast<int16_t>(data[i] | data[i + 1] << 8);
    if (value == INT16_MIN)
      polygons.emplace_back();
    else
      polygons.back().push_back(value % 64 == 63 ? 1e4 * value : value / 8.0);  // now and then far away
  }
  return polygons;
}

void expect(bool holds) {
  if (!holds) std::abort();
}

void agree(const tbd::RunLengths& mask) {
  tbd::require_valid(mask);
  const int64_t pixels = tbd::area(mask);
  const tbd::RunLengths plain = tbd::bitmap_mask(tbd::bitmap(mask), mask.height, mask.width);
  expect(tbd::area(plain) == pixels && tbd::intersection(plain, mask) == pixels);
  expect(tbd::unite(std::vector{mask, mask}) == plain);
  expect(tbd::decompress(tbd::compress(mask), mask.height, mask.width) == mask);
  expect(tbd::mirror(tbd::mirror(mask)) == plain);
  expect(tbd::resize(mask, mask.height, mask.width) == plain);
  expect(tbd::area(tbd::resize(mask, 2 * mask.height, 2 * mask.width)) == 4 * pixels);

  const tbd::RunLengths mirrored = tbd::mirror(mask);
  const int64_t common = tbd::intersection(mask, mirrored);
  expect(tbd::area(tbd::unite(std::vector{mask, mirrored})) == 2 * pixels - common);
  const tbd::PixelBox box = tbd::tight_box(mask), back = tbd::tight_box(mirrored);
  expect(box.width * box.height >= pixels && box.height == back.height && box.width == back.width);
  expect(pixels == 0 || back.x == mask.width - box.x - box.width);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3) return 0;
  const int64_t height = data[1], width = data[2];
  try {
    if (data[0] == 'p')
      agree(tbd::polygons_mask(polygons_of(data + 3, size - 3), height, width));
    else
      agree(tbd::decompress({reinterpret_cast<const char*>(data) + 3, size - 3}, height, width));
  } catch (const tbd::Error&) {
  }
  return 0;
}
