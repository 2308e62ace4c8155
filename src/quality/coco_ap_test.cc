#include "quality/coco_ap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "quality/coco_json.h"

namespace tbd {
namespace {

using ::testing::HasSubstr;

std::string judging_says(const CocoGroundTruth& truth, const std::vector<CocoDetection>& detections,
                         CocoRegion region) {
  try {
    coco_curves(truth, detections, region);
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing was refused";
}

CocoAp boxes(const CocoGroundTruth& truth, const std::vector<CocoDetection>& detections) {
  return coco_ap(coco_curves(truth, detections, CocoRegion::box));
}

// Two images, two categories.
CocoGroundTruth set_of(std::vector<CocoObject> objects) { return {{4, 9}, {1, 7}, std::move(objects)}; }
constexpr CocoBox kBox = {10, 10, 40, 50};
CocoObject object(int64_t image, int64_t category, CocoBox box = kBox) {
  return {image, category, box, box.width * box.height, false, {}};
}
CocoDetection detection(int64_t image, int64_t category, double score, CocoBox box = kBox) {
  return {image, category, score, box, {}};
}

// Cells that there are, as pycocotools' arrays hold them.
struct Sums {
  double precision = 0, recall = 0;
};
Sums sums_of(const CocoCurves& curves) {
  Sums sums;
  for (size_t category = 0; category < curves.categories().size(); ++category)
    for (size_t area = 0; area < kCocoAreas; ++area)
      for (size_t limit = 0; limit < kCocoLimits; ++limit)
        for (size_t overlap = 0; overlap < kCocoOverlaps; ++overlap)
          if (const auto& curve = curves.at(category, area, limit, overlap)) {
            sums.precision = std::accumulate(curve->precision.begin(), curve->precision.end(), sums.precision);
            sums.recall += curve->recall;
          }
  return sums;
}

class CocoGolden : public ::testing::TestWithParam<CocoRegion> {};

TEST_P(CocoGolden, EqualsPycocotools) {
  constexpr double kTolerance = 1e-12;
  const Json golden = parse_json(read_file(TBD_SOURCE_DIR "/src/quality/golden/coco_ap.json"), "coco_ap.json");
  const Json& expected = golden.at("expected").at(GetParam() == CocoRegion::box ? "bbox" : "segm");
  const CocoGroundTruth truth = coco_ground_truth(golden.at("ground_truth"), GetParam());
  const std::vector<CocoDetection> detections = coco_detections(golden.at("detections"), GetParam());
  const CocoCurves curves = coco_curves(truth, detections, GetParam());

  const CocoAp ap = coco_ap(curves);
  const std::optional<double> stats[] = {ap.ap,   ap.ap_50, ap.ap_75,  ap.ap_small, ap.ap_medium, ap.ap_large,
                                         ap.ar_1, ap.ar_10, ap.ar_100, ap.ar_small, ap.ar_medium, ap.ar_large};
  ASSERT_EQ(expected.at("stats").size(), std::size(stats));
  for (size_t i = 0; i < std::size(stats); ++i)
    EXPECT_NEAR(stats[i].value_or(-1), expected.at("stats")[i].get<double>(), kTolerance) << i;
  ASSERT_EQ(ap.by_category.size(), expected.at("per_category_ap").size());
  for (const auto& [category, value] : ap.by_category)
    EXPECT_NEAR(value.value_or(-1), expected.at("per_category_ap").at(std::to_string(category)).get<double>(),
                kTolerance);
  const Sums sums = sums_of(curves);
  EXPECT_NEAR(sums.precision, expected.at("precision_sum").get<double>(), 1e-9);  // of ten thousands of cells
  EXPECT_NEAR(sums.recall, expected.at("recall_sum").get<double>(), kTolerance * 100);
}

INSTANTIATE_TEST_SUITE_P(Region, CocoGolden, ::testing::Values(CocoRegion::box, CocoRegion::mask),
                         [](const auto& info) { return info.param == CocoRegion::box ? "Boxes" : "Masks"; });

TEST(CocoAp, IsOneForPerfectDetections) {
  const CocoAp ap = boxes(set_of({object(4, 1), object(9, 7)}), {detection(4, 1, 0.9), detection(9, 7, 0.1)});
  EXPECT_DOUBLE_EQ(*ap.ap, 1);
  EXPECT_DOUBLE_EQ(*ap.ar_1, 1);
  EXPECT_DOUBLE_EQ(*ap.ap_medium, 1);
  EXPECT_FALSE(ap.ap_small);
  EXPECT_FALSE(ap.ar_large);
}

TEST(CocoAp, IsAbsentWithoutObjects) {
  const CocoAp ap = boxes(set_of({}), {detection(4, 1, 0.9)});
  EXPECT_FALSE(ap.ap);
  EXPECT_FALSE(ap.ar_100);
  ASSERT_EQ(ap.by_category.size(), 2u);
  EXPECT_FALSE(ap.by_category[0].ap);
  EXPECT_TRUE(boxes({}, {}).by_category.empty());
}

TEST(CocoAp, IsZeroWithoutDetections) {
  const CocoAp ap = boxes(set_of({object(4, 1)}), {});
  EXPECT_EQ(ap.ap, 0);
  EXPECT_EQ(ap.ar_100, 0);
  EXPECT_EQ(ap.by_category[0].ap, 0);
  EXPECT_FALSE(ap.by_category[1].ap);
}

// With three quarters covered it is found at 0.5, 0.55, ... 0.75, of ten overlaps.
TEST(CocoAp, CountsTheOverlapsThatAreReached) {
  const CocoAp ap = boxes(set_of({object(4, 1, {0, 0, 40, 40})}), {detection(4, 1, 1, {0, 0, 40, 30})});
  EXPECT_NEAR(*ap.ap, 0.6, 1e-15);
  EXPECT_NEAR(*ap.ap_75, 1, 1e-15);
}

// The surer one overlaps both alike, the other the first alone.
TEST(CocoAp, TakesTheLaterOfObjectsOverlappedAlike) {
  const CocoGroundTruth truth = set_of({object(4, 1, {0, 0, 10, 10}), object(4, 1, {2, 0, 10, 10})});
  const CocoAp ap = boxes(truth, {detection(4, 1, 0.9, {1, 0, 10, 10}), detection(4, 1, 0.8, {0, 0, 6, 10})});
  EXPECT_DOUBLE_EQ(ap.ap_50.value(), 1);
}

TEST(CocoAp, CrowdTakesAnyNumberAndCountsNone) {
  CocoObject crowd = object(4, 1, {0, 0, 400, 400});
  crowd.crowd = true;
  const CocoGroundTruth truth = set_of({object(4, 1, {500, 500, 40, 40}), crowd});
  const CocoDetection right = detection(4, 1, 0.5, {500, 500, 40, 40});
  EXPECT_DOUBLE_EQ(*boxes(truth, {detection(4, 1, 0.9), detection(4, 1, 0.8), right}).ap, 1);
  EXPECT_DOUBLE_EQ(
      *boxes(set_of({object(4, 1, {500, 500, 40, 40})}), {detection(4, 1, 0.9), detection(4, 1, 0.8), right}).ap,
      1 / 3.0);
}

TEST(CocoAp, PrefersAnObjectThatCountsToACrowd) {
  CocoObject crowd = object(4, 1, {0, 0, 400, 400});
  crowd.crowd = true;
  const CocoDetection three_quarters = detection(4, 1, 1, {0, 0, 40, 30});
  EXPECT_NEAR(*boxes(set_of({crowd, object(4, 1, {0, 0, 40, 40})}), {three_quarters}).ap, 0.6, 1e-15);
}

TEST(CocoAp, HasBothEndsInARangeOfAreas) {
  const CocoAp ap = boxes(set_of({object(4, 1, {0, 0, 32, 32})}), {detection(4, 1, 1, {0, 0, 32, 32})});
  EXPECT_NEAR(*ap.ap_small, 1, 1e-15);
  ASSERT_TRUE(ap.ap_medium);
  EXPECT_NEAR(*ap.ap_medium, 1, 1e-15);
  EXPECT_FALSE(ap.ap_large);
}

TEST(CocoAp, TakesAHundredDetections) {
  std::vector<CocoDetection> detections(120, detection(4, 1, 0.5, {300, 300, 40, 40}));
  detections.push_back(detection(4, 1, 0.5));  // equal scores: the order in the list decides
  EXPECT_EQ(boxes(set_of({object(4, 1)}), detections).ap, 0);
  detections.back().score = 0.6;
  EXPECT_DOUBLE_EQ(*boxes(set_of({object(4, 1)}), detections).ap, 1);
}

TEST(CocoAp, DoesNotDependOnTheOrderOfImages) {
  CocoGroundTruth truth = set_of({object(4, 1), object(9, 1), object(9, 7)});
  const std::vector<CocoDetection> detections = {detection(9, 1, 0.3), detection(4, 1, 0.3, {12, 10, 40, 50}),
                                                 detection(9, 7, 0.3)};
  const CocoAp ap = boxes(truth, detections);
  std::swap(truth.images[0], truth.images[1]);
  std::swap(truth.categories[0], truth.categories[1]);
  EXPECT_EQ(boxes(truth, detections).ap, ap.ap);
}

TEST(CocoAp, IgnoresCategoriesThatAreNotListed) {
  const CocoAp ap = boxes(set_of({object(4, 1), object(4, 2)}), {detection(4, 1, 0.9), detection(4, 3, 0.9)});
  EXPECT_DOUBLE_EQ(*ap.ap, 1);
  EXPECT_EQ(ap.by_category.size(), 2u);
}

TEST(CocoAp, RefusesWhatItCannotJudge) {
  const auto kBoxes = CocoRegion::box;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(judging_says(set_of({object(4, 1), object(5, 1)}), {}, kBoxes), "object 1: image 5 is not in the set");
  EXPECT_EQ(judging_says(set_of({}), {detection(3, 1, 1)}, kBoxes), "detection 0: image 3 is not in the set");
  EXPECT_EQ(judging_says(set_of({}), {detection(4, 1, std::nan(""))}, kBoxes), "detection 0: score nan is none");
  EXPECT_EQ(judging_says(set_of({}), {detection(4, 1, 1, {0, 0, -1, 2})}, kBoxes), "detection 0: box 0 0 -1 2 is none");
  EXPECT_THAT(judging_says(set_of({}), {detection(4, 1, 1, {0, 0, kInfinity, 2})}, kBoxes), HasSubstr("is none"));
  EXPECT_EQ(judging_says(set_of({}), {detection(4, 1, 1)}, CocoRegion::mask),
            "detection 0: a mask of 0 x 0 pixels has none");

  CocoObject tall = object(4, 1);
  tall.mask = {4, 3, {0, 12}};
  CocoDetection wide = detection(4, 1, 1);
  wide.mask = {3, 4, {0, 12}};
  EXPECT_EQ(judging_says(set_of({tall}), {wide}, CocoRegion::mask),
            "detection 0: a mask has 3 x 4 pixels, another one 4 x 3");
}

}  // namespace
}  // namespace tbd
