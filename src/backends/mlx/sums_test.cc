#include "backends/mlx/sums.h"

#include <gtest/gtest.h>
#include <mlx/ops.h>

namespace tbd::mlx {
namespace {

// One by one, the sum stays at 2^24 or loses a share of each term.
TEST(SumsOnMlx, OfManyEqualTermsAreRight) {
  for (const int count : {1, 255, 257, 1'000'003}) {
    array sum = sum_of_all(::mlx::core::full({count}, array(0.001f)));
    EXPECT_NEAR(sum.item<float>() / (0.001 * count), 1, 1e-6) << count;
  }
}

}  // namespace
}  // namespace tbd::mlx
