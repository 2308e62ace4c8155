#include "host/detection/roi_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "host/detection/testing_golden.h"

namespace tbd::detection {
namespace {

using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Pointwise;
using testing_detection::complaint;
using testing_detection::golden;

constexpr int64_t kChannels = 3;

struct Plan {
  RoiPlanSettings settings = {.extents = {{5, 7}}, .scales = {0.5}, .images = 2, .out = 3};
  std::vector<HostTensor> in;
  std::vector<HostTensor> out;

  Plan(const std::vector<double>& rois, const std::vector<int32_t>& levels, DType dtype = DType::f64)
      : in({HostTensor(DType::f64, {std::ssize(levels), 5}, std::span<const double>(rois)),
            HostTensor(DType::i32, {std::ssize(levels)}, std::span<const int32_t>(levels))}),
        out({HostTensor(DType::i32, {9 * std::ssize(levels), 16}), HostTensor(dtype, {9 * std::ssize(levels), 16})}) {}

  void run() { roi_plan(settings, in, out); }
  std::string says() {
    return complaint([&] { run(); });
  }
};

Plan golden_plan() {
  const std::vector<double> rois = golden("small", "/roi_align/rois");
  return Plan(rois, std::vector<int32_t>(rois.size() / 5));
}

// S T, laid out (R, C, out, out); `table` (rows, C).
std::vector<double> times_table(const Plan& plan, const std::vector<double>& table) {
  const int64_t rows = plan.out[0].shape()[0], bins = 9;
  std::vector<double> result(static_cast<size_t>(rows * kChannels));
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t c = 0; c < kChannels; ++c)
      for (int64_t e = 0; e < 16; ++e)
        result[(row / bins * kChannels + c) * bins + row % bins] +=
            plan.out[1].as<double>()[16 * row + e] * table[plan.out[0].as<int32_t>()[16 * row + e] * kChannels + c];
  return result;
}

// Element (n, c, y, x) of the golden features, in the order of the table.
std::vector<double> golden_table() {
  std::vector<double> table;
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t cell = 0; cell < 35; ++cell)
      for (int64_t c = 0; c < kChannels; ++c)
        table.push_back(static_cast<double>(((n * kChannels + c) * 35 + cell) * 37 % 64) / 32 - 1);
  return table;
}

TEST(RoiPlan, TimesTheTableIsTorchvisionsRoiAlign) {
  Plan plan = golden_plan();
  plan.run();
  EXPECT_EQ(table_rows(plan.settings), 70);
  EXPECT_THAT(times_table(plan, golden_table()), Pointwise(DoubleNear(1e-12), golden("small", "/roi_align/result")));
}

TEST(RoiPlan, TransposedTimesTheUpstreamIsTorchvisionsGradient) {
  Plan plan = golden_plan();
  plan.run();
  std::vector<double> gradient(2 * kChannels * 35);
  for (int64_t row = 0; row < plan.out[0].shape()[0]; ++row)
    for (int64_t c = 0; c < kChannels; ++c)
      for (int64_t e = 0; e < 16; ++e) {
        const int64_t element = (row / 9 * kChannels + c) * 9 + row % 9;
        const int64_t cell = plan.out[0].as<int32_t>()[16 * row + e];
        gradient[(cell / 35 * kChannels + c) * 35 + cell % 35] +=
            plan.out[1].as<double>()[16 * row + e] * (static_cast<double>(element * 29 % 32) / 16 - 1);
      }
  EXPECT_THAT(gradient, Pointwise(DoubleNear(1e-11), golden("small", "/roi_align/gradient")));
}

TEST(RoiPlan, ReadsTheMapOfItsLevelAndImage) {
  // Maps that are constant: level l of image n has the value 10 l + n.
  Plan plan({0, 8, 8, 24, 24, 1, 8, 8, 24, 24, 1, 8, 8, 24, 24}, {1, 0, 1});
  plan.settings = {.extents = {{16, 20}, {8, 10}}, .scales = {0.5, 0.25}, .images = 2, .out = 3};
  plan.run();
  EXPECT_EQ(table_rows(plan.settings), 2 * (320 + 80));
  std::vector<double> table;
  for (int64_t row = 0; row < table_rows(plan.settings); ++row) {
    const double value = row < 640 ? static_cast<double>(row / 320) : 10 + static_cast<double>((row - 640) / 80);
    table.insert(table.end(), kChannels, value);
  }
  const std::vector<double> result = times_table(plan, table);
  const std::span<const double> all = result;
  EXPECT_THAT(all.subspan(0, 27), Each(DoubleNear(10, 1e-12)));
  EXPECT_THAT(all.subspan(27, 27), Each(DoubleNear(1, 1e-12)));
  EXPECT_THAT(all.subspan(54, 27), Each(DoubleNear(11, 1e-12)));
}

TEST(RoiPlan, GivesBoxesFarOutsideNoWeight) {
  Plan plan({0, -1e6, -1e6, -1e6 + 5, -1e6 + 5}, {0});
  plan.run();
  EXPECT_THAT(plan.out[1].as<double>(), Each(0));
  EXPECT_THAT(plan.out[0].as<int32_t>(), Each(0));
}

TEST(RoiPlan, RoundsWeightsOnce) {
  Plan wide({0, 1.5, 1, 9, 7.25}, {0}), narrow({0, 1.5, 1, 9, 7.25}, {0}, DType::f32);
  wide.run();
  narrow.run();
  for (size_t i = 0; i < 144; ++i)
    EXPECT_EQ(narrow.out[1].as<float>()[i], static_cast<float>(wide.out[1].as<double>()[i]));
}

TEST(RoiPlan, TakesNoRois) {
  Plan plan({}, {});
  plan.run();
  EXPECT_EQ(plan.out[0].shape()[0], 0);
}

TEST(RoiPlan, NamesTheRoiThatItCannotRead) {
  EXPECT_THAT(Plan({0, 1, 1, 2, 2, 2, 1, 1, 2, 2}, {0, 0}).says(), HasSubstr("roi_plan: roi 1: image 2 of 2"));
  EXPECT_THAT(Plan({0.5, 1, 1, 2, 2}, {0}).says(), HasSubstr("roi 0: image 0.5"));
  EXPECT_THAT(Plan({0, 1, 1, 2, 2}, {1}).says(), HasSubstr("roi 0: level 1 of 1"));
  EXPECT_THAT(Plan({0, 1, 1, 2, std::numeric_limits<double>::quiet_NaN()}, {0}).says(),
              HasSubstr("roi 0: a coordinate is not finite"));
}

TEST(RoiPlan, RefusesShapesThatDoNotFit) {
  Plan plan({0, 1, 1, 2, 2}, {0});
  plan.out[0] = HostTensor(DType::i32, {9, 15});
  EXPECT_THAT(plan.says(), HasSubstr("index: expected"));
  plan.in[1] = HostTensor(DType::i32, {2});
  EXPECT_THAT(plan.says(), HasSubstr("level: expected"));
  plan.settings.scales = {};
  EXPECT_THAT(plan.says(), HasSubstr("1 extents and 0 scales"));
}

}  // namespace
}  // namespace tbd::detection
