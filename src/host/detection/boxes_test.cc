#include "host/detection/boxes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "host/detection/testing_golden.h"

namespace tbd::detection {
namespace {

using ::testing::HasSubstr;
using ::testing::Pointwise;
using testing_detection::complaint;
using testing_detection::golden;
using testing_detection::golden_boxes;

MATCHER_P(RelativelyNear, tolerance, "") {
  const double want = std::get<1>(arg);
  return std::abs(std::get<0>(arg) - want) <= tolerance * std::max(1.0, std::abs(want));
}

TEST(Boxes, OverlapHasNoPlusOne) {
  EXPECT_EQ(overlap({0, 0, 2, 2}, {1, 0, 3, 2}), 2.0 / 6.0);
  EXPECT_EQ(overlap({0, 0, 2, 2}, {2, 0, 4, 2}), 0) << "boxes that touch do not overlap";
  EXPECT_EQ(overlap({0, 0, 1, 1}, {0, 0, 1, 1}), 1);
}

TEST(Boxes, OverlapOfBoxesWithoutAreaIsZero) {
  EXPECT_EQ(overlap({1, 1, 1, 1}, {1, 1, 1, 1}), 0);
  EXPECT_EQ(overlap({0, 0, 4, 4}, {1, 1, 1, 3}), 0);
}

std::vector<double> flat_codes(std::span<const BoxCode> codes) {
  std::vector<double> out;
  for (const BoxCode& code : codes) out.insert(out.end(), code.begin(), code.end());
  return out;
}

TEST(Boxes, DecodesAsTorchvision) {
  const std::vector<Box> anchors = golden_boxes("small", "/box_code/anchors");
  const std::vector<double> deltas = golden("small", "/box_code/deltas");
  std::vector<BoxCode> corners;
  for (size_t i = 0; i < anchors.size(); ++i) {
    const BoxCode code = {deltas[4 * i], deltas[4 * i + 1], deltas[4 * i + 2], deltas[4 * i + 3]};
    const Box box = decode(code, anchors[i], kProposalWeights);
    corners.push_back({box.x1, box.y1, box.x2, box.y2});
  }
  EXPECT_THAT(flat_codes(corners), Pointwise(RelativelyNear(1e-14), golden("small", "/box_code/decoded")));
}

TEST(Boxes, EncodesAsTorchvision) {
  const std::vector<Box> anchors = golden_boxes("small", "/box_code/anchors");
  const std::vector<Box> boxes = golden_boxes("small", "/box_code/boxes");
  std::vector<BoxCode> plain, weighted;
  for (size_t i = 0; i < boxes.size(); ++i) {
    plain.push_back(encode(boxes[i], anchors[i], kProposalWeights));
    weighted.push_back(encode(boxes[i], anchors[i], kDetectionWeights));
  }
  EXPECT_THAT(flat_codes(plain), Pointwise(RelativelyNear(1e-15), golden("small", "/box_code/encoded_1111")));
  EXPECT_THAT(flat_codes(weighted), Pointwise(RelativelyNear(1e-15), golden("small", "/box_code/encoded_10_10_5_5")));
}

TEST(Boxes, DecodeInvertsEncode) {
  const Box anchor = {10, 20, 60, 90};
  for (const Box& box : testing_detection::random_boxes(1, 200, {300, 400}, 100)) {
    const Box back = decode(encode(box, anchor, kDetectionWeights), anchor, kDetectionWeights);
    EXPECT_NEAR(back.x1, box.x1, 1e-10);
    EXPECT_NEAR(back.y1, box.y1, 1e-10);
    EXPECT_NEAR(back.x2, box.x2, 1e-10);
    EXPECT_NEAR(back.y2, box.y2, 1e-10);
  }
}

TEST(Boxes, DecodeLimitsTheScale) {
  const Box box = decode({0, 0, 100, std::numeric_limits<double>::infinity()}, {0, 0, 16, 16}, kProposalWeights);
  EXPECT_NEAR(box.x2 - box.x1, 1000, 1e-9);
  EXPECT_NEAR(box.y2 - box.y1, 1000, 1e-9);
}

TEST(Boxes, ClipsToTheImage) {
  EXPECT_EQ(clip({-3, 2, 50, 90}, {40, 30}), (Box{0, 2, 30, 40}));
  EXPECT_EQ(clip({-9, -9, -1, -1}, {40, 30}), (Box{0, 0, 0, 0}));
}

TEST(Boxes, NamesTheBoxWithoutArea) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Box bad : {Box{3, 0, 3, 1}, Box{4, 0, 3, 1}, Box{0, 2, 1, 2}, Box{0, 0, nan, 1}}) {
    const Box boxes[] = {{0, 0, 1, 1}, bad};
    EXPECT_THAT(complaint([&] { require_area(boxes); }), HasSubstr("box 1: "));
  }
}

}  // namespace
}  // namespace tbd::detection
