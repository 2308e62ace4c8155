#include "data/sets/mask_outline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/philox.h"

namespace tbd {
namespace {
using testing::ElementsAre;

RunLengths drawn_mask(const std::vector<std::string>& rows) {
  std::vector<uint8_t> pixels;
  for (const std::string& row : rows)
    for (const char c : row) pixels.push_back(c == '#');
  return bitmap_mask(pixels, static_cast<int64_t>(rows.size()), static_cast<int64_t>(rows[0].size()));
}

TEST(MaskOutline, GoesAroundPixelsClockwise) {
  const auto polygons = outline(drawn_mask({"....", ".##.", ".#..", "...."}));
  ASSERT_TRUE(polygons);
  EXPECT_THAT(*polygons, ElementsAre(ElementsAre(1, 1, 3, 1, 3, 2, 2, 2, 2, 3, 1, 3)));
}

TEST(MaskOutline, PartsThatTouchAtACornerAreTwo) {
  EXPECT_EQ(outline(drawn_mask({"#.", ".#"}))->size(), 2);
  EXPECT_EQ(outline(drawn_mask({".#", "#."}))->size(), 2);
}

TEST(MaskOutline, AHoleHasNoOutlineNorHasNothing) {
  EXPECT_FALSE(outline(drawn_mask({"###", "#.#", "###"})));
  EXPECT_FALSE(outline(drawn_mask({"...", "..."})));
  EXPECT_TRUE(outline(drawn_mask({"###", "#.#", "#.#"})));
}

TEST(MaskOutline, PolygonsFillExactlyTheMaskAgain) {
  int filled = 0;
  for (uint32_t k = 0; k < 300; ++k) {
    const Philox draws(3, "test/outline", k);
    const auto height = static_cast<int64_t>(2 + 14 * draws.uniform(0)),
               width = static_cast<int64_t>(2 + 14 * draws.uniform(1));
    std::vector<uint8_t> pixels;
    for (int64_t i = 0; i < height * width; ++i)
      pixels.push_back(draws.uniform(2 + static_cast<uint64_t>(i)) < 0.1 + 0.15 * (k % 4));
    const RunLengths mask = bitmap_mask(pixels, height, width);
    const auto polygons = outline(mask);
    if (!polygons) continue;
    ++filled;
    EXPECT_EQ(polygons_mask(*polygons, height, width), mask) << k;
  }
  EXPECT_GT(filled, 100);
}

}  // namespace
}  // namespace tbd
