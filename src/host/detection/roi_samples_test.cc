#include "host/detection/roi_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <thread>

#include "base/philox.h"
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
using testing_detection::random_boxes;

constexpr int64_t kImages = 2, kProposals = 60, kObjects = 4, kRuns = 600, kRows = 32, kPositives = 8, kSide = 28;
// Positions of operands and results.
constexpr size_t kCountAt = 1, kLabelAt = 3, kRunsAt = 6, kStartsAt = 7;
constexpr size_t kRoisOut = 0, kLevelOut = 1, kLabelOut = 2, kWeightOut = 3, kTargetOut = 4, kBoxWeightOut = 5;
constexpr size_t kMaskRoisOut = 6, kMaskTargetOut = 9, kMaskWeightOut = 10, kRowsOut = 11;

template <class T>
HostTensor tensor(DType dtype, const Shape& shape, const std::vector<T>& values) {
  return HostTensor(dtype, shape, std::span<const T>(values));
}

// Rows of four numbers at `row` and behind.
void put(HostTensor& to, int64_t row, std::span<const Box> boxes) {
  auto at = to.as<double>().begin() + 4 * row;
  for (const Box& box : boxes)
    for (const double corner : {box.x1, box.y1, box.x2, box.y2}) *at++ = corner;
}

struct Images {
  RoiSettings settings = {.canonical = 32, .slots = 4};
  std::vector<HostTensor> in;
  std::vector<HostTensor> out = {
      HostTensor(DType::f64, {kImages * kRows, 5}),
      HostTensor(DType::i32, {kImages * kRows}),
      HostTensor(DType::i32, {kImages * kRows}),
      HostTensor(DType::f64, {kImages * kRows}),
      HostTensor(DType::f64, {kImages * kRows, 1, 4}),
      HostTensor(DType::f64, {kImages * kRows}),
      HostTensor(DType::f64, {kImages * kPositives, 5}),
      HostTensor(DType::i32, {kImages * kPositives}),
      HostTensor(DType::i32, {kImages * kPositives, 1}),
      HostTensor(DType::f64, {kImages * kPositives, 1, kSide, kSide}),
      HostTensor(DType::f64, {kImages * kPositives}),
      HostTensor(DType::i32, {}),
  };

  // The two images of the golden numbers.
  Images() {
    in = {HostTensor(DType::f64, {kImages, kProposals, 4}),
          tensor<int32_t>(DType::i32, {kImages}, {kProposals, kProposals}),
          HostTensor(DType::f64, {kImages, kObjects, 4}),
          HostTensor(DType::i32, {kImages, kObjects}),
          HostTensor(DType::i32, {kImages, kProposals + kObjects}),
          tensor<int32_t>(DType::i32, {kImages, 2}, {100, 120, 80, 96}),
          HostTensor(DType::i32, {kImages, kRuns}),
          HostTensor(DType::i32, {kImages, kObjects + 1})};
    for (int64_t n = 0; n < kImages; ++n) {
      put(in[0], n * kProposals, golden_boxes("torchvision", cat("/rois/proposals/", n)));
      put(in[2], n * kObjects, golden_boxes("torchvision", cat("/rois/ground_truth/", n)));
      const std::vector<int32_t> labels = golden_integers("torchvision", cat("/rois/labels/", n));
      std::copy(labels.begin(), labels.end(), in[kLabelAt].as<int32_t>().begin() + n * kObjects);
      for (int64_t i = 0; i < kProposals + kObjects; ++i)
        in[4].as<int32_t>()[n * (kProposals + kObjects) + i] = static_cast<int32_t>((i * 7919 + n * 31) % 1009);
      put_runs(n, std::ssize(labels));
    }
  }

