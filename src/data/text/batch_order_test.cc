#include "data/text/batch_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "base/philox.h"
#include "data/augmentation.h"
#include "data/text/testing_text.h"

namespace tbd {
namespace {
using testing::ElementsAre;

const std::vector<uint16_t> kBuckets = {0, 1, 0, 1, 1, 0, 0, 1, 1, 0, 1};  // five and six

std::vector<uint32_t> positions(const BatchOrder& order, int64_t step) {
  std::vector<uint32_t> out;
  for (int64_t slot = 0; slot < order.batch(step).samples; ++slot) out.push_back(order.position(step, slot));
  return out;
}

TEST(BatchOrder, TrainingBatchesComeFromOneBucketAndEachSampleAtMostOnceAnEpoch) {
  const BatchOrder order({.seed = 5}, kBuckets, {2, 3});
  ASSERT_EQ(order.steps_per_epoch(), 4);
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    std::set<uint32_t> seen;
    for (int64_t step = 1; step <= 4; ++step) {
      const auto batch = order.batch(epoch * 4 + step);
      EXPECT_EQ(batch.samples, batch.bucket == 0 ? 2 : 3);
      for (const uint32_t position : positions(order, epoch * 4 + step)) {
        EXPECT_EQ(kBuckets[position], batch.bucket);
        EXPECT_TRUE(seen.insert(position).second);
      }
    }
    EXPECT_EQ(seen.size(), 10);
  }
}

TEST(BatchOrder, IsTheDocumentedFunctionOfPhilox) {
  const BatchOrder order({.seed = 5}, kBuckets, {2, 3});
  for (const uint32_t epoch : {0u, 1u}) {
    std::vector<uint32_t> members[2];
    for (const uint32_t position : epoch_order(5, epoch, 11)) members[kBuckets[position]].push_back(position);
    const std::vector<std::vector<uint32_t>> batches = {{members[0][0], members[0][1]},
                                                        {members[0][2], members[0][3]},
                                                        {members[1][0], members[1][1], members[1][2]},
                                                        {members[1][3], members[1][4], members[1][5]}};
    std::vector<uint32_t> number(4);
    std::iota(number.begin(), number.end(), 0u);
    const Philox stream(5, "data/batch_order");
    std::ranges::sort(number, {}, [&](uint32_t k) { return stream.at(epoch, k).word(0); });
    for (int64_t step = 0; step < 4; ++step)
      EXPECT_EQ(positions(order, 1 + epoch * 4 + step), batches[number[static_cast<size_t>(step)]]);
  }
}

TEST(BatchOrder, ValidationKeepsTheOrderAndPartialBatches) {
  const BatchOrder order({.split = Split::val, .seed = 5}, kBuckets, {2, 4});
  ASSERT_EQ(order.steps_per_epoch(), 5);
  EXPECT_THAT(positions(order, 1), ElementsAre(0, 2));
  EXPECT_THAT(positions(order, 3), ElementsAre(9));
  EXPECT_THAT(positions(order, 5), ElementsAre(8, 10));
  EXPECT_THAT(positions(order, 6), ElementsAre(0, 2));
}

TEST(BatchOrder, AnyStepCanBeAskedForAgain) {
  const BatchOrder order({.seed = 5}, kBuckets, {2, 3});
  const auto early = positions(order, 2), late = positions(order, 41);
  for (const int64_t step : {30, 41, 2, 17, 2, 41}) positions(order, step);
  EXPECT_EQ(positions(order, 2), early);
  EXPECT_EQ(positions(order, 41), late);
}

TEST(BatchOrder, RefusesADataSetWithoutABatch) {
  EXPECT_EQ(testing_text::refusal_of([] {
              BatchOrder({}, kBuckets, {6, 7});
            }),
            "no batch of 6 samples in a data set of 11 in 2 buckets");
  EXPECT_EQ(testing_text::refusal_of([] { BatchOrder({}, {0, 0}, {3}); }), "no batch of 3 samples in a data set of 2");
}

}  // namespace
}  // namespace tbd
