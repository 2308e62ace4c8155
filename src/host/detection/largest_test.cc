#include "host/detection/largest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/philox.h"

namespace tbd::detection {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Largest, ComeFirstAndOfEqualsTheLowerIndex) {
  EXPECT_THAT(largest(std::vector<double>{1, 5, 5, 0, 7, 5}, 3), ElementsAre(4, 1, 2));
  EXPECT_THAT(largest(std::vector<double>{3, 3, 3}, 2), ElementsAre(0, 1));
}

TEST(Largest, AreAStableSortsFirst) {
  const Philox draw(1, "test/values");
  std::vector<double> values(1000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(draw.word(i) % 50) - 25;
  std::vector<int32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return values[a] > values[b]; });
  for (const int64_t count : {1, 17, 500, 1000}) {
    const std::vector<int32_t> want(order.begin(), order.begin() + count);
    EXPECT_EQ(largest(values, count), want) << count;
  }
}

TEST(Largest, AreAllWhereThereAreFewer) {
  EXPECT_THAT(largest(std::vector<double>{1, 2}, 9), ElementsAre(1, 0));
  EXPECT_THAT(largest({}, 9), IsEmpty());
  EXPECT_THAT(largest(std::vector<double>{1, 2}, 0), IsEmpty());
}

TEST(Largest, OrderInfinitiesAndTakeBothZerosAsEqual) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_THAT(largest(std::vector<double>{-0.0, 0.0, -infinity, infinity}, 3), ElementsAre(3, 0, 1));
}

}  // namespace
}  // namespace tbd::detection