  void put_runs(int64_t n, int64_t objects) {
    int32_t at = 0;
    for (int64_t g = 0; g < kObjects; ++g) {
      in[kStartsAt].as<int32_t>()[n * (kObjects + 1) + g] = at;
      if (g < objects) {
        const std::vector<int32_t> runs = golden_integers("torchvision", cat("/rois/runs/", n, "/", g));
        std::copy(runs.begin(), runs.end(), in[kRunsAt].as<int32_t>().begin() + n * kRuns + at);
        at += static_cast<int32_t>(runs.size());
      }
      in[kStartsAt].as<int32_t>()[n * (kObjects + 1) + g + 1] = at;
    }
  }

  void clear_objects(int64_t n) {
    for (int64_t g = 0; g < kObjects; ++g) in[kLabelAt].as<int32_t>()[n * kObjects + g] = 0;
  }

  void run() { sample_rois(settings, in, out); }
  std::string says() {
    return complaint([&] { run(); });
  }
  std::span<const double> reals(size_t result) const { return out[result].as<double>(); }
  std::span<const int32_t> integers(size_t result) const { return out[result].as<int32_t>(); }
  int64_t positives() const {
    const std::span<const int32_t> labels = integers(kLabelOut);
    return std::count_if(labels.begin(), labels.end(), [](int32_t label) { return label > 0; });
  }
};

std::vector<int32_t> first(std::span<const int32_t> values, int64_t count) {
  return {values.begin(), values.begin() + count};
}

TEST(RoiLevel, IsTorchvisions) {
  const std::vector<double> sides = golden("small", "/level/sides");
  std::vector<int32_t> levels;
  for (const double side : sides) levels.push_back(static_cast<int32_t>(roi_level({0, 0, side, side}, {})) + 2);
  EXPECT_EQ(levels, golden_integers("small", "/level/level"));
  EXPECT_EQ(roi_level({3, 3, 3, 9}, {}), 0) << "a region without area is of the finest level";
}

TEST(SampleRois, SamplesAsTorchvision) {
  Images images;
  images.run();
  const int32_t positives = golden_integers("torchvision", "/rois/positives")[0];
  const int32_t sampled = golden_integers("torchvision", "/rois/sampled")[0];
  ASSERT_EQ(images.positives(), positives);
  ASSERT_EQ(sampled, kImages * kRows);
  expect_signature(images.reals(kRoisOut), "torchvision", "/rois/rois_signature",
                   1e-4);  // proposals in the file have six digits
  EXPECT_EQ(first(images.integers(kLabelOut), positives), golden_integers("torchvision", "/rois/labels_of_positives"));
  EXPECT_EQ(first(images.integers(kLevelOut), sampled), golden_integers("torchvision", "/rois/levels"));
  expect_signature(images.reals(kTargetOut).first(4 * positives), "torchvision", "/rois/box_target_signature", 1e-5);
  expect_signature(images.reals(kMaskTargetOut), "torchvision", "/rois/mask_target_signature", 1e-2);
}

TEST(SampleRois, WeighsByTheCountsOfTheBatch) {
  Images images;
  images.clear_objects(1);
  images.run();
  const int64_t positives = images.positives();
  ASSERT_EQ(positives, kPositives);
  EXPECT_THAT(images.reals(kWeightOut), Each(2.0 / 64));
  EXPECT_THAT(images.reals(kBoxWeightOut).first(positives), Each(2.0 / 64));
  EXPECT_THAT(images.reals(kBoxWeightOut).subspan(positives), Each(0));
  EXPECT_THAT(images.reals(kMaskWeightOut).first(positives), Each(2.0 / (784.0 * 8)));
  EXPECT_THAT(images.reals(kMaskWeightOut).subspan(positives), Each(0));
  EXPECT_EQ(images.integers(kRowsOut)[0], 8);
}

