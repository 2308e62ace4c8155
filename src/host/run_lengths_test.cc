#include "host/run_lengths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/files.h"
#include "base/json.h"
#include "base/philox.h"

namespace tbd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Points = std::vector<double>;

template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing was refused";
}

// A mask of height x width pixels, each 1 with the probability `density`; neighbours in a column are often alike.
RunLengths random_mask(const Philox& stream, int64_t height, int64_t width) {
  std::vector<uint8_t> pixels(static_cast<size_t>(height * width));
  const double density = stream.uniform(0);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = stream.uniform(i + 1) < density;
  return bitmap_mask(pixels, height, width);
}
int64_t pick(const Philox& stream, uint64_t index, int64_t most) {
  return 1 + static_cast<int64_t>(stream.uniform(index) * static_cast<double>(most));
}
const Philox kStream(7, "test/masks");
constexpr uint32_t kMasks = 200;

RunLengths some_mask(uint32_t index) {
  const Philox extents = kStream.at(1, index);
  return random_mask(kStream.at(2, index), pick(extents, 0, 17), pick(extents, 1, 17));
}

// The outline of pixel (y, x) to (y + height, x + width).
Points rectangle(double x, double y, double width, double height) {
  return {x, y, x + width, y, x + width, y + height, x, y + height};
}

// The definition, walked point by point on the fine grid.
RunLengths by_walking(const Points& points, int64_t height, int64_t width) {
  std::vector<std::pair<int64_t, int64_t>> walk;
  const size_t corners = points.size() / 2;
  const auto fine = [&](size_t i, size_t axis) {
    return static_cast<int64_t>(5 * points[2 * (i % corners) + axis] + .5);
  };
  for (size_t i = 0; i < corners; ++i) {
    int64_t xs = fine(i, 0), ys = fine(i, 1), xe = fine(i + 1, 0), ye = fine(i + 1, 1);
    const int64_t dx = std::abs(xe - xs), dy = std::abs(ye - ys), steps = std::max(dx, dy);
    const bool along_x = dx >= dy, flip = along_x ? xs > xe : ys > ye;
    if (flip) {
      std::swap(xs, xe);
      std::swap(ys, ye);
    }
    const double slope = steps == 0 ? 0 : double(along_x ? ye - ys : xe - xs) / double(steps);
    for (int64_t d = 0; d <= steps; ++d) {
      const int64_t t = flip ? steps - d : d;
      const auto other = static_cast<int64_t>(double(along_x ? ys : xs) + slope * double(t) + .5);
      walk.emplace_back(along_x ? t + xs : other, along_x ? other : t + ys);
    }
  }
  std::vector<int64_t> at;
  for (size_t i = 1; i < walk.size(); ++i) {
    const auto [u0, v0] = walk[i - 1];
    const auto [u, v] = walk[i];
    const double x = (double(u < u0 ? u : u - 1) + .5) / 5 - .5;
    if (u == u0 || std::floor(x) != x || x < 0 || x > double(width - 1)) continue;
    const double y = std::ceil(std::clamp((double(std::min(v, v0)) + .5) / 5 - .5, 0., double(height)));
    at.push_back(int64_t(x) * height + int64_t(y));
  }
  at.push_back(height * width);
  std::ranges::sort(at);
  for (size_t i = at.size() - 1; i > 0; --i) at[i] -= at[i - 1];
  RunLengths mask{height, width, {static_cast<int32_t>(at[0])}};
  for (size_t i = 1; i < at.size(); ++i)
    if (at[i] > 0)
      mask.runs.push_back(static_cast<int32_t>(at[i]));
    else if (++i < at.size())
      mask.runs.back() += static_cast<int32_t>(at[i]);
  return mask;
}

