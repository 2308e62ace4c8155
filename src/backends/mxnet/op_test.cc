// Every op in every form: gradients in double against central differences, single precision against double.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend_suite/op_gradients.h"
#include "backends/mxnet/test_support.h"

namespace tbd::mxnet {
namespace {

void check_gradients(const OpCase& c) {
  const Program program = op_program({&c, 1}, Precision::kFp64);
  auto session = session_with(program, op_values({&c, 1}, Precision::kFp64, DType::f64));
  expect_gradients(*session, program, c.name);
}

class OpOnMxnet : public testing::TestWithParam<std::string> {};

TEST_P(OpOnMxnet, HasTheGradientOfCentralDifferences) {
  for (const OpCase& c : cases_that_run(GetParam())) check_gradients(c);
}

TEST_P(OpOnMxnet, AgreesWithItselfInDouble) {
  const std::vector<OpCase> cases = cases_that_run(GetParam());
  if (cases.empty()) GTEST_SKIP() << "no case of it runs";
  const auto run = [&](Precision precision) {
    auto session = session_with(op_program(cases, precision), op_values(cases, precision, DType::f32));
    session->step(at_step(1, 0.0));
    return session->read({"grad/", "output/", "buffer/"});
  };
  const TensorMap single = run(Precision::kFp32), twice = run(Precision::kFp64);
  ASSERT_EQ(single.size(), twice.size());
  for (const auto& [name, tensor] : twice) EXPECT_LT(relative_error(single.at(name), tensor), 1e-5) << name;
}

std::vector<std::string> kinds_that_run() {
  std::vector<std::string> out;
  for (const std::string& kind : all_kinds())
    if (kind != "host_call" && kind != "stop_gradient") out.push_back(kind);
  return out;
}
INSTANTIATE_TEST_SUITE_P(All, OpOnMxnet, testing::ValuesIn(kinds_that_run()),
                         [](const auto& info) { return info.param; });

// One phase over the parameter x whose loss is 4 / N times the sum of `last`.
Program program_on(const Shape& x, const std::vector<Node>& nodes, const std::string& last) {
  Program program = {.model = "op", .config = "one"};
  program.parameters = {{"x", x, DType::f64, {}}};
  Phase phase = {.name = "train", .nodes = nodes};
  phase.nodes.push_back({"loss", Reduce{}, {last}});
  phase.loss = {{"loss", "loss", 4}};
  phase.outputs = {{"y", last}};
  phase.update.groups = {{{"x"}}};
  program.phases = {phase};
  program.step = {{.phase = "train"}};
  return program;
}

TEST(StopGradientOnMxnet, LetsNoGradientThrough) {
  const Program program = program_on(
      {3}, {{"stopped", StopGradient{}, {"x"}}, {"product", Binary{Binary::Function::mul}, {"stopped", "x"}}},
      "product");
  auto session = loaded(program);
  session->stage(with_norms(program, {}));
  session->write({{"param/x", doubles({3}, {1, 2, 3})}});
  EXPECT_DOUBLE_EQ(session->step(at_step(1, 0.0)).loss, 1 + 4 + 9);
  EXPECT_THAT(as_doubles(session->read({"grad/"}).at("grad/x")), testing::ElementsAre(1, 2, 3));
}

TEST(DropoutOnMxnet, DrawsInFrameworkModeAndScalesWhatItKeeps) {
  const Program program = program_on({1000}, {{"y", Dropout{0.25}, {"x"}}}, "y");
  const auto draw = [&](int64_t steps) {
    auto session = loaded(program);
    session->stage(with_norms(program, {}));
    session->write({{"param/x", doubles({1000}, std::vector<double>(1000, 3.0))}});
    for (int64_t step = 1; step <= steps; ++step) session->step(at_step(step, 0.0));
    return as_doubles(session->read({"output/"}).at("output/y"));
  };
  const std::vector<double> y = draw(1);
  const auto kept = std::ranges::count_if(y, [](double x) { return std::abs(x - 4) < 1e-6; });
  EXPECT_EQ(kept + std::ranges::count(y, 0.0), 1000);
  EXPECT_NEAR(static_cast<double>(kept), 750, 5 * std::sqrt(1000 * 0.25 * 0.75));
  EXPECT_EQ(draw(1), y);
  EXPECT_NE(draw(2), y);
}

// A batch_norm whose input and parameters need no gradient still moves its running statistics.
TEST(BatchNormOnMxnet, MovesItsStatisticsWhereNoBackwardPassComes) {
  Program program = {.model = "op", .config = "statistics"};
  program.parameters = {{"x", {4, 2}, DType::f32, {}}, {"w", {4, 2}, DType::f32, {}}};
  program.buffers = {{"mean", {2}, DType::f32, {}}, {"var", {2}, DType::f32, {}}};
  Phase phase = {.name = "train"};
  phase.nodes = {{"y", BatchNorm{.momentum = 0.25, .affine = false}, {"x", "mean", "var"}},
                 {"product", Binary{Binary::Function::mul}, {"y", "w"}},
                 {"loss", Reduce{}, {"product"}}};
  phase.loss = {{"loss", "loss", 1}};
  phase.update.groups = {{{"w"}}};
  program.phases = {phase};
  program.step = {{.phase = "train"}};
  auto session = loaded(program);
  session->write({{"param/x", doubles({4, 2}, {1, 0, 2, 0, 3, 4, 6, 4})}, {"buffer/var", doubles({2}, {1, 1})}});
  session->stage(with_norms(program, {}));
  session->step(at_step(1));
  const TensorMap after = session->read({"buffer/"});
  const double first = 0.75 + 0.25 * 14.0 / 3, second = 0.75 + 0.25 * 16.0 / 3;  // unbiased variances 14/3, 16/3
  EXPECT_LT(relative_error(after.at("buffer/mean"), doubles({2}, {0.75, 0.5})), 1e-6);
  EXPECT_LT(relative_error(after.at("buffer/var"), doubles({2}, {first, second})), 1e-6);
}

}  // namespace
}  // namespace tbd::mxnet