TEST(SampleRois, TakesImagesWithoutObjects) {
  Images images;
  images.clear_objects(0);
  images.clear_objects(1);
  images.run();
  EXPECT_EQ(images.positives(), 0);
  EXPECT_THAT(images.reals(kWeightOut), Each(2.0 / 64));
  EXPECT_THAT(images.reals(kBoxWeightOut), Each(0));
  EXPECT_THAT(images.reals(kMaskWeightOut), Each(0));
  EXPECT_THAT(images.reals(kMaskTargetOut), Each(0));
  EXPECT_THAT(images.reals(kTargetOut), Each(0));
  EXPECT_EQ(images.integers(kRowsOut)[0], 1) << "a back-end needs a row";
}

TEST(SampleRois, LeavesUnusedRowsZero) {
  Images images;
  images.in[kCountAt].as<int32_t>()[0] = 3;
  images.in[kCountAt].as<int32_t>()[1] = 0;
  for (HostTensor& result : images.out) std::fill(result.bytes().begin(), result.bytes().end(), std::byte{1});
  images.run();
  const int64_t used = 3 + 3 + 2;  // proposals, and the objects of both images
  EXPECT_THAT(images.reals(kRoisOut).subspan(5 * used), Each(0));
  EXPECT_THAT(images.reals(kWeightOut).first(used), Each(2.0 / used));
  EXPECT_THAT(images.reals(kWeightOut).subspan(used), Each(0));
  EXPECT_THAT(images.integers(kLevelOut).subspan(used), Each(0));
  EXPECT_THAT(images.integers(kLabelOut).subspan(used), Each(0));
}

TEST(SampleRois, TakesTheObjectsThemselves) {
  Images images;
  images.in[kCountAt].as<int32_t>()[0] = 0;
  images.in[kCountAt].as<int32_t>()[1] = 0;
  images.run();
  EXPECT_EQ(first(images.integers(kLabelOut), 5), (std::vector<int32_t>{1, 2, 3, 2, 1}));
  EXPECT_THAT(images.reals(kTargetOut), Each(0)) << "an object is its own target";
}

TEST(SampleRois, LabelsByTheFirstOfEqualObjectsFromTheOverlapOn) {
  Images images;
  images.in.resize(kRunsAt);
  images.out.resize(kMaskRoisOut);
  const Box halves[] = {{0, 0, 10, 5}, {0, 5, 10, 10}}, both[] = {{0, 0, 10, 10}};  // which share exactly 1/2
  put(images.in[0], 0, both);
  put(images.in[2], 0, halves);
  images.in[kCountAt].as<int32_t>()[0] = 1;
  images.run();
  EXPECT_EQ(images.integers(kLabelOut)[0], 1);
  EXPECT_EQ(images.reals(kRoisOut)[4], 10) << "the first row is the proposal";
}

TEST(SampleRois, RepeatsThePositivesForMasks) {
  Images images;
  images.run();
  const int64_t positives = images.positives();
  const std::span<const double> rois = images.reals(kRoisOut), masks = images.reals(kMaskRoisOut);
  EXPECT_TRUE(std::equal(masks.begin(), masks.begin() + 5 * positives, rois.begin()));
  EXPECT_EQ(first(images.integers(kMaskRoisOut + 1), positives), first(images.integers(kLevelOut), positives));
  EXPECT_EQ(first(images.integers(kMaskRoisOut + 2), positives), first(images.integers(kLabelOut), positives));
}

// Candidates of one image in the order of their keys: at most so many with a label, then others.
std::set<int32_t> sampled_plainly(const std::vector<int32_t>& labels, const std::vector<int32_t>& keys, bool positive,
                                  int64_t most) {
  std::vector<int32_t> order(labels.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return keys[a] < keys[b]; });
  std::set<int32_t> taken;
  for (const int32_t i : order)
    if ((labels[i] > 0) == positive && std::ssize(taken) < most) taken.insert(i);
  return taken;
}