TEST(RunLengths, OfPolygonsEqualPycocotools) {
  const Json cases = parse_json(read_file(TBD_SOURCE_DIR "/src/host/golden/run_lengths.json"), "run_lengths.json");
  ASSERT_EQ(cases.size(), 13u);
  for (const Json& golden : cases) {
    const auto polygons = golden.at("segmentation").get<std::vector<Points>>();
    const RunLengths mask = polygons_mask(polygons, golden.at("height"), golden.at("width"));
    EXPECT_EQ(mask.runs, golden.at("counts").get<std::vector<int32_t>>()) << golden.at("segmentation");
    EXPECT_EQ(compress(mask), golden.at("string").get<std::string>());
    EXPECT_EQ(decompress(compress(mask), mask.height, mask.width), mask);
    EXPECT_EQ(area(mask), golden.at("area").get<int64_t>());
    const PixelBox box = tight_box(mask);
    EXPECT_THAT(golden.at("bbox").get<std::vector<int64_t>>(), ElementsAre(box.x, box.y, box.width, box.height));
  }
}

TEST(RunLengths, OfPolygonsEqualTheDefinition) {
  for (uint32_t i = 0; i < 2000; ++i) {
    const Philox stream = kStream.at(3, i);
    const int64_t height = pick(stream, 0, 40), width = pick(stream, 1, 40);
    Points points(static_cast<size_t>(2 * (2 + pick(stream, 2, 8))));
    const bool whole = i % 3 == 0;  // corners on the grid, repeated and aligned
    for (size_t j = 0; j < points.size(); ++j) {
      points[j] = stream.uniform(10 + j) * 60 - 10;
      if (whole) points[j] = std::floor(points[j] / 4) * 4;
    }
    ASSERT_EQ(polygon_mask(points, height, width), by_walking(points, height, width)) << i;
  }
}

TEST(RunLengths, OfAFarPolygonCostNothing) {
  const Points around = rectangle(-9e7, -9e7, 1.8e8, 1.8e8);
  EXPECT_EQ(polygon_mask(around, 480, 640).runs, (std::vector<int32_t>{0, 480 * 640}));
  const Points steep = {-1e8, -1e8, 1e8, 1e8, 1e8, -1e8};
  EXPECT_NEAR(static_cast<double>(area(polygon_mask(steep, 100, 100))), 5000, 101);
}

// Each edge crosses all columns: more than a million toggles, which are joined on the way.
TEST(RunLengths, OfAPolygonOfManyCornersEqualTheDefinition) {
  Points zigzag;
  for (int i = 0; i < 4'000; ++i) {
    zigzag.push_back(i % 2 == 0 ? -5 : 305);
    zigzag.push_back(kStream.uniform(static_cast<uint64_t>(i)) * 200);
  }
  EXPECT_EQ(polygon_mask(zigzag, 200, 300), by_walking(zigzag, 200, 300));
}

TEST(RunLengths, OfAnOutlineFillIt) {
  const RunLengths mask = polygon_mask(rectangle(3, 2, 4, 5), 10, 9);
  EXPECT_EQ(area(mask), 20);
  EXPECT_EQ(tight_box(mask), (PixelBox{3, 2, 4, 5}));
}

TEST(RunLengths, OfNoPolygonAreEmpty) {
  EXPECT_THAT(polygons_mask({}, 3, 4).runs, ElementsAre(12));
  EXPECT_EQ(tight_box(polygons_mask({}, 3, 4)), PixelBox{});
}

TEST(RunLengths, GoByColumns) {
  const uint8_t pixels[] = {1, 0, 0,  //
                            1, 0, 9};
  const RunLengths mask = bitmap_mask(pixels, 2, 3);
  EXPECT_THAT(mask.runs, ElementsAre(0, 2, 3, 1));
  EXPECT_THAT(bitmap(mask), ElementsAre(1, 0, 0, 1, 0, 1));
  EXPECT_THAT(mirror(mask).runs, ElementsAre(1, 1, 2, 2));
  EXPECT_EQ(tight_box(mask), (PixelBox{0, 0, 3, 2}));
}

