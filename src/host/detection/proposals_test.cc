#include "host/detection/proposals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <thread>

#include "host/detection/testing_golden.h"

namespace tbd::detection {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing_detection::complaint;
using testing_detection::expect_signature;
using testing_detection::golden_integers;

constexpr int64_t kAnchors = 2835, kAfter = 60;

ProposalSettings two_levels() {
  const Extent extents[] = {{25, 30}, {13, 15}};
  const double sizes[] = {8, 16}, ratios[] = {0.5, 1, 2};
  return {.pyramid = pyramid({100, 120}, extents, sizes, ratios), .before = 150, .overlap = 0.3};
}

// Element i of image n is (i factor mod modulus) / scale - offset.
struct Formula {
  int64_t factor, modulus;
  double scale, offset;
};

template <class T>
HostTensor by_formula(DType dtype, const Shape& shape, const std::vector<Formula>& images) {
  std::vector<T> values;
  for (const auto& [factor, modulus, scale, offset] : images)
    for (int64_t i = 0; i < shape.elements() / std::ssize(images); ++i)
      values.push_back(static_cast<T>(static_cast<double>(i * factor % modulus) / scale - offset));
  return HostTensor(dtype, shape, std::span<const T>(values));
}

struct Call {
  ProposalSettings numbers = two_levels();
  std::vector<HostTensor> in = {
      by_formula<double>(DType::f64, {2, kAnchors}, {{1201, 2837, 300, 4}, {907, 2837, 300, 4}}),
      by_formula<double>(DType::f64, {2, kAnchors, 4}, {{37, 211, 400, 0.25}, {53, 211, 400, 0.25}}),
      HostTensor(DType::i32, {2, 2}, std::span<const int32_t>(std::vector<int32_t>{100, 120, 80, 96}))};
  std::vector<HostTensor> out = {HostTensor(DType::f64, {2, kAfter, 4}), HostTensor(DType::i32, {2})};

  void run() { select_proposals(numbers, in, out); }
  std::string says() {
    return complaint([&] { run(); });
  }
  int32_t count(int64_t n) const { return out[1].as<int32_t>()[n]; }
  std::span<const double> rows(int64_t n) const {
    return out[0].as<double>().subspan(n * out[0].shape()[1] * 4, out[0].shape()[1] * 4);
  }
  std::vector<Box> boxes(int64_t n) const {
    std::vector<Box> all;
    for (int64_t i = 0; i < count(n); ++i) {
      const std::span<const double> row = rows(n).subspan(4 * i, 4);
      all.push_back({row[0], row[1], row[2], row[3]});
    }
    return all;
  }
};

TEST(SelectProposals, SelectsAsTorchvision) {
  Call call;
  call.run();
  EXPECT_EQ((std::vector<int32_t>{call.count(0), call.count(1)}), golden_integers("torchvision", "/proposals/count"));
  for (int64_t n = 0; n < 2; ++n) {
    expect_signature(call.rows(n), "torchvision", cat("/proposals/signature/", n), 1e-8);
  }
}

TEST(SelectProposals, StaysInTheImage) {
  Call call;
  call.run();
  const Extent sizes[] = {{100, 120}, {80, 96}};
  for (int64_t n = 0; n < 2; ++n)
    for (const Box& box : call.boxes(n)) {
      EXPECT_EQ(clip(box, sizes[n]), box);
      EXPECT_GE(box.x2 - box.x1, 1e-3);
      EXPECT_GE(box.y2 - box.y1, 1e-3);
    }
}

TEST(SelectProposals, KeepsNoTwoOfALevelThatOverlapMore) {
  Call call;
  // The other level has no logit among the first.
  for (const int64_t level : {0, 1}) {
    const std::span<double> logits = call.in[0].as<double>();
    for (int64_t n = 0; n < 2; ++n)
      for (int64_t i = 0; i < kAnchors; ++i)
        logits[n * kAnchors + i] = (i < 2250) == (level == 0) ? static_cast<double>(i * 1201 % 2837) : -1.0;
    call.run();
    for (int64_t n = 0; n < 2; ++n) {
      const std::vector<Box> boxes = call.boxes(n);
      ASSERT_EQ(boxes.size(), kAfter);
      for (size_t i = 0; i < boxes.size(); ++i)
        for (size_t j = 0; j < i; ++j) EXPECT_LE(overlap(boxes[i], boxes[j]), call.numbers.overlap);
    }
  }
}

TEST(SelectProposals, SortsByLogit) {
  Call call;
  for (double& delta : call.in[1].as<double>()) delta = 0;
  call.run();
  // Without deltas a box is its clipped anchor, so its logit can be looked up again.
  const std::vector<Box> all = anchors(call.numbers.pyramid);
  const std::span<const double> logits = call.in[0].as<double>();
  double before = std::numeric_limits<double>::infinity();
  for (const Box& box : call.boxes(0)) {
    double logit = -std::numeric_limits<double>::infinity();
    for (int64_t a = 0; a < kAnchors; ++a)
      if (clip(all[a], {100, 120}) == box) logit = std::max(logit, logits[a]);
    EXPECT_LE(logit, before);
    before = logit;
  }
}

TEST(SelectProposals, TakesLowerIndicesOfEqualLogits) {
  Call call;
  for (double& logit : call.in[0].as<double>()) logit = 0.5;
  for (double& delta : call.in[1].as<double>()) delta = 0;
  call.numbers.overlap = 1;
  call.run();
  const std::vector<Box> all = anchors(call.numbers.pyramid);
  ASSERT_EQ(call.count(0), kAfter);
  for (int64_t i = 0; i < kAfter; ++i) EXPECT_EQ(call.boxes(0)[i], clip(all[i], {100, 120})) << i;
}

TEST(SelectProposals, FillsWithZerosBehindTheCount) {
  Call call;
  call.out[0] = HostTensor(DType::f64, {2, 2000, 4});
  for (double& value : call.out[0].as<double>()) value = 7;
  call.run();
  ASSERT_LT(call.count(0), 300);
  EXPECT_GT(call.count(0), kAfter);
  EXPECT_THAT(call.rows(0).subspan(4 * call.count(0)), Each(0));
}

TEST(SelectProposals, ReadsOtherTypesExactly) {
  // Halves of whole numbers are the same in every type.
  const Formula logits = {1201, 31, 2, 4}, deltas = {37, 5, 8, 0.25};
  Call wide;
  wide.in[0] = by_formula<double>(DType::f64, {2, kAnchors}, {logits, logits});
  wide.in[1] = by_formula<double>(DType::f64, {2, kAnchors, 4}, {deltas, deltas});
  wide.run();
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
    Call narrow;
    narrow.in[0] = converted(wide.in[0], dtype);
    narrow.in[1] = converted(wide.in[1], dtype);
    narrow.run();
    EXPECT_EQ(narrow.boxes(0), wide.boxes(0)) << name(dtype);
  }
}

