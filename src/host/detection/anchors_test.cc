#include "host/detection/anchors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/detection/testing_golden.h"

namespace tbd::detection {
namespace {

using ::testing::HasSubstr;
using testing_detection::complaint;
using testing_detection::golden;
using testing_detection::golden_boxes;
using testing_detection::signature;

constexpr double kRatios[] = {0.5, 1, 2};
constexpr double kSizes[] = {32, 64, 128, 256, 512};
constexpr Extent kImage = {800, 1344};
constexpr Extent kExtents[] = {{200, 336}, {100, 168}, {50, 84}, {25, 42}, {13, 21}};

void expect_torchvisions_base_anchors(std::string_view file, int size) {
  const double sizes[] = {static_cast<double>(size)};
  EXPECT_EQ(base_anchors(sizes, kRatios), golden_boxes(file, cat("/base_anchors/", size))) << "size " << size;
}

TEST(Anchors, RoundAsTorchvision) {
  for (const int size : {8, 16, 32, 64, 128, 256, 512}) expect_torchvisions_base_anchors("small", size);
}

TEST(Anchors, RoundHalvesToEven) {
  for (const int size : {9, 11, 13}) expect_torchvisions_base_anchors("rules", size);
}

TEST(Anchors, GoByRatioAndThenSize) {
  const double sizes[] = {128, 256};
  const std::vector<Box> boxes = base_anchors(sizes, kRatios);
  ASSERT_EQ(boxes.size(), 6);
  EXPECT_EQ(boxes[0], (Box{-91, -45, 91, 45}));
  EXPECT_EQ(boxes[1], (Box{-181, -91, 181, 91}));
  EXPECT_EQ(boxes[2], (Box{-64, -64, 64, 64}));
}

TEST(Anchors, StrideIsTheWholeQuotient) {
  const Pyramid levels = pyramid(kImage, kExtents, kSizes, kRatios);
  EXPECT_EQ(levels.levels[3].stride, (Extent{32, 32}));
  EXPECT_EQ(levels.levels[4].stride, (Extent{61, 64})) << "800 / 13, not the 64 of the level's name";
}

TEST(Anchors, AreTorchvisions) {
  const Pyramid levels = pyramid(kImage, kExtents, kSizes, kRatios);
  EXPECT_EQ(anchor_count(levels), 268'569);
  std::vector<double> corners;
  for (const Box& box : anchors(levels)) corners.insert(corners.end(), {box.x1, box.y1, box.x2, box.y2});
  EXPECT_EQ(signature(corners), golden("rules", "/anchors_800x1344"));
}

TEST(Anchors, GoByLevelRowColumnRatio) {
  const std::vector<Box> boxes = anchors(pyramid(kImage, kExtents, kSizes, kRatios));
  EXPECT_EQ(boxes[0], (Box{-23, -11, 23, 11}));
  EXPECT_EQ(boxes[4], (Box{4 - 16, -16, 4 + 16, 16}));
  EXPECT_EQ(boxes[3 * 336 + 2], (Box{-11, 4 - 23, 11, 4 + 23}));
  EXPECT_EQ(boxes[3 * 200 * 336], (Box{-45, -23, 45, 23}));
  EXPECT_EQ(boxes.back(), (Box{20 * 64 - 181, 12 * 61 - 362, 20 * 64 + 181, 12 * 61 + 362}));
}

TEST(Anchors, RefuseSizesThatDoNotShareOut) {
  const double sizes[] = {32, 64, 128};
  EXPECT_THROW(pyramid(kImage, kExtents, sizes, kRatios), Error);
}

TEST(Anchors, RefuseMapsLargerThanTheImage) {
  const double sizes[] = {32};
  const Extent empty[] = {{0, 4}};
  EXPECT_THROW(pyramid({8, 8}, empty, sizes, kRatios), Error);
  const Extent large[] = {{4, 9}};
  EXPECT_THAT(complaint([&] { pyramid({8, 8}, large, sizes, kRatios); }), HasSubstr("level 0 has 4 x 9 cells"));
}

TEST(EfficientDetAnchors, AreAsManyAsEffdets) {
  EXPECT_EQ(efficientdet_anchors({.image = 512, .extents = {64, 32, 16, 8, 4}}).size(), 49'104);
}

TEST(EfficientDetAnchors, GoByLevelRowColumnOctaveAspect) {
  const std::vector<YxBox> boxes = efficientdet_anchors({.image = 128, .extents = {16, 8}});
  EXPECT_EQ(boxes[0], (YxBox{4 - 16, 4 - 16, 4 + 16, 4 + 16}));
  // Wide first: half sides 16 x 1.4 along x and 16 x 0.7 along y.
  EXPECT_EQ(boxes[1], (YxBox{4 - 11.2F, 4 - 22.4F, 4 + 11.2F, 4 + 22.4F}));
  EXPECT_EQ(boxes[9], (YxBox{4 - 16, 12 - 16, 4 + 16, 12 + 16}));
  EXPECT_EQ(boxes[9 * 16], (YxBox{12 - 16, 4 - 16, 12 + 16, 4 + 16}));
  EXPECT_EQ(boxes[9 * 16 * 16], (YxBox{8 - 32, 8 - 32, 8 + 32, 8 + 32}));
}

TEST(EfficientDetAnchors, RefuseAnExtentThatDoesNotDivide) {
  EXPECT_THROW(efficientdet_anchors({.image = 128, .extents = {15}}), Error);
  EXPECT_THROW(efficientdet_anchors({.image = 128, .extents = {0}}), Error);
}

}  // namespace
}  // namespace tbd::detection