TEST(RunLengths, AgreeWithBitmaps) {
  for (uint32_t i = 0; i < kMasks; ++i) {
    const RunLengths mask = some_mask(i);
    const int64_t height = mask.height, width = mask.width;
    const std::vector<uint8_t> pixels = bitmap(mask);
    ASSERT_EQ(bitmap_mask(pixels, height, width), mask);
    ASSERT_EQ(decompress(compress(mask), height, width), mask);
    ASSERT_EQ(area(mask), std::ranges::count(pixels, 1));

    const RunLengths other = random_mask(kStream.at(4, i), height, width);
    const std::vector<uint8_t> others = bitmap(other);
    std::vector<uint8_t> both(pixels.size()), either(pixels.size()), mirrored(pixels.size());
    for (size_t p = 0; p < pixels.size(); ++p) {
      both[p] = pixels[p] & others[p];
      either[p] = pixels[p] | others[p];
      const size_t row = p / static_cast<size_t>(width), column = p % static_cast<size_t>(width);
      mirrored[p] = pixels[(row + 1) * static_cast<size_t>(width) - 1 - column];
    }
    ASSERT_EQ(intersection(mask, other), std::ranges::count(both, 1));
    ASSERT_EQ(bitmap(unite(std::vector{mask, other})), either);
    ASSERT_EQ(bitmap(mirror(mask)), mirrored);
    ASSERT_EQ(mirror(mirror(mask)), mask);
  }
}

TEST(RunLengths, TightBoxIsThatOfTheBitmap) {
  for (uint32_t i = 0; i < kMasks; ++i) {
    const RunLengths mask = some_mask(i);
    const std::vector<uint8_t> pixels = bitmap(mask);
    int64_t left = mask.width, right = -1, top = mask.height, bottom = -1;
    for (int64_t y = 0; y < mask.height; ++y)
      for (int64_t x = 0; x < mask.width; ++x)
        if (pixels[static_cast<size_t>(y * mask.width + x)]) {
          left = std::min(left, x);
          right = std::max(right, x);
          top = std::min(top, y);
          bottom = std::max(bottom, y);
        }
    const PixelBox box = right < 0 ? PixelBox{} : PixelBox{left, top, right - left + 1, bottom - top + 1};
    ASSERT_EQ(tight_box(mask), box);
  }
}

TEST(RunLengths, ResizeAsTheBitmapDoes) {
  for (uint32_t i = 0; i < kMasks; ++i) {
    const RunLengths mask = some_mask(i);
    const int64_t height = pick(kStream.at(5, i), 0, 40), width = pick(kStream.at(5, i), 1, 40);
    const std::vector<uint8_t> pixels = bitmap(mask), resized = bitmap(resize(mask, height, width));
    const auto source = [](int64_t at, int64_t old, int64_t extent) {
      const float ratio = float(old) / float(extent);
      return std::min(int64_t(std::floor(float(at) * ratio)), old - 1);
    };
    for (int64_t y = 0; y < height; ++y)
      for (int64_t x = 0; x < width; ++x)
        ASSERT_EQ(resized[size_t(y * width + x)],
                  pixels[size_t(source(y, mask.height, height) * mask.width + source(x, mask.width, width))]);
  }
}

// In double and in whole numbers pixel 37 of 74 is pixel 3 of 6; in float32 the product stays below 3.
TEST(RunLengths, ResizeInSinglePrecision) {
  const RunLengths mask{1, 6, {3, 3}};  // pixels 3 to 5
  EXPECT_THAT(resize(mask, 1, 74).runs, ElementsAre(38, 36));
}

TEST(RunLengths, UniteManyMasks) {
  std::vector<RunLengths> masks;
  std::vector<uint8_t> pixels(30 * 20);
  for (uint32_t i = 0; i < 9; ++i) {
    masks.push_back(random_mask(kStream.at(6, i), 30, 20));
    const std::vector<uint8_t> more = bitmap(masks.back());
    std::ranges::transform(pixels, more, pixels.begin(), [](uint8_t a, uint8_t b) { return uint8_t(a | b); });
    ASSERT_EQ(bitmap(unite(masks)), pixels);
  }
}

TEST(RunLengths, WithEmptyRunsMeanTheSame) {
  const RunLengths split{3, 4, {2, 0, 1, 2, 0, 3, 4, 0}}, joined{3, 4, {3, 5, 4}};
  require_valid(split);
  EXPECT_EQ(area(split), area(joined));
  EXPECT_EQ(bitmap(split), bitmap(joined));
  EXPECT_EQ(tight_box(split), tight_box(joined));
  EXPECT_EQ(intersection(split, joined), 5);
  EXPECT_EQ(intersection(joined, split), 5);
  EXPECT_EQ(unite(std::vector{split}), joined);
  EXPECT_EQ(mirror(split), mirror(joined));
  EXPECT_EQ(resize(split, 3, 4), joined);
}

