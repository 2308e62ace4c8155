#include "quality/top_k.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/philox.h"

namespace tbd {
namespace {

using ::testing::ElementsAre;

HostTensor class_scores(const std::vector<std::vector<double>>& rows) {
  std::vector<float> values;
  for (const std::vector<double>& row : rows)
    for (const double value : row) values.push_back(static_cast<float>(value));
  const auto classes = static_cast<int64_t>(values.size() / rows.size());
  return {DType::f32, {static_cast<int64_t>(rows.size()), classes}, std::span<const float>(values)};
}

TEST(TopKGolden, RanksAndAccuracies) {
  const Json golden =
      parse_json(read_file(TBD_SOURCE_DIR "/src/quality/golden/predictions.json"), "predictions.json").at("top_k");
  const auto labels = golden.at("labels").get<std::vector<int32_t>>();
  const std::vector<int64_t> ranks =
      label_ranks(class_scores(golden.at("scores").get<std::vector<std::vector<double>>>()), labels);
  EXPECT_EQ(ranks, golden.at("rank").get<std::vector<int64_t>>());
  const auto samples = static_cast<double>(ranks.size());
  EXPECT_DOUBLE_EQ(static_cast<double>(top_k_hits(ranks, 1)) / samples, golden.at("top1").get<double>());
  EXPECT_DOUBLE_EQ(static_cast<double>(top_k_hits(ranks, 5)) / samples, golden.at("top5").get<double>());
}

TEST(TopK, RankIsThePlaceInAStableSort) {
  constexpr size_t kClasses = 9;
  for (uint32_t round = 0; round < 300; ++round) {
    const Philox draws(4, "test/scores", round);
    std::vector<double> row(kClasses);
    for (size_t i = 0; i < kClasses; ++i) row[i] = static_cast<int>(draws.uniform(i) * 4);
    std::vector<int32_t> order(kClasses);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::ranges::greater(), [&](int32_t i) { return row[static_cast<size_t>(i)]; });
    for (size_t place = 0; place < kClasses; ++place)
      ASSERT_THAT(label_ranks(class_scores({row}), std::vector{order[place]}), ElementsAre(place));
  }
}

TEST(TopK, HitsGrowWithKUpToAll) {
  const std::vector<int64_t> ranks = {0, 3, 1, 1, 4};
  EXPECT_EQ(top_k_hits(ranks, 1), 1);
  EXPECT_EQ(top_k_hits(ranks, 2), 3);
  EXPECT_EQ(top_k_hits(ranks, 5), 5);
  EXPECT_THROW(top_k_hits(ranks, 0), Error);
}

TEST(TopK, ScoreThatIsNotANumberIsAFailureAndNotAMiss) {
  const HostTensor scores = class_scores({{1, 2}, {1, std::numeric_limits<double>::quiet_NaN()}});
  try {
    label_ranks(scores, std::vector<int32_t>{0, 0});
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "sample 1: the score of class 1 is not a number");
  }
}

TEST(TopK, RefusesLabelsThatAreNoClass) {
  const HostTensor scores = class_scores({{1, 2}, {1, 2}});
  EXPECT_THROW(label_ranks(scores, std::vector<int32_t>{0}), Error);
  EXPECT_THROW(label_ranks(scores, std::vector<int32_t>{0, 2}), Error);
  EXPECT_THROW(label_ranks(scores, std::vector<int32_t>{-1, 0}), Error);
  EXPECT_THROW(label_ranks(HostTensor(DType::i32, {1, 2}), std::vector<int32_t>{0}), Error);
  EXPECT_THROW(label_ranks(HostTensor(DType::f32, {0, 0}), {}), Error);
}

}  // namespace
}  // namespace tbd
