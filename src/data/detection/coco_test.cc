#include "data/detection/coco.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/philox.h"
#include "data/augmentation.h"
#include "data/detection/picture_plan.h"
#include "data/detection/testing_coco.h"

namespace tbd {
namespace {
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing_coco::coco_annotation;
using testing_coco::coco_image;
using testing_coco::coco_set;
using testing_coco::write_coco;

SourceSpec coco_source(const std::filesystem::path& root) {
  SourceSpec spec{.kind = SourceKind::coco, .path = root.string(), .batch = 1, .seed = 7};
  spec.detection = detection_conventions("torchvision-tiny");
  spec.detection.slots = 91;
  spec.detection.task = DetectionTask::two_stage;
  spec.detection.height = 96;
  spec.detection.width = 128;
  spec.detection.objects = 4;
  spec.detection.mask_runs = 4096;
  spec.detection.roi_keys = 16;
  spec.detection.sampled_anchors = 32;
  spec.detection.positive_anchors = 16;
  return spec;
}
SourceSpec val_source(SourceSpec spec) {
  spec.split = Split::val;
  return spec;
}
std::string refused(const SourceSpec& spec) {
  try {
    open_source(spec);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}
Json three_landscapes() {
  return coco_set({coco_image(5, 64, 48), coco_image(6, 60, 40), coco_image(9, 80, 30)},
                  {coco_annotation(1, 5, 3, {10, 12, 20, 16}), coco_annotation(2, 6, 4, {0, 0, 30, 20}),
                   coco_annotation(3, 9, 90, {40, 10, 30, 15}), coco_annotation(4, 5, 7, {-4, 20, 30, 40})});
}

TEST(Coco, ASampleIsThePlacedPictureWithItsObjects) {
  const TemporaryFolder root;
  write_coco(root.path(), three_landscapes());
  const SourceSpec spec = coco_source(root.path());
  const auto source = open_source(spec);
  EXPECT_EQ(source->size(), 3);
  EXPECT_EQ(source->steps_per_epoch(), 3);
  const std::vector<uint32_t> order = epoch_order(7, 1, 3);  // of the second epoch
  const ImageSize sizes[] = {{64, 48}, {60, 40}, {80, 30}};
  for (size_t place = 0; place < 3; ++place) {
    const uint32_t position = order[place];
    const TensorMap batch = source->batch_at(4 + static_cast<int64_t>(place));
    const PicturePlan plan = picture_plan(sizes[position], spec.detection, PictureDraws{7, 1, position});
    EXPECT_THAT(batch.at("image_size").as<int32_t>(), ElementsAre(plan.shown.height, plan.shown.width));
    const std::array<double, 4> boxes[] = {{10, 12, 20, 16}, {0, 0, 30, 20}, {40, 10, 30, 15}};
    const auto box = *placed_box(*clipped_box(boxes[position], sizes[position]), plan);
    EXPECT_TRUE(std::ranges::equal(batch.at("gt_box").as<float>().first(4), box)) << position;
    const auto& [x, y, w, h] = boxes[position];
    const RunLengths mask = placed_mask(polygon_mask(std::vector<double>{x, y, x, y + h, x + w, y + h, x + w, y},
                                                     sizes[position].height, sizes[position].width),
                                        plan);
    EXPECT_TRUE(std::ranges::equal(batch.at("mask_runs").as<int32_t>().first(mask.runs.size()), mask.runs)) << position;
    EXPECT_EQ(batch.at("mask_start").as<int32_t>()[1], static_cast<int32_t>(mask.runs.size()));
  }
}

TEST(Coco, LabelsAreCategoriesAndBoxesAreClipped) {
  const TemporaryFolder root;
  write_coco(root.path(), three_landscapes(), "val2017");
  const TensorMap batch = open_source(val_source(coco_source(root.path())))->batch_at(1);
  EXPECT_THAT(batch.at("gt_label").as<int32_t>(), ElementsAre(3, 7, 0, 0));
  EXPECT_THAT(batch.at("gt_box").as<float>().subspan(4, 4), ElementsAre(0, 40, 52, 96));
}

TEST(Coco, BatchesDoNotDependOnThreads) {
  const TemporaryFolder root;
  write_coco(root.path(), three_landscapes());
  SourceSpec spec = coco_source(root.path());
  spec.batch = 2;
  const auto one = open_source(spec);
  spec.threads = 4;
  const auto four = open_source(spec);
  for (int64_t step = 1; step <= 6; ++step) {
    const TensorMap a = one->next(step), b = four->next(step);
    for (const auto& [name, tensor] : a) EXPECT_TRUE(std::ranges::equal(tensor.bytes(), b.at(name).bytes())) << name;
  }
}

TEST(Coco, OneStageSeesThePictureAtItsDrawnScale) {
  const TemporaryFolder root;
  write_coco(root.path(), three_landscapes());
  SourceSpec spec = coco_source(root.path());
  spec.detection.task = DetectionTask::one_stage;
  spec.detection.height = spec.detection.width = 128;
  const auto source = open_source(spec);
  for (int64_t step = 1; step <= 3; ++step) {
    const uint32_t position = epoch_order(7, 0, 3)[static_cast<size_t>(step - 1)];
    const ImageSize sizes[] = {{64, 48}, {60, 40}, {80, 30}};
    const PicturePlan plan = picture_plan(sizes[position], spec.detection, PictureDraws{7, 0, position});
    std::vector<float> expected(3 * 128 * 128);
    const std::string file = read_file(root.path() / "train2017" /
                                       cat(position == 0   ? 5
                                           : position == 1 ? 6
                                                           : 9,
                                           ".jpg"));
    JpegDecoder decoder;
    place_picture(decoder.image(decoder.open(std::as_bytes(std::span(file)))), plan, {128, 128}, expected);
    const TensorMap batch = source->batch_at(step);
    EXPECT_TRUE(std::ranges::equal(batch.at("image").as<float>(), expected));
    EXPECT_GT(batch.at("count/cls").as<double>()[0], 1);
  }
}

TEST(Coco, TellsWhatIsLeftOutAndWhy) {
  const TemporaryFolder root;
  Json set = three_landscapes();
  set["images"].push_back(coco_image(10, 30, 80));  // a portrait
  set["images"].push_back(coco_image(11, 64, 48));  // without annotations
  set["images"].push_back(coco_image(12, 64, 48));  // with a sliver alone
  set["annotations"].push_back(coco_annotation(20, 10, 1, {1, 1, 20, 20}));
  set["annotations"].push_back(coco_annotation(21, 12, 1, {1, 1, 20, 1}));
  Json crowd = coco_annotation(22, 5, 1, {1, 1, 20, 20});
  crowd["iscrowd"] = 1;
  set["annotations"].push_back(crowd);
  set["annotations"].push_back(coco_annotation(23, 5, 1, {64, 1, 20, 20}));
  for (int64_t id = 30; id < 34; ++id) set["annotations"].push_back(coco_annotation(id, 6, 1, {1, 1, 20, 20}));
  write_coco(root.path(), set);
  write_coco(root.path(), set, "val2017");
  const auto source = open_source(coco_source(root.path()));
  EXPECT_EQ(source->size(), 3);
  for (int64_t step = 1; step <= 3; ++step) source->batch_at(step);
  EXPECT_THAT(source->statistics().notes,
              ElementsAre("2 images without an object left out",
                          "1 image left out: resized they do not fit the network's input",
                          "1 crowd annotation left out", "1 box without area inside the image left out",
                          "1 object left out: the network has no place for it"));
  EXPECT_EQ(open_source(val_source(coco_source(root.path())))->size(), 5);
}

TEST(Coco, AnImageOfOnePixelAndOneWithCrowdsAloneAreSamples) {
  const TemporaryFolder root;
  Json set = coco_set({coco_image(1, 1, 1), coco_image(2, 64, 48)},
                      {coco_annotation(1, 1, 1, {-1, -1, 4, 4}), coco_annotation(2, 2, 1, {4, 4, 20, 20})});
  set["annotations"][1]["iscrowd"] = 1;
  write_coco(root.path(), set);
  SourceSpec spec = coco_source(root.path());
  spec.batch = 2;
  const TensorMap batch = open_source(spec)->batch_at(1);
  std::vector<int32_t> labels(batch.at("gt_label").as<int32_t>().begin(), batch.at("gt_label").as<int32_t>().end());
  EXPECT_EQ(std::ranges::count(labels, 1), 1);
  EXPECT_EQ(std::ranges::count(labels, 0), 7);
}

TEST(Coco, ReportsBadFilesAndGivesTheNextPicture) {
  const TemporaryFolder root;
  write_coco(root.path(), three_landscapes(), "val2017");
  write_file(root.path() / "val2017/5.jpg", "text");
  testing_images::write_jpeg(root.path() / "val2017/6.jpg", 1, {61, 40});
  const auto source = open_source(val_source(coco_source(root.path())));
  const TensorMap batch = source->batch_at(1);
  EXPECT_EQ(batch.at("gt_label").as<int32_t>()[0], 90);
  const std::vector<BadFile> bad = source->statistics().bad_files;
  ASSERT_EQ(bad.size(), 2);
  EXPECT_EQ(bad[0].path, "5.jpg");
  EXPECT_EQ(bad[1].path, "6.jpg");
  EXPECT_EQ(bad[1].reason, "it has 61 x 40 pixels, its annotations are of 60 x 40");
}

TEST(Coco, RefusesWhatCannotBeUsed) {
  const TemporaryFolder root;
  EXPECT_THAT(refused(coco_source(root.path())), HasSubstr("instances_train2017.json"));
  Json set = three_landscapes();
  set["annotations"][1].erase("segmentation");
  write_coco(root.path(), set);
  EXPECT_THAT(refused(coco_source(root.path())),
              HasSubstr("annotation 2 has no 'segmentation', which the network reads"));
  SourceSpec boxes = coco_source(root.path());
  boxes.detection.mask_runs = 0;
  EXPECT_EQ(refused(boxes), "");
  boxes.batch = 4;
  EXPECT_THAT(refused(boxes), HasSubstr("batch 4 is larger than the data set"));
  write_coco(root.path(), coco_set({coco_image(1, 8, 8)}, Json::array()));
  EXPECT_THAT(refused(coco_source(root.path())),
              HasSubstr("has no image that can be used: 1 image without an object left out"));
  write_coco(root.path(), three_landscapes());
  for (const char* name : {"5.jpg", "6.jpg", "9.jpg"}) std::filesystem::remove(root.path() / "train2017" / name);
  EXPECT_THAT(refused(coco_source(root.path())), HasSubstr("has no usable image: none of 3 files decodes"));
}

}  // namespace
}  // namespace tbd
