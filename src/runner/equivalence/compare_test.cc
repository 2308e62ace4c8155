#include "runner/equivalence/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "runner/equivalence/verdict.h"

namespace tbd {
namespace {

HostTensor floats(const Shape& shape, const std::vector<float>& values) {
  return HostTensor(DType::f32, shape, std::span<const float>(values));
}

TEST(Compare, FindsTheElementThatDiffersMost) {
  const HostTensor got = floats({2, 3}, {1, 2, 3, 4, 5, 7}), expected = floats({2, 3}, {1, 2, 3.5, 4, 5, 6});
  const WorstElement worst = worst_element(got, expected);
  EXPECT_THAT(worst.index, testing::ElementsAre(1, 2));
  EXPECT_EQ(worst.got, 7);
  EXPECT_EQ(worst.expected, 6);
  EXPECT_EQ(largest_difference(got, expected), 1);
}

TEST(Compare, NanIsTheLargestDifference) {
  const HostTensor got = floats({2}, {9, NAN}), expected = floats({2}, {0, 0});
  EXPECT_THAT(worst_element(got, expected).index, testing::ElementsAre(1));
  EXPECT_TRUE(std::isinf(largest_difference(got, expected)));
  EXPECT_TRUE(std::isinf(relative_error(got, expected)));
}

TEST(Compare, EqualInfinitiesAreEqual) {
  const HostTensor same = floats({1}, {INFINITY});
  EXPECT_EQ(largest_difference(same, same), 0);
}

TEST(Compare, FactorIsTheProjectionOntoTheExpectedTensor) {
  const HostTensor expected = floats({2}, {3, 4});
  EXPECT_NEAR(factor(floats({2}, {3.15F, 4.2F}), expected), 1.05, 1e-6);
  EXPECT_NEAR(relative_error(floats({2}, {3.15F, 4.2F}), expected), 0.05, 1e-6);
}

TEST(Compare, OtherShapesAreNamed) { EXPECT_THROW(worst_element(floats({2}, {1, 2}), floats({1, 2}, {1, 2})), Error); }

TEST(Verdict, BlamesTheFirstNodeThatFailsInIsolation) {
  FrameworkVerdict verdict{.framework = "pytorch", .version = ""};
  EXPECT_FALSE(verdict.passed());  // nothing was compared
  GateResult nodes{.gate = Gate::node, .worst = {}, .failed = {}},
      whole{.gate = Gate::whole, .worst = {}, .failed = {}};
  nodes.add({.where = "a", .error = 1, .bound = 2});
  nodes.add({.where = "b", .error = 3, .bound = 2});
  nodes.add({.where = "c", .error = 9, .bound = 2});
  whole.add({.where = "grad/a", .error = 9, .bound = 1});
  verdict.gates = {nodes, whole};
  EXPECT_FALSE(verdict.passed());
  ASSERT_NE(verdict.guilty(), nullptr);
  EXPECT_EQ(verdict.guilty()->where, "b");
  EXPECT_EQ(verdict.gates[0].worst->where, "c");
}

TEST(Verdict, MissingValuesAndNanFail) {
  EXPECT_FALSE((Finding{.missing = "none"}).ok());
  EXPECT_FALSE((Finding{.error = NAN, .bound = 1}).ok());
  EXPECT_TRUE(std::isinf((Finding{.error = NAN, .bound = 1}).ratio()));
}

}  // namespace
}  // namespace tbd
