#include "quality/coco_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/json.h"

namespace tbd {
namespace {

using ::testing::ElementsAre;

template <class Call>
std::string reading_says(const Call& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing was refused";
}

const char* const kSet = R"({"images": [{"id": 3, "height": 4, "width": 5}], "categories": [{"id": 7, "name": "cat"}],
  "annotations": [{"id": 12, "image_id": 3, "category_id": 7, "bbox": [1, 1, 2.5, 2], "area": 4, "iscrowd": 0,
                   "segmentation": [[1, 1, 3, 1, 3, 3, 1, 3]]}]})";

TEST(CocoJson, ReadsASet) {
  const CocoGroundTruth truth = coco_ground_truth(parse_json(kSet, "set"), CocoRegion::mask);
  EXPECT_THAT(truth.images, ElementsAre(3));
  EXPECT_THAT(truth.categories, ElementsAre(7));
  ASSERT_EQ(truth.objects.size(), 1u);
  EXPECT_EQ(truth.objects[0].box.width, 2.5);
  EXPECT_THAT(truth.objects[0].mask.runs, ElementsAre(5, 2, 2, 2, 9));
}

TEST(CocoJson, ReadsEveryFormOfAMask) {
  const RunLengths mask{4, 5, {5, 2, 2, 2, 9}};
  EXPECT_EQ(segmentation_mask(parse_json("[[1, 1, 3, 1, 3, 3, 1, 3]]", ""), 4, 5), mask);
  EXPECT_EQ(segmentation_mask(parse_json(R"({"size": [4, 5], "counts": [5, 2, 2, 2, 9]})", ""), 4, 5), mask);
  const Json text = {{"size", {4, 5}}, {"counts", compress(mask)}};
  EXPECT_EQ(segmentation_mask(text, 4, 5), mask);
}

TEST(CocoJson, WritesWhatItReads) {
  const RunLengths mask{4, 5, {5, 2, 2, 2, 9}};
  const std::vector<CocoDetection> detections = {{3, 7, 0.1, {0.1, 0.2, 1. / 3, 4}, mask}, {3, 8, 1, {1, 2, 3, 4}, {}}};
  const Json results = parse_json(coco_results(detections).dump(), "results");
  EXPECT_EQ(results[1].contains("segmentation"), false);
  const std::vector<CocoDetection> read = coco_detections(results, CocoRegion::box);
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].box.width, 1. / 3);
  EXPECT_EQ(read[0].score, 0.1);
  EXPECT_EQ(coco_detections(Json::array({results[0]}), CocoRegion::mask)[0].mask, mask);
}

TEST(CocoJson, NamesTheAnnotationOrResult) {
  const auto said = [](const Json& edit) {
    Json set = parse_json(kSet, "set");
    set["annotations"][0].merge_patch(edit);
    return reading_says([&] { coco_ground_truth(set, CocoRegion::mask); });
  };
  EXPECT_EQ(said({{"image_id", 4}}), "annotation 12: image 4 is not in the set");
  EXPECT_EQ(said({{"bbox", {1, 2, 3}}}), "annotation 12: 'bbox' has 3 numbers; it needs x, y, width and height");
  EXPECT_EQ(said({{"segmentation", Json::array({{1, 2, 3}})}}), "annotation 12: a polygon has 3 numbers, an odd count");
  EXPECT_EQ(said({{"segmentation", {{"size", {4, 5}}, {"counts", {5, 2}}}}}),
            "annotation 12: run lengths sum to 7, but 4 x 5 pixels are 20");
  EXPECT_EQ(said({{"segmentation", {{"size", {5, 4}}, {"counts", "0"}}}}),
            "annotation 12: the mask has 5 x 4 pixels, its image 4 x 5");
  EXPECT_EQ(said({{"segmentation", {{"size", {4, 5}}, {"counts", {5, 1e12}}}}}),
            "annotation 12: a run length is 1000000000000.0");
  EXPECT_EQ(reading_says([] { coco_detections(parse_json("[{}]", ""), CocoRegion::box); }),
            "result 0: 'image_id' is missing");
  EXPECT_EQ(reading_says([] { coco_detections(parse_json("{}", ""), CocoRegion::box); }), "results are no list");
  EXPECT_EQ(reading_says([] { coco_ground_truth(parse_json("[]", ""), CocoRegion::box); }),
            "the list 'images' is missing");
}

}  // namespace
}  // namespace tbd
