// The penalty's second derivative, by differentiating twice and by the nodes that stand for the first gradient.
#include "backend_suite/support.h"
#include "graph/expand.h"
#include "models/model.h"
#include "toy_programs.h"

namespace tbd::suite {
namespace {

// Gradients, outputs and losses of both phases.
TensorMap results_of_both(const Program& program) {
  auto session = ready(with_precision(program, Precision::kFp64));
  session->step(at_step(2, 0.0));
  return session->read({"grad/", "output/", "loss"});
}

void expect_expansion(const Program& program, const std::vector<std::string>& trained) {
  ASSERT_TRUE(has_input_gradient(program));
  if (const std::string why = why_not(program); !why.empty()) GTEST_SKIP() << why;
  const TensorMap twice = results_of_both(program), once = results_of_both(expanded(program));
  ASSERT_EQ(twice.size(), once.size());
  for (const std::string& name : trained) EXPECT_TRUE(twice.contains("grad/" + name)) << name;
  for (const auto& [name, tensor] : twice) EXPECT_LT(relative_error(once.at(name), tensor), 1e-10) << name;
}

TEST(TwiceDifferentiated, ToyMatchesItsExpandedProgram) {
  expect_expansion(toy_program("penalty"), {"Discriminator.output.weight"});
}

TEST(TwiceDifferentiated, WganGpMatchesItsExpandedProgram) {
  expect_expansion(find_model("wgan_gp").config("tiny").program(),
                   {"Discriminator.Output.weight", "Discriminator.Res1.Conv1.weight", "Generator.Res1.Conv1.weight"});
}

}  // namespace
}  // namespace tbd::suite
