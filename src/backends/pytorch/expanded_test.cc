// The penalty's second derivative: torch's own, and that of the nodes that stand for the first gradient.
#include <gtest/gtest.h>

#include "backends/pytorch/test_support.h"
#include "graph/expand.h"
#include "models/model.h"
#include "toy_programs.h"

namespace tbd::pytorch {
namespace {

// Gradients, outputs and losses of both phases.
TensorMap results(const Program& program) {
  auto session = ready(with_precision(program, Precision::fp64));
  session->step(at_step(2, 0.0));
  return session->read({"grad/", "output/", "loss"});
}

class TwiceDifferentiated : public testing::TestWithParam<std::string> {
 protected:
  static Program program() {
    return GetParam() == "toy" ? toy_program("penalty") : find_model("wgan_gp").config("tiny").program();
  }
};

TEST_P(TwiceDifferentiated, AsItsExpansionOnce) {
  ASSERT_TRUE(has_input_gradient(program()));
  const TensorMap twice = results(program()), once = results(expanded(program()));
  ASSERT_EQ(twice.size(), once.size());
  EXPECT_TRUE(twice.contains("grad/Discriminator.Output.weight") || twice.contains("grad/Discriminator.output.weight"));
  for (const auto& [name, tensor] : twice) EXPECT_LT(relative_error(once.at(name), tensor), 1e-10) << name;
}
INSTANTIATE_TEST_SUITE_P(Programs, TwiceDifferentiated, testing::Values("toy", "wgan_gp"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tbd::pytorch
