#include "host/detection/calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/detection/testing_golden.h"

namespace tbd {
namespace {

using ::testing::HasSubstr;
using testing_detection::complaint;

// One map of 2 x 3 cells, 4 pixels each; a box that covers it.
const HostNumbers kPlanNumbers = {
    {"extents", {2, 3}}, {"scales", {0.25}}, {"images", {1}}, {"out", {1}}, {"sampling", {1}}};

struct SmallPlan {
  std::vector<HostTensor> in = {HostTensor(DType::f32, {1, 5}, std::span<const float>(kBox)),
                                HostTensor(DType::i32, {1})};
  std::vector<HostTensor> out = {HostTensor(DType::i32, {1, 4}), HostTensor(DType::f64, {1, 4})};
  static constexpr float kBox[] = {0, 0, 0, 12, 8};
};

TEST(RoiPlanCall, ReadsItsSettings) {
  SmallPlan plan;
  find_host_function("roi_plan")(plan.in, kPlanNumbers, plan.out);
  EXPECT_THAT(plan.out[0].as<int32_t>().first(2), testing::ElementsAre(4, 5)) << "row 1 is the last one";
  EXPECT_THAT(plan.out[1].as<double>(), testing::ElementsAre(0.5, 0.5, 0, 0));
}

TEST(RoiPlanCall, RefusesSettingsThatAreMissingUnknownOrNoCounts) {
  const auto with = [](const std::string& name, std::vector<double> values) {
    HostNumbers numbers = kPlanNumbers;
    numbers[name] = std::move(values);
    SmallPlan plan;
    return complaint([&] { find_host_function("roi_plan")(plan.in, numbers, plan.out); });
  };
  EXPECT_THAT(with("scale", {1}), HasSubstr("unknown setting 'scale', did you mean 'scales'"));
  EXPECT_THAT(with("out", {1.5}), HasSubstr("'out' has 1.5, which is no count"));
  EXPECT_THAT(with("out", {}), HasSubstr("'out' has no numbers"));
  EXPECT_THAT(with("extents", {2, 3, 4}), HasSubstr("'extents' has 3 numbers, which are no pairs"));
}

TEST(SelectProposalsCall, NeedsStridesAndSizesForEachLevel) {
  const auto with = [](std::vector<double> strides, std::vector<double> sizes) {
    const HostNumbers numbers = {{"extents", {2, 3, 1, 2}},
                                 {"strides", std::move(strides)},
                                 {"sizes", std::move(sizes)},
                                 {"ratios", {1}},
                                 {"before", {4}}};
    return complaint([&] { find_host_function("select_proposals")({}, numbers, {}); });
  };
  EXPECT_THAT(with({4, 4}, {8, 16}), HasSubstr("1 strides for 2 levels"));
  EXPECT_THAT(with({4, 4, 8, 8}, {8}), HasSubstr("1 sizes for 2 levels"));
}

TEST(SampleRoisCall, NeedsSlotsAndOrderedLevels) {
  const auto with = [](const HostNumbers& numbers) {
    return complaint([&] { find_host_function("sample_rois")({}, numbers, {}); });
  };
  EXPECT_THAT(with({}), HasSubstr("'slots' is missing"));
  EXPECT_THAT(with({{"slots", {4}}, {"levels", {5, 2}}}), HasSubstr("not the lowest and the highest"));
}

}  // namespace
}  // namespace tbd
