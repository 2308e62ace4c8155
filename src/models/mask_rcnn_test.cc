#include <gmock/gmock.h>

#include <cmath>
#include <map>

#include "base/text.h"
#include "models/oracle.h"

namespace tbd {
namespace {

using oracle::program;

struct Counts {
  const char* config;
  size_t tensors, buffers;
};
constexpr Counts kCounts[] = {{"canonical", 95, 212}, {"r101", 146, 416}, {"slots81", 95, 212},
                              {"faster", 83, 212},    {"tiny", 55, 68},   {"faster_tiny", 47, 68},
                              {"faster_c4", 114, 416}};

TEST(MaskRcnn, HasTheTensorsOfItsReference) {
  for (const Counts& expected : kCounts) {
    const Program made = program("mask_rcnn", expected.config);
    EXPECT_EQ(made.parameters.size(), expected.tensors) << expected.config;
    EXPECT_EQ(made.buffers.size(), expected.buffers) << expected.config;
  }
}

// Names and shapes of torchvision 0.29.
const std::pair<const char*, Shape> kParameters[] = {
    {"backbone.body.conv1.weight", {64, 3, 7, 7}},
    {"backbone.body.layer1.0.downsample.0.weight", {256, 64, 1, 1}},
    {"backbone.body.layer3.5.conv2.weight", {256, 256, 3, 3}},
    {"backbone.fpn.inner_blocks.3.0.weight", {256, 2048, 1, 1}},
    {"backbone.fpn.layer_blocks.0.0.bias", {256}},
    {"rpn.head.conv.0.0.weight", {256, 256, 3, 3}},
    {"rpn.head.cls_logits.bias", {3}},
    {"rpn.head.bbox_pred.weight", {12, 256, 1, 1}},
    {"roi_heads.box_head.fc6.weight", {1024, 12544}},
    {"roi_heads.box_head.fc7.bias", {1024}},
    {"roi_heads.box_predictor.cls_score.weight", {91, 1024}},
    {"roi_heads.box_predictor.bbox_pred.bias", {364}},
    {"roi_heads.mask_head.3.0.weight", {256, 256, 3, 3}},
    {"roi_heads.mask_predictor.conv5_mask.weight", {256, 256, 2, 2}},
    {"roi_heads.mask_predictor.conv5_mask.bias", {256}},
    {"roi_heads.mask_predictor.mask_fcn_logits.weight", {91, 256, 1, 1}},
};

TEST(MaskRcnn, HasTheNamesOfItsReference) {
  const Program made = program("mask_rcnn", "");
  const std::vector<std::string> parameters = oracle::keys(made.parameters), buffers = oracle::keys(made.buffers);
  for (const auto& [name, shape] : kParameters)
    EXPECT_THAT(parameters, testing::Contains(::tbd::cat(name, " ", shape)));
  for (const char* norm : {"weight", "bias", "running_mean", "running_var"})
    EXPECT_THAT(buffers, testing::Contains(::tbd::cat("backbone.body.layer4.2.bn3.", norm, " (2048)")));
}

TEST(MaskRcnn, KnowsTheNamesOfOlderFiles) {
  const auto& now = find_model("mask_rcnn").current_name;
  EXPECT_EQ(now("rpn.head.conv.bias"), "rpn.head.conv.0.0.bias");
  EXPECT_EQ(now("backbone.fpn.inner_blocks.3.weight"), "backbone.fpn.inner_blocks.3.0.weight");
  EXPECT_EQ(now("backbone.fpn.layer_blocks.0.bias"), "backbone.fpn.layer_blocks.0.0.bias");
  EXPECT_EQ(now("roi_heads.mask_head.mask_fcn1.weight"), "roi_heads.mask_head.0.0.weight");
  EXPECT_EQ(now("roi_heads.mask_head.mask_fcn4.bias"), "roi_heads.mask_head.3.0.bias");
  for (const Parameter& parameter : program("mask_rcnn", "").parameters) EXPECT_EQ(now(parameter.name), parameter.name);
  EXPECT_EQ(now("whole"), "whole");
}

TEST(MaskRcnn, TrainsNeitherTheStemNorTheFirstStage) {
  const Program made = program("mask_rcnn", "");
  const Graph graph = oracle::one(made, "train");
  const std::vector<bool> needs = gradient_needs(graph);
  const auto needed = [&](std::string_view value) { return needs[static_cast<size_t>(graph.find(value).value())]; };
  EXPECT_FALSE(needed("backbone.body.conv1.weight"));
  EXPECT_FALSE(needed("backbone.body.layer1.2.conv3.weight"));
  EXPECT_FALSE(needed("backbone.body.layer1.2.relu_3")) << "C2";
  EXPECT_TRUE(needed("backbone.body.layer2.0.conv1.weight"));
  EXPECT_TRUE(needed("backbone.fpn.inner_blocks.0.0.weight"));
  EXPECT_FALSE(needed("select_proposals")) << "detached, as the reference's";
  EXPECT_FALSE(needed("sample_rois"));
}

TEST(MaskRcnn, StartsAsItsReferenceAndWithSmallLastNorms) {
  for (const auto& [config, blocks] : {std::pair("canonical", 16), std::pair("r101", 33), std::pair("tiny", 4)}) {
    const Program made = program("mask_rcnn", config);
    const auto norm = std::ranges::find(made.buffers, "backbone.body.layer3.0.bn3.weight", &Parameter::name);
    ASSERT_NE(norm, made.buffers.end());
    EXPECT_DOUBLE_EQ(norm->init.a, 1 / std::sqrt(blocks)) << config;
  }
  const Program made = program("mask_rcnn", "");
  oracle::expect_uniform(made, "backbone.fpn.inner_blocks.1.0.weight", std::sqrt(3.0 / 512));
  oracle::expect_uniform(made, "backbone.fpn.layer_blocks.1.0.weight", std::sqrt(3.0 / 2304));
  oracle::expect_uniform(made, "roi_heads.box_head.fc6.bias", std::sqrt(1.0 / 12544));
  EXPECT_EQ(oracle::parameter(made, "rpn.head.conv.0.0.weight").init, Init::normal(0.01));
  EXPECT_EQ(oracle::parameter(made, "roi_heads.mask_predictor.conv5_mask.weight").init,
            Init::normal(std::sqrt(2.0 / 1024)));
}

const HostCall& host_call(const Program& made, std::string_view name) {
  return std::get<HostCall>(std::ranges::find(made.phases[0].nodes, name, &Node::name)->op);
}

// 13 rows of 800: a stride of 61, not 64.
TEST(MaskRcnn, AnchorsStepByWholePixels) {
  const Program made = program("mask_rcnn", "");
  const HostNumbers& numbers = host_call(made, "select_proposals").numbers;
  EXPECT_EQ(numbers.at("extents"), (std::vector<double>{200, 336, 100, 168, 50, 84, 25, 42, 13, 21}));
  EXPECT_EQ(numbers.at("strides"), (std::vector<double>{4, 4, 8, 8, 16, 16, 32, 32, 61, 64}));
}

TEST(MaskRcnn, SamplesRowsByPicture) {
  const Program made = program("mask_rcnn", "");
  const Graph graph = bind(made, made.phases[0], {{"N", 3}});
  EXPECT_EQ(graph.value(*graph.find("sample_rois")).shape, (Shape{1536, 5}));
  EXPECT_EQ(graph.value(*graph.find("sample_rois:9")).shape, (Shape{384, 1, 28, 28}));
  EXPECT_EQ(graph.value(*graph.find("rpn.head.concat")).shape, (Shape{3, 268'569}));
}

}  // namespace
}  // namespace tbd