TEST(SampleRois, SamplesAsAPlainLoopWithAllObjectRowsInUse) {
  Images images;
  images.in[1] = tensor<int32_t>(DType::i32, {kImages}, {kProposals, 37});
  const Philox draw(11, "test/keys");
  for (size_t i = 0; i < images.in[4].as<int32_t>().size(); ++i)
    images.in[4].as<int32_t>()[i] = static_cast<int32_t>(draw.word(i) % 20);  // equal keys are common
  std::vector<double> expected;
  std::vector<std::vector<Box>> positive_boxes, negative_boxes;
  for (int64_t n = 0; n < kImages; ++n) {
    const std::vector<Box> objects = random_boxes(20 + n, kObjects, {80, 96}, 40);
    std::vector<Box> candidates = random_boxes(30 + n, kProposals, {80, 96}, 40);
    for (size_t i = 0; i < 24; ++i) {
      candidates[2 * i] = objects[i % kObjects];
      candidates[2 * i].x2 += 0.25 * static_cast<double>(i);
    }
    put(images.in[0], n * kProposals, candidates);
    put(images.in[2], n * kObjects, objects);
    for (int64_t g = 0; g < kObjects; ++g) images.in[kLabelAt].as<int32_t>()[n * kObjects + g] = 1 + g % 3;
    candidates.resize(images.in[kCountAt].as<int32_t>()[n]);
    std::vector<int32_t> keys, labels;
    const auto key = [&](int64_t slot) { return images.in[4].as<int32_t>()[n * (kProposals + kObjects) + slot]; };
    for (int64_t i = 0; i < std::ssize(candidates); ++i) keys.push_back(key(i));
    for (int64_t g = 0; g < kObjects; ++g) keys.push_back(key(kProposals + g));
    candidates.insert(candidates.end(), objects.begin(), objects.end());
    for (const Box& box : candidates) {
      double best = 0;
      int32_t label = 0;
      for (int64_t g = 0; g < kObjects; ++g)
        if (overlap(objects[g], box) > best) {
          best = overlap(objects[g], box);
          label = static_cast<int32_t>(1 + g % 3);
        }
      labels.push_back(best >= 0.5 ? label : 0);
    }
    const std::set<int32_t> positives = sampled_plainly(labels, keys, true, kPositives);
    const std::set<int32_t> negatives = sampled_plainly(labels, keys, false, kRows - std::ssize(positives));
    positive_boxes.emplace_back();
    negative_boxes.emplace_back();
    for (const int32_t i : positives) positive_boxes.back().push_back(candidates[i]);
    for (const int32_t i : negatives) negative_boxes.back().push_back(candidates[i]);
  }
  for (const auto* part : {&positive_boxes, &negative_boxes})
    for (int64_t n = 0; n < kImages; ++n)
      for (const Box& box : (*part)[n])
        for (const double value : {static_cast<double>(n), box.x1, box.y1, box.x2, box.y2}) expected.push_back(value);
  images.in.resize(kRunsAt);
  images.out.resize(kMaskRoisOut);
  images.run();
  ASSERT_EQ(positive_boxes[0].size(), kPositives);
  expected.resize(kImages * kRows * 5);
  const std::span<const double> rois = images.reals(kRoisOut);
  EXPECT_EQ(std::vector<double>(rois.begin(), rois.end()), expected);
}

TEST(SampleRois, TargetsDecodeToTheObject) {
  Images images;
  images.run();
  const std::span<const double> rois = images.reals(kRoisOut), targets = images.reals(kTargetOut);
  std::vector<Box> objects = golden_boxes("torchvision", "/rois/ground_truth");
  for (int64_t i = 0; i < images.positives(); ++i) {
    const Box roi = {rois[5 * i + 1], rois[5 * i + 2], rois[5 * i + 3], rois[5 * i + 4]};
    const Box back =
        decode({targets[4 * i], targets[4 * i + 1], targets[4 * i + 2], targets[4 * i + 3]}, roi, kDetectionWeights);
    const auto is_near = [&](const Box& object) {
      return std::abs(back.x1 - object.x1) + std::abs(back.y1 - object.y1) + std::abs(back.x2 - object.x2) +
                 std::abs(back.y2 - object.y2) <
             1e-9;
    };
    EXPECT_EQ(std::count_if(objects.begin(), objects.end(), is_near), 1) << i;
  }
}

