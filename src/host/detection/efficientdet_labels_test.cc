#include "host/detection/efficientdet_labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "host/detection/testing_golden.h"

namespace tbd::detection {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using testing_detection::complaint;
using testing_detection::expect_signature;
using testing_detection::golden;
using testing_detection::golden_boxes;
using testing_detection::golden_integers;
using testing_detection::signature;

EfficientDetAnchors d0_anchors() { return {.image = 512, .extents = {64, 32, 16, 8, 4}}; }
EfficientDetAnchors tiny_anchors() { return {.image = 128, .extents = {16, 8, 4, 2, 1}}; }

// golden_boxes has y first here.
std::vector<YxBox> yx_boxes(std::string_view file, const std::string& pointer) {
  std::vector<YxBox> out;
  for (const Box& box : golden_boxes(file, pointer))
    out.push_back({static_cast<float>(box.x1), static_cast<float>(box.y1), static_cast<float>(box.x2),
                   static_cast<float>(box.y2)});
  return out;
}

std::vector<double> flat_targets(const EfficientDetLabels& labels) {
  std::vector<double> out;
  for (const auto& code : labels.box_target) out.insert(out.end(), code.begin(), code.end());
  return out;
}

TEST(EfficientDetLabels, AnchorsAreEffdets) {
  std::vector<double> corners;
  for (const YxBox& box : efficientdet_anchors(tiny_anchors()))
    for (const float corner : {box.y1, box.x1, box.y2, box.x2}) corners.push_back(corner);
  const std::vector<double> want = golden("effdet", "/anchors_signature");
  EXPECT_EQ(signature(corners)[0], want[0]);
  EXPECT_NEAR(signature(corners)[1], want[1], 1e-6);
}

void expect_effdets_labels(const std::string& name, int32_t slots) {
  const EfficientDetLabels labels =
      efficientdet_labels(efficientdet_anchors(tiny_anchors()), yx_boxes("effdet", name + "/boxes"),
                          golden_integers("effdet", name + "/classes"), slots);
  EXPECT_EQ(labels.matched, golden_integers("effdet", name + "/num_pos")[0]) << name;
  const std::vector<double> classes(labels.class_target.begin(), labels.class_target.end());
  EXPECT_EQ(signature(classes), golden("effdet", name + "/class_signature")) << name;
  expect_signature(flat_targets(labels), "effdet", name + "/box_signature", 1e-5);
}

TEST(EfficientDetLabels, AreEffdets) {
  expect_effdets_labels("/labels", 5);
  expect_effdets_labels("/labels_small", 20);  // small boxes inside several anchors: in double others would be best
}

TEST(EfficientDetLabels, GiveAnAnchorTheFirstOfEqualBoxes) {
  const std::vector<YxBox> boxes = {{0, 0, 5, 10}, {5, 0, 10, 10}};
  const std::vector<YxBox> anchors = {{0, 0, 10, 10}, boxes[0], boxes[1]};
  EXPECT_EQ(efficientdet_labels(anchors, boxes, std::vector<int32_t>{2, 1}, 3).class_target,
            (std::vector<int32_t>{2, 2, 1}));
}

void expect_label_sums(const EfficientDetAnchors& settings, const std::vector<std::string>& images, int32_t slots,
                       const std::string& name) {
  int64_t class_sum = 0;
  double box_sum = 0;
  for (const std::string& image : images) {
    const EfficientDetLabels labels =
        efficientdet_labels(efficientdet_anchors(settings), yx_boxes("steps", image + "/boxes"),
                            golden_integers("steps", image + "/classes"), slots);
    EXPECT_EQ(labels.matched, golden_integers("steps", image + "/num_pos")[0]) << image;
    for (const int32_t target : labels.class_target) class_sum += std::max(target, 0);
    const std::vector<double> targets = flat_targets(labels);
    box_sum += std::accumulate(targets.begin(), targets.end(), 0.0);
  }
  EXPECT_EQ(class_sum, golden_integers("steps", name + "/class_target_sum")[0]) << name;
  EXPECT_NEAR(box_sum, golden("steps", name + "/box_target_sum")[0], 2e-6) << name;
}

TEST(EfficientDetLabels, HaveTheSumsOfTheStep) {
  expect_label_sums(tiny_anchors(), {"/labels_tiny_0", "/labels_tiny_1"}, 5, "/labels_tiny");
  expect_label_sums(d0_anchors(), {"/labels_d0_0"}, 90, "/labels_d0");
}

TEST(EfficientDetLabels, GiveTheLowerBoxAnAnchorThatTwoWant) {
  const std::vector<YxBox> anchors = {{0, 0, 10, 10}, {50, 50, 60, 60}};
  const std::vector<YxBox> boxes = {{0, 0, 4, 4}, {0, 0, 10, 10}};
  const EfficientDetLabels labels = efficientdet_labels(anchors, boxes, std::vector<int32_t>{2, 1}, 3);
  EXPECT_EQ(labels.class_target, (std::vector<int32_t>{2, -1}));
  EXPECT_EQ(labels.matched, 1);
}

TEST(EfficientDetLabels, AreBackgroundWithoutBoxes) {
  const EfficientDetLabels labels = efficientdet_labels(efficientdet_anchors(tiny_anchors()), {}, {}, 5);
  EXPECT_THAT(labels.class_target, Each(-1));
  EXPECT_THAT(flat_targets(labels), Each(0));
  EXPECT_EQ(labels.matched, 0);
}

TEST(EfficientDetLabels, RefuseBoxesWithoutAreaAndClassesOutside) {
  const std::vector<YxBox> anchors = {{0, 0, 10, 10}};
  const std::vector<YxBox> good = {{0, 0, 4, 4}, {0, 0, 10, 10}};
  const auto label = [&](const std::vector<YxBox>& boxes, const std::vector<int32_t>& classes) {
    return complaint([&] { efficientdet_labels(anchors, boxes, classes, 3); });
  };
  EXPECT_THAT(label({good[0], {3, 0, 3, 5}}, {0, 0}), HasSubstr("box 1: expected y1 < y2"));
  EXPECT_THAT(label({good[0], {0, 0, std::numeric_limits<float>::infinity(), 5}}, {0, 0}), HasSubstr("box 1: "));
  EXPECT_THAT(label(good, {0, 3}), HasSubstr("box 1: class 3 of 3"));
  EXPECT_THAT(label(good, {-1, 0}), HasSubstr("box 0: class -1 of 3"));
  EXPECT_THAT(label(good, {0}), HasSubstr("2 boxes, 1 classes"));
}

}  // namespace
}  // namespace tbd::detection
