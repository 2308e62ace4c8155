#include "quality/prefix_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace tbd {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

std::vector<int32_t> row_of(const PrefixBatch& batch, int64_t row) {
  const int64_t columns = batch.tokens.shape()[1];
  const auto tokens =
      batch.tokens.as<int32_t>().subspan(static_cast<size_t>(row * columns), static_cast<size_t>(columns));
  return {tokens.begin(), tokens.end()};
}

TEST(PrefixBatch, BucketsDouble) {
  EXPECT_EQ(prefix_bucket(0), 8);
  EXPECT_EQ(prefix_bucket(8), 8);
  EXPECT_EQ(prefix_bucket(9), 16);
  EXPECT_EQ(prefix_bucket(33), 64);
  EXPECT_THROW(prefix_bucket(-1), Error);
}

TEST(PrefixBatch, HoldsBeginPrefixAndPadding) {
  const std::vector<int32_t> first = {5, 6}, second = {1, 2, 3, 4, 5, 6, 7, 8};
  const PrefixBatch batch =
      pad_prefixes(std::vector<Prefix>{{0, first}, {1, second}}, {.begin = 9, .padding = -1, .rows = 3});
  ASSERT_EQ(batch.tokens.shape(), (Shape{3, 16}));
  EXPECT_THAT(row_of(batch, 0), ElementsAre(9, 5, 6, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1));
  EXPECT_THAT(row_of(batch, 1), ElementsAre(9, 1, 2, 3, 4, 5, 6, 7, 8, -1, -1, -1, -1, -1, -1, -1));
  EXPECT_THAT(row_of(batch, 2), ElementsAre(9, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1));
  EXPECT_THAT(batch.last, ElementsAre(2, 8));
}

TEST(PrefixBatch, HasTheColumnsOfADecoderOfOneLength) {
  const std::vector<int32_t> tokens = {5, 6};
  const std::vector<Prefix> prefixes = {{0, tokens}};
  const PrefixBatch batch = pad_prefixes(prefixes, {.begin = 9, .padding = -1, .columns = 3});
  ASSERT_EQ(batch.tokens.shape(), (Shape{1, 3}));
  EXPECT_THAT(row_of(batch, 0), ElementsAre(9, 5, 6));
  EXPECT_THROW(pad_prefixes(prefixes, {.begin = 9, .padding = -1, .columns = 2}), Error);
}

TEST(PrefixBatch, OfTheFirstStepIsTheBegin) {
  const PrefixBatch batch = pad_prefixes(std::vector<Prefix>{{0, {}}, {0, {}}}, {.begin = 3, .padding = 3});
  ASSERT_EQ(batch.tokens.shape(), (Shape{2, 8}));
  EXPECT_THAT(row_of(batch, 1), Each(3));
  EXPECT_THAT(batch.last, ElementsAre(0, 0));
}

}  // namespace
}  // namespace tbd