TEST(SampleRois, NeedsNoMasks) {
  Images with, without;
  without.in.resize(kRunsAt);
  without.out.resize(kMaskRoisOut);
  with.run();
  without.run();
  for (size_t i = 0; i < kMaskRoisOut; ++i)
    EXPECT_TRUE(std::ranges::equal(with.out[i].bytes(), without.out[i].bytes())) << i;
}

TEST(SampleRois, IsTheSameOnEveryThread) {
  Images want;
  want.run();
  std::vector<Images> calls(3);
  std::vector<std::thread> threads;
  for (Images& call : calls) threads.emplace_back([&] { call.run(); });
  for (std::thread& thread : threads) thread.join();
  for (const Images& call : calls)
    for (size_t i = 0; i < call.out.size(); ++i)
      EXPECT_TRUE(std::ranges::equal(call.out[i].bytes(), want.out[i].bytes())) << i;
}

TEST(SampleRois, NamesImageAndBoxOfBadObjects) {
  Images flat, label, behind, runs, start;
  flat.in[2].as<double>()[4 * (kObjects + 1) + 2] = 0;
  EXPECT_THAT(flat.says(), HasSubstr("sample_rois: image 1: box 1: expected x1 < x2"));
  label.in[kLabelAt].as<int32_t>()[2] = 4;
  EXPECT_THAT(label.says(), HasSubstr("image 0: box 2: label 4 of 4"));
  behind.in[kLabelAt].as<int32_t>()[1] = 0;
  EXPECT_THAT(behind.says(), HasSubstr("image 0: box 2: a label behind an unused row"));
  runs.in[kRunsAt].as<int32_t>()[kRuns] += 1;
  EXPECT_THAT(runs.says(), HasSubstr("image 1: box 0: run lengths sum to 7681, but 80 x 96 pixels are 7680"));
  start.in[kStartsAt].as<int32_t>()[3] = kRuns + 1;
  EXPECT_THAT(start.says(), HasSubstr(cat("image 0: box 2: runs")));
}

TEST(SampleRois, NamesImagesOfBadProposals) {
  Images count, infinite;
  count.in[kCountAt].as<int32_t>()[1] = kProposals + 1;
  EXPECT_THAT(count.says(), HasSubstr("image 1: a count of 61 of 60 proposals"));
  infinite.in[0].as<double>()[4 * 5] = std::numeric_limits<double>::infinity();
  EXPECT_THAT(infinite.says(), HasSubstr("image 0: proposal 5: a coordinate is not finite"));
}

TEST(SampleRois, RefusesShapesThatDoNotFit) {
  const char* operands[] = {"proposals", "count",      "gt_box",    "gt_label",
                            "roi_key",   "image_size", "mask_runs", "mask_start"};
  for (size_t i = 1; i < std::size(operands); ++i) {
    Images images;
    Shape shape = images.in[i].shape();
    shape[0] = 3;
    images.in[i] = HostTensor(images.in[i].dtype(), shape);
    EXPECT_THAT(images.says(), HasSubstr(cat(operands[i], ": expected"))) << operands[i];
  }
  const char* results[] = {"rois",      "level",      "label",      "weight",      "box_target",  "box_weight",
                           "mask_rois", "mask_level", "mask_label", "mask_target", "mask_weight", "rows"};
  for (size_t i = 1; i < std::size(results); ++i) {
    Images images;
    images.out[i] = HostTensor(images.out[i].dtype(), i == kMaskTargetOut ? Shape{7, 1, kSide, kSide} : Shape{7});
    EXPECT_THAT(images.says(), HasSubstr(cat(results[i], ": expected"))) << results[i];
  }
  Images few;
  few.in.pop_back();
  EXPECT_THAT(few.says(), HasSubstr("expected 8 operands and 12 results"));
}

}  // namespace
}  // namespace tbd::detection
