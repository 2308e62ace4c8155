// Whole toy programs through the session: gradients by central differences, precisions, layouts, threads.
#include <gmock/gmock.h>

#include "backend_suite/support.h"
#include "graph/sequence_programs.h"
#include "toy_programs.h"

namespace tbd::suite {
namespace {

const NamedPrograms& programs() {
  static const NamedPrograms all = with_sequences(toy_programs());
  return all;
}

std::vector<std::string> toys_that_run() {
  std::vector<std::string> out;
  for (const auto& [name, program] : programs())
    if (runs(program)) out.push_back(name);
  return out;
}

class Toy : public testing::TestWithParam<std::string> {
 protected:
  static Program program(Precision precision = Precision::kFp64) {
    const auto found = std::ranges::find(programs(), GetParam(), &NamedPrograms::value_type::first);
    return with_precision(with_dropout(found->second, DropoutMode::kMask), precision);
  }
};
INSTANTIATE_TEST_SUITE_P(All, Toy, testing::ValuesIn(toys_that_run()), [](const auto& info) { return info.param; });

TensorMap after_three_steps(const Program& program, const SessionSetup& setup = {}) {
  auto session = ready(program, setup);
  for (int64_t step = 1; step <= 3; ++step) session->step(at_step(step));
  return session->read({"param/", "buffer/", "state/", "output/", "term/", "loss"});
}

TEST_P(Toy, GradientsAreTheLimitOfCentralDifferences) {
  const Program toy = program();
  for (const Phase& phase : toy.phases) expect_gradients(*ready(toy), phase);
}

void expect_agreement(const TensorMap& actual, const TensorMap& expected, double tolerance, double zero) {
  for (const auto& [name, tensor] : actual) {
    const HostTensor wanted = vanishes(name) ? HostTensor(DType::f64, tensor.shape()) : expected.at(name);
    EXPECT_LT(relative_error(tensor, wanted), vanishes(name) ? zero : tolerance) << name;
  }
}

// Other kernels than in fp64.
TEST_P(Toy, SinglePrecisionAgreesWithDouble) {
  const TensorMap twice = after_three_steps(program()), single = after_three_steps(program(Precision::kFp32));
  ASSERT_EQ(single.size(), twice.size());
  expect_agreement(single, twice, backend_facts().single_precision, 1e-7);
}

TEST_P(Toy, RunsInLowPrecision) {
  for (const Precision& precision : backend_facts().precisions) {
    if (precision == Precision::kFp64 || precision == Precision::kFp32) continue;
    for (const auto& [name, tensor] : after_three_steps(program(precision)))
      for (const double x : as_doubles(tensor)) ASSERT_TRUE(std::isfinite(x)) << name << " in " << precision.text();
  }
}

TEST_P(Toy, LayoutsAgree) {
  const TensorMap expected = after_three_steps(program());
  for (const ImageLayout& layout : backend_facts().layouts)
    expect_agreement(after_three_steps(program(), {.layout = layout}), expected, 1e-8, 1e-14);
}

TEST_P(Toy, CapturingAndThreadsChangeNoWeight) {
  expect_agreement(
      after_three_steps(program(), {.capture = false, .threads = backend_facts().one_thread_count ? 1 : 2}),
      after_three_steps(program()), 1e-9, 1e-14);
}

}  // namespace
}  // namespace tbd::suite
