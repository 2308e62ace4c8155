// Every op's gradient against central differences in double, through the session: each operand is a parameter.
#include <set>

#include "backend_suite/support.h"
#include "op_cases.h"

namespace tbd::mlx {
namespace {

std::unique_ptr<Session> with_values(const Program& program, const TensorMap& values) {
  auto session = loaded(program, {.batch = 1});
  TensorMap weights, inputs;
  for (const auto& [name, tensor] : values)
    (name.starts_with("param/") || name.starts_with("buffer/") ? weights : inputs)[name] = tensor;
  session->write(weights);
  session->stage(with_norms(program, inputs, 1));
  return session;
}

const std::set<std::string> kNotDifferentiable = {"stop_gradient", "host_call",      "equals",
                                                  "sinusoid",      "strided_length", "greater"};

class OpOnMlx : public testing::TestWithParam<std::string> {};

TEST_P(OpOnMlx, HasTheGradientOfCentralDifferences) {
  const std::vector<OpCase> cases = op_cases(GetParam());
  const Program program = op_program(cases, Precision::kFp64);
  const TensorMap values = op_values(cases, Precision::kFp64, DType::f64);
  const bool rounds = GetParam() == "cast";  // through fp32
  expect_gradients(*with_values(program, values), program.phases[0], rounds ? 1e-2 : 1e-5, rounds ? 1e-3 : 1e-6);
}

std::vector<std::string> differentiable_kinds() {
  std::vector<std::string> out;
  for (const std::string& kind : all_kinds())
    if (!kNotDifferentiable.contains(kind)) out.push_back(kind);
  return out;
}
INSTANTIATE_TEST_SUITE_P(All, OpOnMlx, testing::ValuesIn(differentiable_kinds()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tbd::mlx
