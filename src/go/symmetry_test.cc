#include "go/symmetry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include "base/error.h"

namespace tbd::go {
namespace {

std::vector<float> numbered(int count) {
  std::vector<float> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 1.f);
  return values;
}

TEST(GoSymmetry, TurnsCounterClockwiseAndMirrors) {
  const std::vector<float> board = numbered(9);  // 123 456 789
  std::vector<float> out(9);
  transform_planes(board, 3, 1, out);
  EXPECT_EQ(out, (std::vector<float>{3, 6, 9, 2, 5, 8, 1, 4, 7}));
  transform_planes(board, 3, 4, out);
  EXPECT_EQ(out, (std::vector<float>{3, 2, 1, 6, 5, 4, 9, 8, 7}));
}

TEST(GoSymmetry, EachHasItsInverseOnPlanesAndPolicies) {
  for (const int size : {2, 5, 9, 19}) {
    const std::vector<float> planes = numbered(3 * size * size), policy = numbered(size * size + 1);
    std::set<std::vector<float>> images;
    for (int symmetry = 0; symmetry < kSymmetries; ++symmetry) {
      std::vector<float> there(planes.size()), back(planes.size());
      transform_planes(planes, size, symmetry, there);
      transform_planes(there, size, inverse(symmetry), back);
      EXPECT_EQ(back, planes) << symmetry;
      images.insert(there);
      std::vector<float> turned(policy.size()), restored(policy.size());
      transform_policy(policy, size, symmetry, turned);
      transform_policy(turned, size, inverse(symmetry), restored);
      EXPECT_EQ(restored, policy) << symmetry;
      EXPECT_EQ(turned.back(), policy.back());
      for (Move move = 0; move <= size * size; ++move)
        EXPECT_EQ(turned[static_cast<size_t>(moved(move, size, symmetry))], policy[static_cast<size_t>(move)]);
    }
    EXPECT_EQ(images.size(), kSymmetries);
  }
}

TEST(GoSymmetry, KeepsNeighboursTogether) {
  const std::span<const uint16_t> from = sources(5, 6);
  for (int row = 0; row < 5; ++row)
    for (int column = 0; column < 4; ++column) {
      const int a = from[static_cast<size_t>(row * 5 + column)], b = from[static_cast<size_t>(row * 5 + column + 1)];
      EXPECT_EQ(std::abs(a / 5 - b / 5) + std::abs(a % 5 - b % 5), 1);
    }
}

TEST(GoSymmetry, RefusesOtherExtents) {
  std::vector<float> nine(9), ten(10);
  EXPECT_THROW(transform_policy(nine, 3, 1, nine), Error);
  EXPECT_THROW(transform_planes(ten, 3, 1, ten), Error);
  EXPECT_THROW(sources(3, 8), Error);
}

}  // namespace
}  // namespace tbd::go
