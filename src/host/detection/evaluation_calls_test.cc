#include "host/detection/evaluation_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "host/detection/testing_golden.h"
#include "host/registry.h"

namespace tbd::detection {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing_detection::complaint;

const RoiSettings kLevels = {.canonical = 32};

HostTensor floats(const Shape& shape, const std::vector<float>& values) {
  return HostTensor(DType::f32, shape, std::span<const float>(values));
}
HostTensor whole(const Shape& shape, const std::vector<int32_t>& values) {
  return HostTensor(DType::i32, shape, std::span<const int32_t>(values));
}

// Two pictures with places for two proposals each, of which the second has one.
std::vector<HostTensor> two_pictures() {
  return {floats({2, 2, 4}, {0, 0, 8, 8, 10, 10, 74, 74, 5, 5, 21, 37, 1, 1, 2, 2}), whole({2}, {2, 1})};
}

TEST(ProposalRois, HaveTheirPictureAndLevelAndZerosBehindTheCount) {
  std::vector<HostTensor> out = {HostTensor(DType::f32, {4, 5}), HostTensor(DType::i32, {4})};
  proposal_rois(kLevels, two_pictures(), out);
  EXPECT_THAT(out[0].as<float>(), ElementsAre(0, 0, 0, 8, 8, 0, 10, 10, 74, 74, 1, 5, 5, 21, 37, 0, 0, 0, 0, 0));
  EXPECT_THAT(out[1].as<int32_t>(), ElementsAre(0, 3, 1, 0)) << "sides of 8, 64 and about 23 pixels";
}

TEST(ProposalRois, RefuseACountBeyondTheirRows) {
  std::vector<HostTensor> in = two_pictures(), out = {HostTensor(DType::f32, {4, 5}), HostTensor(DType::i32, {4})};
  in[1] = whole({2}, {2, 3});
  EXPECT_THAT(complaint([&] { proposal_rois(kLevels, in, out); }),
              HasSubstr("proposal_rois: image 1: a count of 3 of 2 proposals"));
  EXPECT_THAT(complaint([&] { proposal_rois(kLevels, std::span(in).first(1), out); }),
              HasSubstr("expected 2 operands"));
}

// Of three classes the second is sure of each picture's first proposal; deltas of 0 leave the boxes.
std::vector<HostTensor> answers() {
  std::vector<HostTensor> in = two_pictures();
  in.push_back(floats({4, 3}, {0, 0, 9, 9, 0, 0, 0, 6, 0, 0, 0, 9}));
  in.push_back(HostTensor(DType::f32, {4, 12}));
  in.push_back(whole({2, 2}, {100, 90, 30, 20}));
  return in;
}
std::vector<HostTensor> places_for(int64_t rows) {
  return {HostTensor(DType::f32, {rows, 5}), HostTensor(DType::i32, {rows}), HostTensor(DType::i32, {rows, 1}),
          HostTensor(DType::f32, {rows}), HostTensor(DType::i32, {2})};
}

TEST(SelectDetections, AreThoseOfEachPictureByScoreAndZerosBehind) {
  std::vector<HostTensor> out = places_for(6);
  select_detections({.most = 3}, kLevels, answers(), out);
  EXPECT_THAT(out[4].as<int32_t>(), ElementsAre(1, 1)) << "a row behind the count is no proposal";
  EXPECT_THAT(out[2].as<int32_t>(), ElementsAre(2, 0, 0, 1, 0, 0));
  EXPECT_FLOAT_EQ(out[3].as<float>()[0], static_cast<float>(std::exp(9.0) / (2 + std::exp(9.0))));
  EXPECT_THAT(out[0].as<float>().first(5), ElementsAre(0, 0, 0, 8, 8));
  EXPECT_THAT(out[0].as<float>().subspan(5, 10), Each(0));
  EXPECT_THAT(out[0].as<float>().subspan(15, 5), ElementsAre(1, 5, 5, 20, 30)) << "clipped to its picture";
}

TEST(SelectDetections, NameThePictureOfANotANumber) {
  std::vector<HostTensor> in = answers(), out = places_for(6);
  in[2].as<float>()[7] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(complaint([&] { select_detections({.most = 3}, kLevels, in, out); }), HasSubstr("image 1: roi 0"));
}

TEST(SelectDetections, RefuseShapesThatDoNotFit) {
  std::vector<HostTensor> in = answers(), out = places_for(6);
  in[3] = HostTensor(DType::f32, {4, 8});
  EXPECT_THAT(complaint([&] { select_detections({.most = 3}, kLevels, in, out); }), HasSubstr("box_deltas"));
  in = answers();
  EXPECT_THAT(complaint([&] { select_detections({.most = 4}, kLevels, in, out); }), HasSubstr("rois"));
}

TEST(EvaluationCalls, ReadTheirSettings) {
  std::vector<HostTensor> out = places_for(4);
  find_host_function("select_detections")(answers(), {{"most", {2}}, {"canonical", {32}}, {"levels", {2, 5}}}, out);
  EXPECT_THAT(out[4].as<int32_t>(), ElementsAre(1, 1));
  EXPECT_THAT(complaint([&] {
                find_host_function("select_detections")(answers(), {{"most", {2}}, {"slots", {3}}}, out);
              }),
              HasSubstr("unknown setting 'slots'"));
  EXPECT_THAT(complaint([&] {
                find_host_function("proposal_rois")(two_pictures(), {{"levels", {5, 2}}}, out);
              }),
              HasSubstr("'levels' are not the lowest and the highest"));
}

}  // namespace
}  // namespace tbd::detection
