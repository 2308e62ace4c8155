#include <gtest/gtest.h>

#include "backends/mxnet/session.h"
#include "toy_programs.h"

namespace tbd::mxnet {
namespace {

TEST(OneNode, MultipliesAndDifferentiates) {
  const Symbol x = Symbol::variable("x");
  const Symbol y = Symbol::apply("square", "y", std::vector{x}, {});
  const Array value(DType::f32, {3}), gradient(DType::f32, {3}), head(DType::f32, {3});
  const float x_values[] = {1, 2, 3}, upstream[] = {1, 10, 100};
  value.set(HostTensor(DType::f32, {3}, std::span<const float>(x_values)));
  head.set(HostTensor(DType::f32, {3}, std::span<const float>(upstream)));
  Executor run(y, std::vector<Bound>{{value, gradient, Gradient::write}}, {});
  run.forward();
  run.backward(std::vector{head});
  EXPECT_EQ(as_doubles(run.outputs()[0].host()), (std::vector<double>{1, 4, 9}));
  EXPECT_EQ(as_doubles(gradient.host()), (std::vector<double>{2, 40, 600}));
}

}  // namespace
}  // namespace tbd::mxnet
