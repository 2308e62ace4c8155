#include "backends/mlx/sums.h"

#include <gtest/gtest.h>
#include <mlx/ops.h>

namespace tbd::mlx {
namespace {

// One by one, a million of them are 0.9 % short. A block of 256 rounds by 128 eps at most, 1.5e-5 were all its
// roundings to one side.
TEST(SumsOnMlx, OfManyEqualTermsAreRight) {
  for (const int count : {1, 255, 257, 1'000'003}) {
    array sum = sum_of_all(::mlx::core::full({count}, array(0.001f)));
    EXPECT_NEAR(sum.item<float>() / (0.001 * count), 1, 1e-5) << count;
  }
}

}  // namespace
}  // namespace tbd::mlx
