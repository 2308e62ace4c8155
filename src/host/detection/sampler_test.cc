#include "host/detection/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "host/detection/testing_golden.h"

namespace tbd::detection {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing_detection::golden_integers;

TEST(Sampler, TakesTheLowerIndexOfEqualKeys) {
  const std::vector<int32_t> candidates = golden_integers("small", "/sample/candidates"),
                             keys = golden_integers("small", "/sample/keys");
  const int32_t take = golden_integers("small", "/sample/take")[0];
  EXPECT_EQ(sample(candidates, keys, take), golden_integers("small", "/sample/taken"));
  EXPECT_THAT(sample(candidates, keys, 2), ElementsAre(4, 8)) << "11 has the key of 4";
}

TEST(Sampler, TakesTheSmallestKeys) {
  std::vector<int32_t> keys = sampling_keys(Philox(3, "test/keys"), 1000);
  for (int32_t& key : keys) key %= 100;
  std::vector<int32_t> candidates;
  for (int32_t i = 0; i < 1000; i += 3) candidates.push_back(i);
  std::vector<int32_t> sorted = candidates;
  std::stable_sort(sorted.begin(), sorted.end(), [&](int32_t a, int32_t b) { return keys[a] < keys[b]; });
  sorted.resize(57);
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sample(candidates, keys, 57), sorted);
}

TEST(Sampler, TakesAllWhereThereAreFewer) {
  const std::vector<int32_t> keys = {9, 1, 5};
  EXPECT_THAT(sample(std::vector<int32_t>{2, 0}, keys, 8), ElementsAre(0, 2));
  EXPECT_THAT(sample(std::vector<int32_t>{2, 0}, keys, 0), IsEmpty());
  EXPECT_THAT(sample({}, keys, 8), IsEmpty());
}

TEST(Sampler, KeysAreTheStreamsWordsHalved) {
  const Philox stream(0, "data/rpn_key", 1, 2);
  const std::vector<int32_t> keys = sampling_keys(stream, 9);
  ASSERT_EQ(keys.size(), 9);
  for (uint64_t i = 0; i < 9; ++i) EXPECT_EQ(keys[i], static_cast<int32_t>(stream.word(i) / 2));
}

TEST(Sampler, RefusesCandidatesWithoutAKey) {
  const std::vector<int32_t> keys = {9, 1, -5};
  EXPECT_THROW(sample(std::vector<int32_t>{3}, keys, 1), Error);
  EXPECT_THROW(sample(std::vector<int32_t>{-1}, keys, 1), Error);
  EXPECT_THROW(sample(std::vector<int32_t>{2}, keys, 1), Error);
}

}  // namespace
}  // namespace tbd::detection