TEST(SelectProposals, RoundsResultsOnce) {
  Call wide, narrow;
  narrow.out[0] = HostTensor(DType::f32, {2, kAfter, 4});
  wide.run();
  narrow.run();
  for (int64_t i = 0; i < 2 * kAfter * 4; ++i)
    EXPECT_EQ(narrow.out[0].as<float>()[i], static_cast<float>(wide.out[0].as<double>()[i]));
}

TEST(SelectProposals, TakesAnImageOfOnePixel) {
  Call call;
  call.in[2].as<int32_t>()[0] = 1;
  call.in[2].as<int32_t>()[1] = 1;
  call.run();
  EXPECT_GE(call.count(0), 1);
  for (const Box& box : call.boxes(0)) EXPECT_EQ(clip(box, {1, 1}), box);
}

TEST(SelectProposals, DropsBoxesWhoseDeltaIsNotFinite) {
  Call call;
  for (double& delta : call.in[1].as<double>().first(kAnchors * 4)) delta = std::numeric_limits<double>::quiet_NaN();
  call.run();
  EXPECT_EQ(call.count(0), 0);
  EXPECT_EQ(call.count(1), kAfter);
}

TEST(SelectProposals, IsTheSameOnEveryThread) {
  Call want;
  want.run();
  std::vector<Call> calls(4);
  std::vector<std::thread> threads;
  for (Call& call : calls) threads.emplace_back([&] { call.run(); });
  for (std::thread& thread : threads) thread.join();
  for (const Call& call : calls) EXPECT_EQ(call.boxes(1), want.boxes(1));
}

TEST(SelectProposals, NamesImageAndLevelOfNaN) {
  Call call;
  call.in[0].as<double>()[kAnchors + 2250 + 7] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(call.says(), HasSubstr("select_proposals: image 1: level 1: the logit of anchor 7"));
}

TEST(SelectProposals, RefusesShapesThatDoNotFit) {
  const auto with = [](size_t operand, HostTensor tensor) {
    Call call;
    call.in[operand] = std::move(tensor);
    return call.says();
  };
  EXPECT_THAT(with(0, HostTensor(DType::f64, {2, kAnchors - 1})), HasSubstr("objectness: expected"));
  EXPECT_THAT(with(0, HostTensor(DType::i32, {2, kAnchors})), HasSubstr("objectness: expected a float type"));
  EXPECT_THAT(with(1, HostTensor(DType::f64, {2, kAnchors, 3})), HasSubstr("deltas: expected"));
  EXPECT_THAT(with(2, HostTensor(DType::i32, {3, 2})), HasSubstr("image_size: expected"));
  EXPECT_THAT(with(2, HostTensor(DType::i32, {2, 2})), HasSubstr("image 0: a size of 0 x 0"));
  Call call;
  call.out[1] = HostTensor(DType::i32, {3});
  EXPECT_THAT(call.says(), HasSubstr("count: expected"));
  call.in.pop_back();
  EXPECT_THAT(call.says(), HasSubstr("expected 3 operands"));
}

}  // namespace
}  // namespace tbd::detection
