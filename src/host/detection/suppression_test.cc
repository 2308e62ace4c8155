#include "host/detection/suppression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "base/philox.h"
#include "host/detection/testing_golden.h"

namespace tbd::detection {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing_detection::golden;
using testing_detection::golden_boxes;
using testing_detection::golden_integers;
using testing_detection::random_boxes;

std::vector<int32_t> plain_loop(const std::vector<Box>& boxes, double most) {
  std::vector<int32_t> kept;
  for (int32_t i = 0; i < std::ssize(boxes); ++i) {
    const bool dropped =
        std::any_of(kept.begin(), kept.end(), [&](int32_t k) { return overlap(boxes[k], boxes[i]) > most; });
    if (!dropped) kept.push_back(i);
  }
  return kept;
}

TEST(Suppression, KeepsAsTorchvisionWithTies) {
  const double most = golden("small", "/suppression/overlap")[0];
  EXPECT_EQ(suppress(golden_boxes("small", "/suppression/boxes"), golden("small", "/suppression/scores"), most),
            golden_integers("small", "/suppression/kept"));
}

TEST(Suppression, OfSmallBoxesIsTorchvisions) {
  EXPECT_EQ(suppress_sorted(golden_boxes("rules", "/suppression/boxes"), golden("rules", "/suppression/overlap")[0]),
            golden_integers("rules", "/suppression/kept"));
}

TEST(Suppression, IsThePlainLoop) {
  for (const double most : {0.0, 0.1, 0.5, 0.7, 0.95, 1.0})
    for (uint32_t seed = 0; seed < 6; ++seed) {
      std::vector<Box> boxes = random_boxes(seed, 300, {60, 80}, seed % 2 == 0 ? 30 : 8);
      boxes.insert(boxes.end(), boxes.begin(), boxes.begin() + 20);
      EXPECT_EQ(suppress_sorted(boxes, most), plain_loop(boxes, most)) << "most " << most << ", seed " << seed;
    }
}

TEST(Suppression, IsThePlainLoopAtTheThreshold) {
  // Boxes of width 10 that share exactly 1/2 and a bit more or less, on both sides of a wider one.
  std::vector<Box> boxes = {{100, 0, 110, 10}};
  for (int step = -40; step <= 40; ++step)
    for (const double width : {5.0, 10.0, 20.0}) {
      const double x = 100 + step * 0.25;
      boxes.push_back({x, 0, x + width, 10});
    }
  for (const double most : {0.25, 1.0 / 3, 0.5, 0.6}) EXPECT_EQ(suppress_sorted(boxes, most), plain_loop(boxes, most));
}

TEST(Suppression, DropsAboveTheOverlapAlone) {
  const std::vector<Box> boxes = {{0, 0, 2, 1}, {1, 0, 3, 1}};  // they share exactly a third
  EXPECT_THAT(suppress_sorted(boxes, 1.0 / 3), ElementsAre(0, 1));
  EXPECT_THAT(suppress_sorted(boxes, 0.333), ElementsAre(0));
}

TEST(Suppression, KeepsBoxesWithoutArea) {
  const std::vector<Box> boxes = {{1, 1, 1, 1}, {1, 1, 1, 1}, {0, 0, 2, 2}, {5, 0, 4, 2}};
  EXPECT_THAT(suppress_sorted(boxes, 0), ElementsAre(0, 1, 2, 3));
}

TEST(Suppression, TakesTheLowerOfEqualScores) {
  const std::vector<Box> boxes = {{0, 0, 10, 10}, {0, 0, 10, 9}, {0, 0, 10, 9.5}};
  EXPECT_THAT(suppress(boxes, std::vector<double>{1, 1, 1}, 0.5), ElementsAre(0));
  EXPECT_THAT(suppress(boxes, std::vector<double>{1, 2, 2}, 0.5), ElementsAre(1));
}

TEST(Suppression, KeepsClassesApart) {
  const std::vector<Box> boxes = {{0, 0, 10, 10}, {0, 0, 10, 9}, {0, 0, 10, 9.5}};
  EXPECT_THAT(suppress_by_class(boxes, std::vector<double>{1, 3, 2}, std::vector<int32_t>{4, 7, 7}, 0.5),
              ElementsAre(1, 0));
}

TEST(Suppression, ByClassIsThePlainLoopOnBoxesFarApart) {
  std::vector<Box> boxes = random_boxes(3, 400, {60, 80}, 30);
  std::vector<double> scores;
  std::vector<int32_t> classes;
  const Philox draw(5, "test/scores");
  for (size_t i = 0; i < boxes.size(); ++i) {
    scores.push_back(static_cast<double>(draw.word(2 * i) % 100) / 100);
    classes.push_back(static_cast<int32_t>(draw.word(2 * i + 1) % 5));
  }
  const std::vector<int32_t> kept = suppress_by_class(boxes, scores, classes, 0.3);
  // Each class in a place of its own: whole offsets leave the arithmetic on quarters exact.
  for (size_t i = 0; i < boxes.size(); ++i) {
    boxes[i].x1 += 1000 * classes[i];
    boxes[i].x2 += 1000 * classes[i];
  }
  EXPECT_EQ(kept, suppress(boxes, scores, 0.3));
}

TEST(Suppression, OfNothingKeepsNothing) { EXPECT_THAT(suppress({}, {}, 0.5), IsEmpty()); }

TEST(Suppression, RefusesWhatItCannotOrder) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Box> boxes = {{0, 0, 1, 1}};
  EXPECT_THROW(suppress(boxes, std::vector<double>{nan}, 0.5), Error);
  EXPECT_THROW(suppress(boxes, std::vector<double>{1, 2}, 0.5), Error);
  EXPECT_THROW(suppress_by_class(boxes, std::vector<double>{1}, {}, 0.5), Error);
  EXPECT_THROW(suppress_sorted(boxes, nan), Error);
  EXPECT_THROW(suppress_sorted(boxes, 1.5), Error);
  EXPECT_THROW(suppress_sorted(std::vector<Box>{{0, 0, nan, 1}}, 0.5), Error);
}

}  // namespace
}  // namespace tbd::detection