TEST(RunLengths, KeepLargeRunsAsText) {
  const RunLengths mask{10'000, 17'000, {0, 170'000'000}};
  EXPECT_EQ(decompress(compress(mask), 10'000, 17'000), mask);
}

TEST(RunLengths, RefuseRunsThatDoNotFill) {
  EXPECT_EQ(refusal([] { require_valid({3, 4, {5, 6}}); }), "run lengths sum to 11, but 3 x 4 pixels are 12");
  EXPECT_EQ(refusal([] { require_valid({3, 4, {5, -1, 8}}); }), "run 1 has the length -1");
  EXPECT_EQ(refusal([] { require_valid({3, 4, {}}); }), "run lengths sum to 0, but 3 x 4 pixels are 12");
  EXPECT_EQ(refusal([] { require_valid({0, 4, {0}}); }), "a mask of 0 x 4 pixels has none");
  EXPECT_EQ(refusal([] {
              require_valid({1, int64_t{1} << 62, {0}});
            }),
            "a mask of 1 x 4611686018427387904 pixels has a side beyond 65535");
  EXPECT_EQ(refusal([] {
              require_valid({60'000, 3'000, {0}});
            }),
            "a mask of 60000 x 3000 pixels is larger than 178956970 pixels");
}

TEST(RunLengths, RefusePolygonsThatAreNone) {
  const auto said = [](const Points& points) { return refusal([&] { polygon_mask(points, 5, 5); }); };
  EXPECT_EQ(said({1, 1, 2, 2, 3}), "a polygon has 5 numbers, an odd count");
  EXPECT_EQ(said({1, 1, 2, 2}), "a polygon has 4 numbers; it needs three corners");
  EXPECT_EQ(said({1, 1, 2, 2, 3, 2e8}), "a polygon has the coordinate 2e+08, beyond 1e+08");
  EXPECT_THAT(said({1, 1, 2, std::nan(""), 3, 3}), HasSubstr("beyond"));
  EXPECT_THAT(said({1, 1, 2, std::numeric_limits<double>::infinity(), 3, 3}), HasSubstr("beyond"));
  EXPECT_THAT(refusal([] { polygons_mask({}, 0, 5); }), HasSubstr("has none"));
}

TEST(RunLengths, RefuseTextThatIsNone) {
  const auto said = [](std::string_view text) { return refusal([&] { decompress(text, 12, 11); }); };
  const std::string text = "j01;1O2N1O2NMU1";
  EXPECT_EQ(decompress(text, 12, 11).runs.size(), 13u);
  for (size_t length = 0; length < text.size(); ++length)
    EXPECT_NE(said(std::string_view(text).substr(0, length)), "nothing was refused") << length;
  EXPECT_EQ(said("j01;1O2N1O2NMU"), "run lengths end within the run at character 13");
  EXPECT_EQ(said("j01;1 2N"), "character 5 of run lengths is none of '0' to 'o'");
  EXPECT_EQ(said("j01;1\xff"), "character 5 of run lengths is none of '0' to 'o'");
  EXPECT_EQ(said("ooooooooooooooo0"), "the run at character 0 of run lengths has more than 35 bits");
  EXPECT_EQ(said("oooooo2"), "the run at character 0 of run lengths has the length 3221225471");
  EXPECT_EQ(said("O"), "the run at character 0 of run lengths has the length -1");
}

TEST(RunLengths, RefuseMasksOfOtherExtents) {
  const RunLengths a{3, 4, {12}}, b{4, 3, {12}};
  EXPECT_EQ(refusal([&] { intersection(a, b); }), "a mask has 3 x 4 pixels, another one 4 x 3");
  EXPECT_THAT(refusal([&] { unite(std::vector{a, b}); }), HasSubstr("another one"));
  EXPECT_EQ(refusal([&] { unite({}); }), "a union of no masks has no extents");
  EXPECT_EQ(refusal([&] { bitmap_mask(std::vector<uint8_t>(11), 3, 4); }), "a bitmap of 3 x 4 pixels has 11 bytes");
}

}  // namespace
}  // namespace tbd
