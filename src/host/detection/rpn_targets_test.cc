#include "host/detection/rpn_targets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <thread>

#include "host/detection/sampler.h"
#include "host/detection/testing_golden.h"

namespace tbd::detection {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing_detection::complaint;
using testing_detection::expect_signature;
using testing_detection::golden;
using testing_detection::golden_boxes;
using testing_detection::golden_integers;
using testing_detection::random_boxes;

constexpr double kRpnRatios[] = {0.5, 1, 2};

RpnSettings rpn_of_tiny() {
  const Extent extents[] = {{32, 32}, {16, 16}, {8, 8}, {4, 4}, {2, 2}};
  const double sizes[] = {8, 16, 32, 64, 128};
  return {.pyramid = pyramid({128, 128}, extents, sizes, kRpnRatios), .sampled = 32, .most_positive = 16};
}

RpnSettings rpn_of_512() {
  const Extent extents[] = {{128, 128}, {64, 64}, {32, 32}, {16, 16}, {8, 8}};
  const double sizes[] = {32, 64, 128, 256, 512};
  return {.pyramid = pyramid({512, 512}, extents, sizes, kRpnRatios)};
}

std::vector<int32_t> keys_of(const RpnSettings& settings, uint32_t sample) {
  return sampling_keys(Philox(0, "data/rpn_key", 1, sample), anchor_count(settings.pyramid));
}

double sum_of(const std::vector<BoxCode>& codes) {
  double sum = 0;
  for (const BoxCode& code : codes) sum += std::accumulate(code.begin(), code.end(), 0.0);
  return sum;
}

void expect_rpn_sums(const RpnSettings& settings, uint32_t sample, const std::string& name) {
  const std::vector<Box> boxes = golden_boxes("steps", name + "/ground_truth");
  const RpnTargets targets = rpn_targets(settings, boxes, keys_of(settings, sample));
  EXPECT_EQ(targets.positives, golden_integers("steps", name + "/positive")[0]) << name;
  EXPECT_EQ(std::ssize(targets.index), golden_integers("steps", name + "/sampled")[0]) << name;
  EXPECT_EQ(std::accumulate(targets.index.begin(), targets.index.end(), int64_t{0}),
            golden_integers("steps", name + "/index_sum")[0])
      << name;
  const std::vector<int32_t> first(targets.index.begin(), targets.index.begin() + 8);
  EXPECT_EQ(first, golden_integers("steps", name + "/first")) << name;
  EXPECT_NEAR(sum_of(targets.box_target), golden("steps", name + "/box_target_sum")[0], 1e-12) << name;
}

TEST(RpnTargets, AreTorchvisions) {
  expect_rpn_sums(rpn_of_tiny(), 0, "/rpn_tiny_0");
  expect_rpn_sums(rpn_of_tiny(), 1, "/rpn_tiny_1");
  expect_rpn_sums(rpn_of_512(), 0, "/rpn_canonical_512");
}

TEST(RpnTargets, OfSmallBoxesAreTorchvisions) {
  RpnSettings settings = rpn_of_tiny();
  settings.sampled = 256;
  settings.most_positive = 128;
  std::vector<int32_t> keys(static_cast<size_t>(anchor_count(settings.pyramid)));
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<int32_t>(i * 7919 % 1009);
  const RpnTargets targets = rpn_targets(settings, golden_boxes("rules", "/rpn/boxes"), keys);
  EXPECT_EQ(targets.positives, golden_integers("rules", "/rpn/positives")[0]);
  EXPECT_EQ(targets.index, golden_integers("rules", "/rpn/index"));
  std::vector<double> codes;
  for (const BoxCode& code : targets.box_target) codes.insert(codes.end(), code.begin(), code.end());
  expect_signature(codes, "rules", "/rpn/box_target_signature", 1e-11);
}

// As the rule is written: all pairs of boxes and anchors.
RpnTargets over_all_pairs(const RpnSettings& settings, const std::vector<Box>& boxes,
                          const std::vector<int32_t>& keys) {
  const std::vector<Box> all = anchors(settings.pyramid);
  std::vector<double> most(boxes.size(), 0);
  for (size_t g = 0; g < boxes.size(); ++g)
    for (const Box& anchor : all) most[g] = std::max(most[g], overlap(boxes[g], anchor));
  std::vector<int32_t> positives, negatives, match(all.size());
  for (size_t a = 0; a < all.size(); ++a) {
    double best = 0;
    bool is_forced = false;
    for (size_t g = 0; g < boxes.size(); ++g) {
      const double shared = overlap(boxes[g], all[a]);
      is_forced |= shared == most[g];
      if (shared > best) match[a] = static_cast<int32_t>(g);
      best = std::max(best, shared);
    }
    if (is_forced || best >= settings.positive)
      positives.push_back(static_cast<int32_t>(a));
    else if (best < settings.negative)
      negatives.push_back(static_cast<int32_t>(a));
  }
  RpnTargets out = {.index = sample(positives, keys, settings.most_positive)};
  out.positives = std::ssize(out.index);
  for (const int32_t a : out.index) out.box_target.push_back(encode(boxes[match[a]], all[a], kProposalWeights));
  const std::vector<int32_t> rest = sample(negatives, keys, settings.sampled - out.positives);
  out.index.insert(out.index.end(), rest.begin(), rest.end());
  return out;
}

TEST(RpnTargets, AreThePlainLoop) {
  const Extent image = {100, 120};
  const Extent extents[] = {{25, 30}, {13, 15}};
  const double sizes[] = {8, 16};
  const RpnSettings settings = {
      .pyramid = pyramid(image, extents, sizes, kRpnRatios), .sampled = 64, .most_positive = 32};
  const std::vector<int32_t> keys = keys_of(settings, 0);
  for (uint32_t seed = 0; seed < 8; ++seed) {
    const std::vector<Box> boxes = random_boxes(seed, 1 + 5 * seed, image, seed % 2 == 0 ? 20 : 90);
    const RpnTargets got = rpn_targets(settings, boxes, keys), want = over_all_pairs(settings, boxes, keys);
    EXPECT_EQ(got.index, want.index) << "seed " << seed;
    EXPECT_EQ(got.positives, want.positives) << "seed " << seed;
    EXPECT_EQ(got.box_target, want.box_target) << "seed " << seed;
  }
}

// One cell with squares of these sides about (0, 0).
RpnSettings one_cell(const std::vector<double>& sides) {
  const Extent extents[] = {{1, 1}};
  const double ratios[] = {1};
  return {.pyramid = pyramid({16, 16}, extents, sides, ratios)};
}

TEST(RpnTargets, AreOfTheFirstOfEqualBoxes) {
  const std::vector<Box> halves = {{-8, -8, 8, 0}, {-8, 0, 8, 8}};
  const RpnTargets targets = rpn_targets(one_cell({16}), halves, std::vector<int32_t>{0});
  EXPECT_THAT(targets.box_target, ElementsAre(encode(halves[0], {-8, -8, 8, 8}, kProposalWeights)));
}

TEST(RpnTargets, TakeTheThresholdsAsPositive) {
  // The larger anchor shares exactly half with the box; the smaller shares more, so it is the one that is forced.
  RpnSettings settings = one_cell({16, 12});
  const std::vector<Box> box = {{-8, -4, 8, 4}};
  const std::vector<int32_t> keys = {0, 0};
  settings.positive = 0.5;
  EXPECT_EQ(rpn_targets(settings, box, keys).positives, 2);
  settings.positive = 0.9;
  settings.negative = 0.5;
  EXPECT_THAT(rpn_targets(settings, box, keys).index, ElementsAre(1)) << "exactly the limit is not below it";
}

TEST(RpnTargets, DecodeToTheBox) {
  const RpnSettings settings = rpn_of_tiny();
  const Box box = {70.5, 60.25, 125, 120.75};
  const RpnTargets targets = rpn_targets(settings, std::vector<Box>{box}, keys_of(settings, 0));
  ASSERT_GE(targets.positives, 1);
  for (int64_t i = 0; i < targets.positives; ++i) {
    const Box back = decode(targets.box_target[i], anchor_at(settings.pyramid, targets.index[i]), kProposalWeights);
    EXPECT_NEAR(back.x1, box.x1, 1e-12);
    EXPECT_NEAR(back.y2, box.y2, 1e-12);
  }
}

TEST(RpnTargets, TakeNegativesAloneWithoutBoxes) {
  const RpnTargets targets = rpn_targets(rpn_of_tiny(), {}, keys_of(rpn_of_tiny(), 1));
  EXPECT_EQ(targets.positives, 0);
  EXPECT_THAT(targets.box_target, IsEmpty());
  const std::vector<int32_t> first(targets.index.begin(), targets.index.begin() + 8);
  EXPECT_EQ(first, golden_integers("steps", "/rpn_tiny_empty/first"));
}

TEST(RpnTargets, TakeABoxThatNoAnchorOverlapsAsTheReferenceDoes) {
  // It has the same overlap, 0, with all anchors, so all are its closest.
  const RpnTargets targets =
      rpn_targets(rpn_of_tiny(), std::vector<Box>{{1000, 1000, 1001, 1001}}, keys_of(rpn_of_tiny(), 0));
  EXPECT_EQ(targets.positives, 16);
  EXPECT_EQ(targets.index.size(), 16);
}

TEST(RpnTargets, AreTheSameOnEveryThread) {
  const RpnSettings settings = rpn_of_tiny();
  const std::vector<Box> boxes = random_boxes(7, 12, {128, 128}, 60);
  const std::vector<int32_t> keys = keys_of(settings, 0);
  const RpnTargets want = rpn_targets(settings, boxes, keys);
  std::vector<RpnTargets> got(4);
  std::vector<std::thread> threads;
  for (RpnTargets& own : got) threads.emplace_back([&] { own = rpn_targets(settings, boxes, keys); });
  for (std::thread& thread : threads) thread.join();
  for (const RpnTargets& own : got) EXPECT_EQ(own.index, want.index);
}

TEST(RpnTargets, RefuseBoxesWithoutAreaAndMissingKeys) {
  const std::vector<Box> boxes = {{0, 0, 9, 9}, {5, 5, 5, 9}};
  EXPECT_THAT(complaint([&] { rpn_targets(rpn_of_tiny(), boxes, keys_of(rpn_of_tiny(), 0)); }), HasSubstr("box 1: "));
  EXPECT_THAT(complaint([&] { rpn_targets(rpn_of_tiny(), {}, std::vector<int32_t>(4091)); }),
              HasSubstr("4091 keys for 4092 anchors"));
}

}  // namespace
}  // namespace tbd::detection
